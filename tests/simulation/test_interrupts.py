"""Ctrl-C during a run is raised between two plans, once, and never within compiled code."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from praemia import envs, learners, simulate
from praemia.simulation.interrupts import interrupts_held


def test_an_interrupt_is_raised_where_it_is_asked_for() -> None:
    with interrupts_held() as raise_interrupt:
        os.kill(os.getpid(), signal.SIGINT)
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
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_is_interrupted_and_the_next_one_is_as_if_nothing_had_been() -> None:
    task, learner = envs.make("riverswim-5"), learners.make("headroom")

    def press(played: int) -> None:
        if played > 20:
            os.kill(os.getpid(), signal.SIGINT)

    before = simulate(task, learner, 200, 1)
    with pytest.raises(KeyboardInterrupt):
        simulate(task, learner, 10_000, 1, on_progress=press)
    assert simulate(task, learner, 200, 1).returns.tolist() == before.returns.tolist()


def test_a_handler_of_the_users_own_is_left_alone_and_other_threads_run_too() -> None:
    calls: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    try:
        with interrupts_held() as raise_interrupt:
            os.kill(os.getpid(), signal.SIGINT)
            raise_interrupt()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert calls == [signal.SIGINT]

    found: list[float] = []
    task, learner = envs.make("riverswim-5"), learners.make("headroom")
    thread = threading.Thread(target=lambda: found.append(simulate(task, learner, 50, 1).regret[-1]))
    thread.start()
    thread.join()
    assert found == [simulate(task, learner, 50, 1).regret[-1]]
