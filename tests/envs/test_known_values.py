"""Optimal values known from elsewhere: the reference values of the paper's settings, and closed forms."""

from __future__ import annotations

import pytest

from praemia import envs
from praemia.planning.exact import solve


@pytest.mark.parametrize(
    ("name", "horizon", "value"),
    [
        ("riverswim-5", 10, 0.8394353595),
        ("riverswim-10", 20, 0.807798015466801),
        ("riverswim-15", 30, 0.8046867637868221),
        ("warehouse-3", 9, 0.8617755636),
        ("warehouse-4", 12, 0.8157763158854398),
        ("warehouse-5", 15, 0.7813787577508933),
    ],
)
def test_the_six_settings_of_the_paper_have_their_exact_values(name: str, horizon: int, value: float) -> None:
    task = envs.make(name)
    assert task.horizon == horizon
    assert solve(task).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("size", "horizon", "value"), [(5, 10, 0.82911), (10, 20, 0.80841), (15, 30, 0.80747)])
def test_the_probabilistic_patrol_has_its_values(size: int, horizon: int, value: float) -> None:
    task = envs.riverswim_prm(size)
    assert task.horizon == horizon
    assert solve(task).value == pytest.approx(value, abs=5.01e-6)


def test_the_shortest_swim_needs_every_stroke_to_succeed() -> None:
    # O − 1 strokes to the right end, and one more step to leave it: 0.6^(O−1).
    assert solve(envs.riverswim(6, horizon=6)).value == pytest.approx(0.6**5, abs=1e-15)
    assert solve(envs.riverswim(6, horizon=5)).value == 0.0
    # With the probabilistic machine the arrival itself is noticed, w.p. 0.8.
    assert solve(envs.riverswim_prm(6, horizon=5)).value == pytest.approx(0.8 * 0.6**5, abs=1e-15)


def test_the_shortest_delivery_has_its_closed_form() -> None:
    # In the smallest warehouse: right (0.7), item (0.8), down (0.7), delivery (0.9).
    assert solve(envs.warehouse(size=2, horizon=2)).value == pytest.approx(0.7 * 0.8 * 0.7 * 0.9, abs=1e-15)


def test_the_shortest_small_loop_of_the_flower_has_its_closed_form() -> None:
    # One step to one of four petals, then four visits in a row that count: three times the petal is kept.
    assert solve(envs.flower(loop=20, horizon=5)).value == pytest.approx(4 / 6 * 0.2**3, abs=1e-15)
    # With a big loop as long as a small one all five petals are alike.
    assert solve(envs.flower(loop=3, horizon=5)).value == pytest.approx(5 / 6 * 0.2**3, abs=1e-15)


def test_a_big_loop_that_does_not_fit_in_an_episode_is_worth_nothing_whatever_its_length() -> None:
    # Equal in every operation but the machine's size, so equal to the last bit but for summation order.
    assert solve(envs.flower(loop=30)).value == pytest.approx(solve(envs.flower(loop=90)).value, abs=1e-14)


def test_two_rooms_pay_for_the_corner_they_start_in() -> None:
    assert solve(envs.two_rooms(9, horizon=1)).value == 1.0
    # In the smallest rooms corner B is 4 moves away; it pays when it is left, one step later.
    assert solve(envs.two_rooms(5, horizon=4)).value == 1.0
    assert solve(envs.two_rooms(5, horizon=5)).value > 1.0
