"""Charts and figures: what is plotted, and one style per learner, everywhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from stored_runs import KIND, PRM, PRODUCT, studies

import praemia
from praemia.pictures.colours import OKABE_ITO
from praemia.pictures.renderers import render_image
from praemia.pictures.scene import Line
from praemia.report.chart_svg import Ruler, chart_axes, chart_svg
from praemia.report.charts import Chart, on_log_axes, regret_charts, scaling_chart, thinned, value_charts
from praemia.report.figures import chart_figure
from praemia.report.styles import STYLES, style_sheet, styles


def test_a_chart_has_a_curve_for_each_learner_that_ends_at_its_mean_regret() -> None:
    rows = studies()[0].rows
    for (task, members), chart in zip(rows.items(), regret_charts(rows), strict=True):
        assert chart.title == task
        assert {curve.title: curve.y[-1] for curve in chart.curves} == {
            series.title: pytest.approx(series.final.mean()) for series in members
        }


def test_every_learner_has_one_style_whoever_else_is_there() -> None:
    names = praemia.learners.names()
    assert len({STYLES[name] for name in names}) == len(names)
    assert styles((name.upper(), name) for name in names) == {name.upper(): STYLES[name] for name in names}
    assert styles([("mine", "mine"), ("UCBVI-PRM", "ucbvi-prm")])["UCBVI-PRM"] == STYLES["ucbvi-prm"]
    crowd = styles((f"title {i}", name) for i, name in enumerate([*names] * 2))
    assert len(set(crowd.values())) == len(crowd)


def plotted(chart: Chart) -> str:
    return chart_svg(chart, styles((curve.title, curve.learner) for curve in chart.curves))


def test_figures_and_pages_have_the_same_colours_and_a_line_that_stands_alone_is_solid() -> None:
    run = praemia.simulate(praemia.envs.riverswim(3), praemia.Headroom(), 20)
    own = STYLES["headroom"].on_light
    lines = [item for item in run.plot().scene.items if isinstance(item, Line) and item.colour == own]
    assert len(lines) == 2  # one in the legend
    assert not any(line.dash for line in lines)
    (chart, *_) = regret_charts(studies()[0].rows)
    style_of = styles((curve.title, curve.learner) for curve in chart.curves)
    figure = chart_figure(chart, "Regret")
    drawn = [(line.colour, line.dash) for line in figure.scene.items if isinstance(line, Line) and line.thickness > 1.0]
    assert sorted(drawn) == sorted(2 * [(style.on_light, style.dash) for style in style_of.values()])
    for title, style in style_of.items():
        (group,) = re.findall(f'<g data-learner="{re.escape(title)}">.*?</g>', plotted(chart))
        assert f'stroke="{style.on_light}"' in group
    assert figure.svg == chart_figure(chart, "Regret").svg
    colours = {colour for _, colour in render_image(figure.scene).getcolors(10**6)}
    assert {tuple(bytes.fromhex(style.on_light[1:])) for style in style_of.values()} <= colours


def test_colours_are_there_for_light_and_for_dark_pages() -> None:
    light, _, dark = str(style_sheet()).partition("@media")
    for name, (on_light, on_dark) in OKABE_ITO.items():
        assert f".{name} {{ --own: {on_light}; }}" in light
        assert f".{name} {{ --own: {on_dark}; }}" in dark


@pytest.mark.parametrize("num_episodes", [1, 2, 7, 1000, 10**6])
def test_thinned_episodes_go_from_the_first_to_the_last(num_episodes: int) -> None:
    episodes = thinned(num_episodes)
    assert (episodes[0], episodes[-1]) == (1, num_episodes)
    assert len(episodes) <= 160
    assert np.all(np.diff(episodes) > 0)


def test_sizes_are_those_of_the_tasks() -> None:
    chart = scaling_chart(studies(KIND)[1].rows, "machine states")
    assert chart.curves[0].x.tolist() == [18, 33, 93]
    assert chart.curves[0].y == pytest.approx([10.0] * 3, rel=0.01)
    assert "<ellipse" in plotted(chart)


def test_published_figures_are_marked_above_the_curves() -> None:
    rows = studies({("riverswim-5", PRM): 10.0, ("riverswim-5", PRODUCT): 20.0})[0].rows
    (chart,) = value_charts(rows, {"riverswim-5": {PRM: 700}})
    assert re.search('<g><title>UCBVI-PRM: 700</title><polygon [^>]*fill="#0072b2"', plotted(chart))


@pytest.mark.parametrize(("first", "last", "is_log"), [(0.0, 97.0, False), (0.8, 1.25, True), (0.03, 4e6, True)])
def test_ticks_are_few_round_and_inside(first: float, last: float, is_log: bool) -> None:
    ticks = Ruler(first, last, 100, is_log).ticks()
    assert 2 <= len(ticks) <= 6
    assert all(first * 0.99 <= tick <= last * 1.01 for tick in ticks)


def test_a_curve_of_zeros_has_axes_and_no_log_points() -> None:
    (chart, *_) = regret_charts(studies({("riverswim-5", PRM): 0.0})[0].rows)
    for own in (chart, on_log_axes(chart)):
        across, up = chart_axes(own)
        assert across.last > across.first
        assert up.last > up.first
        assert "nan" not in plotted(own)
