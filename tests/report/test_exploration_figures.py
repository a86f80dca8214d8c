"""Figures of explored data: every place and every machine is there, at the numbers that the data gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from machine_families import machine_family

from praemia import envs
from praemia.exploration import explore
from praemia.exploration.dataset import Dataset
from praemia.exploration.plan_from import MachineReport, machine_reports
from praemia.pictures.scene import Area, Text
from praemia.report.exploration_page import LEAST_SHARE, certainty_forest, coverage_scene, losses_forest

TASK = envs.make("warehouse-3")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return explore(TASK, episodes=300, method="uncertainty")


@pytest.fixture(scope="module")
def rows(data: Dataset) -> list[MachineReport]:
    return machine_reports(data, machine_family(["item", "delivery"], most=3), TASK, draws=20)


def test_a_map_says_how_often_each_places_least_tried_action_was_tried(data: Dataset) -> None:
    scene = coverage_scene(data, TASK)
    numbers = [item.text for item in scene.items if isinstance(item, Text) and item.text.isdecimal()]
    assert numbers == [str(count) for count in data.visits.min(axis=1)]


def test_without_a_map_there_is_a_bar_for_each_observation(data: Dataset) -> None:
    scene = coverage_scene(data, None)
    names, numbers = (
        [item.text for item in scene.items[1:] if isinstance(item, Text) and item.anchor == anchor]
        for anchor in ("end", "start")
    )
    fewest = data.visits.min(axis=1).tolist()
    assert names == [data.observation_name(o) for o in range(9)]
    assert numbers == [str(count) for count in fewest]
    widths = [item.width for item in scene.items if isinstance(item, Area)]
    assert sorted(range(9), key=lambda o: widths[o]) == sorted(range(9), key=lambda o: fewest[o])


def test_an_interval_reaches_from_what_is_certain_to_what_no_policy_exceeds(rows: list[MachineReport]) -> None:
    forest = certainty_forest(rows)
    assert [label for label, _ in forest.rows] == [row.name for row in rows]
    for row, (_, marks) in zip(rows, forest.rows, strict=True):
        sure, interval = row.plan.certificate, marks[0].interval
        assert interval.low == pytest.approx((sure.pessimistic - row.least) / (sure.optimistic - row.least))
        assert interval.high == pytest.approx(1.0)
        assert [mark.title for mark in marks[1:]] == ["true value", "true optimum"]


def test_marks_stand_at_the_losses_as_shares_of_the_most_that_can_be_lost(rows: list[MachineReport]) -> None:
    for row, (_, marks) in zip(rows, losses_forest(rows).rows, strict=True):
        at = {mark.title: mark.interval.estimate for mark in marks}
        assert at["proven loss"] == pytest.approx(row.plan.certificate.bound / row.plan.certificate.largest)
        assert row.optimum is not None
        assert row.true_value is not None
        lost = (row.optimum - row.true_value) / row.plan.certificate.largest
        assert at["true loss"] == pytest.approx(max(LEAST_SHARE, lost))
    untold = [replace(row, optimum=None, true_value=None, likely=None) for row in rows]
    titles = {mark.title for _, marks in losses_forest(untold).rows for mark in marks}
    assert titles == {"proven loss", "the plan's own value"}
