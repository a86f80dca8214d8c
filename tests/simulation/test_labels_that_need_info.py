"""Labels of a black box that depend on what a step tells: noticed, and dealt with or refused."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest
from places import Places

from praemia import BlackBox, MachineBuilder, learners, occupancy, simulate, solve
from praemia.errors import ModelError


def corridor(late: int = 0) -> Places:
    """Return four places in a row; ``info`` says whether the last one was reached. ``late`` hides it for some steps."""
    steps = count(1)

    def move(place: int, action: int, rng: Any) -> tuple[int, bool, dict[str, Any]]:
        after = min(3, max(0, place + (1 if action else -1)))
        return after, False, {"arrived": next(steps) > late and after == 3}

    return Places(4, move)


MACHINE = MachineBuilder("out").edge("out", "there", "back", reward=1.0).edge("back", "here", "out").build()
HORIZON = 12  # the optimum: there and back, there and back: 3 steps each way, so two arrivals


def labels(o: int, a: int, z: int, info: dict[str, Any]) -> Iterable[str]:
    return {"there"} if info.get("arrived") else {"here"} if z == 0 else set()


@pytest.mark.filterwarnings("ignore:.*was labelled:praemia.errors.PraemiaWarning")
@pytest.mark.parametrize("late", [0, 2000])
def test_headroom_hopes_for_all_that_the_machine_can_do(late: int) -> None:
    """With ``late`` the probe sees nothing: it is noticed during the run."""
    run = simulate(BlackBox(corridor(late), labels, MACHINE, HORIZON), learners.make("headroom"), 600, 0)
    assert run.returns[-100:].mean() == 2.0


@pytest.mark.parametrize("name", ["psrl", "ucrl2-rm-l", "ucrl2-rm-b"])
@pytest.mark.parametrize("late", [0, 2000])
def test_learners_that_ask_about_steps_not_taken_are_refused(name: str, late: int) -> None:
    with pytest.raises(ModelError, match=rf"depends on info.*{name}.*ucbvi-prm"):
        simulate(BlackBox(corridor(late), labels, MACHINE, HORIZON), learners.make(name), 600, 0)


def test_a_label_that_fails_without_info_is_noticed_too() -> None:
    def strict(o: int, a: int, z: int, info: dict[str, Any]) -> Iterable[str]:
        return {"there"} if info["arrived"] else set()

    box = BlackBox(corridor(), strict, MACHINE, HORIZON)
    with pytest.raises(ModelError, match="depends on info"):
        simulate(box, learners.make("psrl"), 20, 0)
    assert simulate(box, learners.make("headroom"), 200, 0).returns[-20:].mean() == 1.0


def test_labels_that_need_no_info_refuse_nobody() -> None:
    ends = {0: {"here"}, 3: {"there"}}
    box = BlackBox(corridor(), lambda o, a, z, info: ends.get(z, set()), MACHINE, HORIZON)
    for name in ("psrl", "ucrl2-rm-b", "headroom"):
        assert simulate(box, learners.make(name), 400, 0).returns[-50:].mean() > 1.5


def test_exact_answers_about_a_black_box_are_refused_with_a_way_out() -> None:
    box = BlackBox(corridor(), labels, MACHINE, HORIZON)
    for ask in (lambda: solve(box), lambda: occupancy(box, [0])):
        with pytest.raises(ModelError, match=r"needs a transition model.*simulate.*plan_from"):
            ask()
