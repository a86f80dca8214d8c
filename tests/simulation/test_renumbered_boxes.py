"""A black box that numbers what it meets begins anew with every run: an older run's policy must not be used then."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable
from typing import Any

import pytest
from line_walks import HORIZON, LAST, Line, arrival

from praemia import BlackBox, Policy, PraemiaError, Run, simulate


def encoded(encode: Callable[[Any], Hashable]) -> BlackBox:
    labels = lambda o, a, z, info: {"last"} if z == LAST else ()  # noqa: E731
    return BlackBox(Line(), labels, arrival(), HORIZON, encode=encode, num_observations=LAST + 1)


def use(run: Run) -> None:
    assert run.final_policy is not None
    Policy(run.learned_policy)


def test_a_policy_is_refused_once_the_observations_have_other_numbers() -> None:
    box = encoded(str)
    first = simulate(box, "headroom", 20)
    use(first)
    second = simulate(box, "headroom", 20, 1)
    use(second)
    for kind in ("final_policy", "learned_policy"):
        with pytest.raises(PraemiaError, match=r"no longer valid.*a BlackBox of its own, or let encode return whole"):
            getattr(first, kind)
    assert first.returns.shape == (20,)
    assert "headroom" in repr(first)


def test_other_boxes_and_whole_numbers_leave_policies_as_they_are() -> None:
    first = simulate(encoded(str), "headroom", 20)
    simulate(encoded(str), "headroom", 20, 1)
    use(first)
    box = encoded(int)
    second = simulate(box, "headroom", 20)
    simulate(box, "headroom", 20, 1)
    use(second)


def test_a_run_in_such_a_box_is_copied_and_saved_like_any_other() -> None:
    run = simulate(encoded(lambda o: (o,)), "headroom", 20)
    use(pickle.loads(pickle.dumps(run)))
    use(Run.from_bytes(run.to_bytes(), "here"))
