"""Ctrl-C during a run is raised between two slices of it, once, and never within compiled code."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from hidden_tasks import Still

from praemia import BlackBox, envs, learners, simulate
from praemia.learners.base import Learner
from praemia.machines.builder import MachineBuilder
from praemia.simulation.loop import interrupts_held
from praemia.tasks.task import Task


@pytest.fixture(autouse=True)
def _usual_interrupts() -> Iterator[None]:
    """Handle Ctrl-C as usual, also where the tests run in the background, with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


MACHINE = MachineBuilder("away", ("goal",)).edge("away", "goal", "there", reward=1).build()
BOX = BlackBox(Still(), lambda o, a, z, info: (), MACHINE, 5)
LONG = 1_000_000  # episodes that nobody waits for
WORLDS = [
    pytest.param(envs.make("warehouse-5"), learners.make("headroom", replan="episode"), id="task"),
    pytest.param(envs.make("warehouse-5"), learners.make("crm"), id="task, plans in Python"),
    pytest.param(envs.make("warehouse-5"), learners.make("random"), id="task, one plan"),
    pytest.param(BOX, learners.make("headroom"), id="black box"),
    pytest.param(BOX, learners.make("random"), id="black box, one plan"),
]


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_is_raised_where_it_is_asked_for() -> None:
    with interrupts_held() as raise_interrupt:
        press()
        raised = False
        try:
            raise_interrupt()
        except KeyboardInterrupt:
            raised = True
        raise_interrupt()
    assert raised
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_nobody_asked_for_is_raised_at_the_end() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("world", "learner"), WORLDS)
def test_a_run_is_interrupted_and_the_next_one_is_as_if_nothing_had_been(
    world: Task | BlackBox, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("praemia.simulation.task_world.SLICE_SECONDS", 0.0)  # else a fast machine has few slices
    before = simulate(world, learner, 50, 1)
    told: list[int] = []

    def press_after_a_while(played: int) -> None:
        told.append(played)
        if len(told) == 3:
            press()

    with pytest.raises(KeyboardInterrupt):
        simulate(world, learner, LONG, 1, on_progress=press_after_a_while)
    assert len(told) == 3
    assert told[-1] < LONG
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert simulate(world, learner, 50, 1).returns.tolist() == before.returns.tolist()


@pytest.mark.parametrize(("world", "learner"), WORLDS)
def test_a_run_stops_at_the_end_of_the_slice_in_which_ctrl_c_came(world: Task | BlackBox, learner: Learner) -> None:
    pressed = threading.Event()
    told: list[bool] = []

    def press_meanwhile() -> None:
        press()
        pressed.set()

    def tell(played: int) -> None:
        told.append(pressed.is_set())
        if len(told) == 2:
            threading.Timer(0.05, press_meanwhile).start()

    with pytest.raises(KeyboardInterrupt):
        simulate(world, learner, 20 * LONG, 1, on_progress=tell)
    # Once, if it came after a slice had ended and before that was told.
    assert sum(told) <= 1


def test_a_handler_of_the_users_own_is_left_alone_and_other_threads_run_too() -> None:
    calls: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with interrupts_held() as raise_interrupt:
        press()
        raise_interrupt()
    assert calls == [signal.SIGINT]

    found: list[float] = []
    task, learner = envs.make("riverswim-5"), learners.make("headroom")
    thread = threading.Thread(target=lambda: found.append(simulate(task, learner, 50, 1).regret[-1]))
    thread.start()
    thread.join()
    assert found == [simulate(task, learner, 50, 1).regret[-1]]


def test_where_ctrl_c_is_ignored_a_run_goes_on() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run = simulate(envs.make("riverswim-5"), learners.make("headroom"), 50, 1, on_progress=lambda played: press())
    assert len(run.returns) == 50
