"""Tables of runs: a row per learner with its numbers, and one per pair that says whose regret is lower."""

from __future__ import annotations

import numpy as np
from stored_runs import CORRECT, KIND, PRM, studies

from praemia.report.run_tables import PAIRS_HEADER, SUMMARY_HEADER, pairs_table, summary_table
from praemia.text_tables import number

SETTING = "riverswim-5"


def test_a_row_says_mean_spread_interval_and_worst_run_and_the_lowest_is_bold() -> None:
    members = studies()[0].settings[SETTING]
    table = summary_table({SETTING: members})
    assert [row[1] for row in table.rows] == [series.title for series in members]
    assert list(table.strong) == [int(np.argmin([series.final.mean() for series in members]))]
    for row, series in zip(table.rows, members, strict=True):
        cells = dict(zip(SUMMARY_HEADER, row, strict=True))
        assert cells["regret"] == number(series.final.mean())
        assert cells["std"] == number(series.final.std(ddof=1))
        assert cells["worst run"] == number(series.final.max())
        assert (cells["runs"], cells["plans"]) == (str(series.num_runs), str(series.first.num_plans))
        assert float(cells["95% low"]) <= float(cells["regret"]) <= float(cells["95% high"])


def test_pairs_name_the_lower_or_neither() -> None:
    members = studies()[0].settings[SETTING]
    pairs = {
        (row[1], row[2]): dict(zip(PAIRS_HEADER, row, strict=True)) for row in pairs_table({SETTING: members}).rows
    }
    assert len(pairs) == 7 * 6 / 2
    assert pairs[PRM, CORRECT]["who is lower"] == PRM
    assert pairs[PRM, CORRECT]["difference"] == number(-5.0 / 10.0 * members[0].final.mean())
    assert pairs[PRM, "UCRL2-RM-L"]["who is lower"] == "level"
    few = pairs_table({SETTING: studies(KIND, num_runs=7)[0].settings[SETTING]})
    assert {row[-1] for row in few.rows} == {"too few runs"}
