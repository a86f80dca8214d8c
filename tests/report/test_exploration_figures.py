"""Figures of explored data: every place and every machine is there, at the numbers that the data gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from machine_families import machine_family

from praemia import envs
from praemia.exploration import explore
from praemia.exploration.dataset import Dataset
from praemia.exploration.plan_from import MachineReport, machine_reports
from praemia.pictures.scene import Scene, Text
from praemia.report import exploration_page as drawn

TASK = envs.make("warehouse-3")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return explore(TASK, episodes=300, method="uncertainty")


@pytest.fixture(scope="module")
def rows(data: Dataset) -> list[MachineReport]:
    return machine_reports(data, machine_family(["item", "delivery"], most=3), TASK, draws=20)


def test_a_map_says_how_often_each_places_least_tried_action_was_tried(data: Dataset) -> None:
    scene = drawn.coverage_figure(data, TASK)
    assert isinstance(scene, Scene)
    numbers = [item.text for item in scene.items if isinstance(item, Text) and item.text.isdecimal()]
    assert numbers == [str(count) for count in data.visits.min(axis=1)]


def test_without_a_map_there_is_a_bar_for_each_observation(data: Dataset) -> None:
    figure = drawn.coverage_figure(data, None)
    assert not isinstance(figure, Scene)
    axes = figure.axes[0]
    assert [bar.get_height() for bar in axes.patches] == data.visits.min(axis=1).tolist()
    assert [label.get_text() for label in axes.get_xticklabels()] == [data.observation_name(o) for o in range(9)]


def test_a_bar_reaches_from_what_is_certain_to_what_no_policy_exceeds(rows: list[MachineReport]) -> None:
    axes = drawn.certainty_figure(rows).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [row.name for row in rows]
    for row, bar in zip(rows, axes.patches, strict=True):
        sure = row.plan.certificate
        assert bar.get_x() == pytest.approx((sure.pessimistic - row.least) / (sure.optimistic - row.least))
        assert bar.get_x() + bar.get_width() == pytest.approx(1.0)


def test_marks_stand_at_the_losses_as_shares_of_the_most_that_can_be_lost(rows: list[MachineReport]) -> None:
    axes = drawn.losses_figure(rows).axes[0]
    squares = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if line.get_marker() == "s"]
    assert squares == pytest.approx([row.plan.certificate.bound / row.plan.certificate.largest for row in rows])
    assert sum(line.get_marker() == "D" for line in axes.lines) == len(rows)  # the true losses
    untold = [replace(row, optimum=None, true_value=None, likely=None) for row in rows]
    assert {line.get_marker() for line in drawn.losses_figure(untold).axes[0].lines} == {"s", "None"}
