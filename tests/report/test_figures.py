"""Figures: the right panels and curves, valid files, the same bytes for the same runs."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from stored_runs import KIND, studies

from praemia.errors import MissingExtraError
from praemia.report.charts import looks, on_log_axes, regret_charts, thinned

pytest.importorskip("matplotlib")

from praemia.report import figures, page, sections

PAPER, SIZE, *_ = studies(KIND)


def test_a_panel_for_each_setting_and_a_curve_for_each_learner() -> None:
    figure = figures.chart_figure(regret_charts(PAPER.settings), "Regret")
    assert [axes.get_title("left").split()[0] for axes in figure.axes] == list(PAPER.settings)
    assert {len(axes.lines) for axes in figure.axes} == {7}
    assert {len(axes.collections) for axes in figure.axes} == {7}  # the bands
    assert figure.get_suptitle() == "Regret"
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == [series.title for series in PAPER.settings["riverswim-5"]]


def test_a_curve_is_the_mean_and_ends_where_the_table_says() -> None:
    figure = figures.chart_figure(regret_charts({"riverswim-5": PAPER.settings["riverswim-5"]}), "")
    first = PAPER.settings["riverswim-5"][0]
    line = next(line for line in figure.axes[0].lines if line.get_label() == first.title)
    assert np.asarray(line.get_ydata())[-1] == pytest.approx(first.final.mean())


def test_log_axes_carry_the_slope_of_the_square_root() -> None:
    axes = figures.chart_figure([on_log_axes(chart) for chart in regret_charts(PAPER.settings)], "Log").axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    x, y = (np.log(np.asarray(data, dtype=float)) for data in axes.lines[-1].get_data())
    assert (y[1] - y[0]) / (x[1] - x[0]) == pytest.approx(0.5)


def test_thinned_curves_are_short_and_reach_both_ends() -> None:
    for episodes in (1, 2, 10, 10_000, 10**7):
        points = thinned(episodes)
        assert len(points) <= 160
        assert (points[0], points[-1]) == (1, episodes)


def test_every_learner_has_its_own_line_style() -> None:
    chosen = looks(["UCBVI-PRM", "UCBVI", "UCRL2-RM-L", "UCRL2-RM-B as published", "UCRL2-RM-B", "mine", "yours"])
    assert len({look.dash for look in chosen.values()}) == len({look.colour for look in chosen.values()}) == 7


def test_many_learners_can_still_be_told_apart() -> None:
    names = ["UCBVI-PRM", "headroom", *(f"learner {number}" for number in range(30))]
    assert len({(look.colour, look.dash) for look in looks(names).values()}) == 32


def test_all_figures_are_written_as_png_and_valid_svg(tmp_path: Path) -> None:
    written = page.write_figures([SIZE], tmp_path / "figures")
    assert sorted(path.name for path in written) == sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert {"machine-size.png", "machine-size.svg"} <= {path.name for path in written}
    for path in written:
        if path.suffix == ".svg":
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
        elif path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")


def test_the_papers_figures_are_named_after_what_they_show() -> None:
    names = [name for name, _ in sections.study_figures(PAPER)]
    assert names == ["regret-riverswim", "regret-warehouse", "log-paper", "per-episode-paper"]


def test_the_same_runs_give_the_same_bytes() -> None:
    charts = regret_charts({"a": PAPER.settings["warehouse-3"]})
    one, other = (figures.render(figures.chart_figure(charts, "A"), "svg") for _ in "ab")
    assert one == other


def test_pyplot_is_not_touched() -> None:
    before = "matplotlib.pyplot" in sys.modules
    figures.render(figures.chart_figure(regret_charts({"a": PAPER.settings["warehouse-3"]}), "A"), "png")
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_without_matplotlib_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'matplotlib>="):
        figures.chart_figure(regret_charts(PAPER.settings), "Regret")
