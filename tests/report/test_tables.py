"""Tables of runs: who is in bold, what a few runs show, and what a table explains."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stored_runs import KIND, PRM, PRODUCT, studies, with_finals

from praemia.report.tables import (
    clearly_lowest,
    pairs_table,
    ratios_to_reference,
    standings_table,
    summary_table,
)

OURS, THEIRS = ("riverswim-5", PRM), ("riverswim-5", PRODUCT)


def test_the_lowest_is_in_bold_only_where_its_interval_says_so() -> None:
    study = studies({})[0]
    clear = with_finals(study, {OURS: [1.0, 1.1] * 4, THEIRS: [3.0, 3.3] * 4})
    close = with_finals(study, {OURS: [1.0, 3.0] * 4, THEIRS: [3.0, 1.5] * 4})
    few = with_finals(study, {OURS: [1.0] * 3, THEIRS: [3.0] * 3})
    assert [clearly_lowest(own.rows["riverswim-5"]) for own in (clear, close, few)] == [0, None, None]
    assert [list(summary_table(own.rows).strong) for own in (clear, close, few)] == [[0], [], []]


def test_pairs_say_who_is_lower_and_what_too_few_runs_are() -> None:
    rows = studies({("riverswim-5", PRM): 10.0, ("riverswim-5", PRODUCT): 20.0})[0].rows
    ((task, first, second, runs, difference, ratio, *_, lower),) = pairs_table(rows).rows
    assert (task, first, second, runs, lower) == ("riverswim-5", PRM, PRODUCT, "8", PRM)
    assert (float(ratio), float(difference.replace("−", "-"))) == (0.5, pytest.approx(-10.0, rel=0.01))
    few = studies({("riverswim-5", PRM): 10.0, ("riverswim-5", PRODUCT): 20.0}, num_runs=2)[0].rows
    (row,) = pairs_table(few).rows
    assert row[5:] == ("0.500", "–", "–", "too few runs (at least 8 are needed)")


def test_standings_are_by_kind_and_the_first_is_bold_only_if_it_is_clear() -> None:
    study = studies(KIND)[0]
    tasks = [own.model_copy(update={"kind": name.split("-")[0]}) for name, own in study.group.tasks.items()]
    part = study.group.part.model_copy(update={"tasks": tasks, "yardsticks": study.group.part.learners[-1:]})
    league = replace(study, group=replace(study.group, part=part))
    ratios = ratios_to_reference(league)
    assert list(ratios)[-1] == "headroom"  # the yardstick, though its regret is the lowest
    assert ratios[PRM].estimate == 1.0
    table = standings_table(league)
    assert table.rows[0][0] == "UCRL2-RM-B 0.03"
    assert table.rows[-1][0] == "headroom (knows part of p)"
