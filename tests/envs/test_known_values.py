"""Optimal values known from elsewhere: the paper's settings, published figures, closed forms, and earlier versions."""

from __future__ import annotations

import numpy as np
import pytest

import praemia
from praemia import envs, solve

# Each from an independent computation or from versions whose machines were written edge by edge.
VALUES = {
    "riverswim-5": 0.8394353595,
    "riverswim-10": 0.807798015466801,
    "riverswim-15": 0.8046867637868221,
    "riverswim-prm-5": 0.82910574216,
    "riverswim-prm-10": 0.8084074121098036,
    "warehouse-3": 0.8617755636,
    "warehouse-4": 0.8157763158854398,
    "warehouse-5": 0.7813787577508933,
    "flower-20": 0.6206819594007735,
    "rooms-9": 3.593215328508723,
    "office-jair-t3": 0.0523347633027361,
    "office-map0-exp0": 0.0034358566556302126,
    "office-map2-exp3": 0.0006858501335722494,
    "office-map3-exp5": 9.161306154951155e-09,
    "office-map4-exp6": 0.07013498432520682,
    "office-coffee": 0.8801716407153226,
    "office-mail": 0.6031696297113758,
    "office-coffee-and-mail": 0.6743939574228641,
    "office-patrol": 0.8152838858277347,
    "craft-1-task2": 0.1500946352969992,
    "craft-0-task5": 0.07178979876918531,
    "craft-0-task8": 0.025031555049932444,
    "craft-0-task9": 0.011972515182562033,
    "craft-0-task10": 0.00012900700781701051,
    "random-20x4x5-0": 11.415163004736277,
    "random-5x2x1-3": 7.932998547672971,
}
GENERATED = {  # seeds 0, 1 and 2 of each kind
    "sparse": (1.1824480070843975, 7.87230675836505, 1.3757567197908664),
    "dense": (2.732173841219005, 2.996082044772031, 0.9213429397371207),
    "actions": (21.698028134908554, 25.546557194626892, 6.085426246109858),
    "chain": (1.697345386584074, 0.5060278801358241, 0.6468112689411403),
    "lock": (0.9695867355242576, 0.9999999998751269, 1.0),
    "rooms": (1.4975137180908422, 1.9369358001099568, 0.9997703487626262),
    "traps": (0.670741299041396, 0.8467004031754627, 0.9756355125089736),
    "lake": (0.678088232943505, 3.0809676451205945, 0.9111366329863269),
    "maze": (7 / 3, 1.5, 1.5),
}
SHORTEST = {1: 15, 2: 29, 3: 29, 4: 30}  # steps, as published for the office without chance


@pytest.mark.parametrize(("name", "value"), VALUES.items())
def test_built_in_tasks_have_their_exact_values(name: str, value: float) -> None:
    assert solve(envs.make(name)).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("kind", "values"), GENERATED.items())
def test_a_seed_keeps_its_generated_task(kind: str, values: tuple[float, ...]) -> None:
    found = [solve(envs.generated_task(kind, seed)).value for seed in range(3)]
    assert found == pytest.approx(values, rel=1e-10)  # processors differ in the last bits of some probabilities


@pytest.mark.parametrize(("number", "steps"), SHORTEST.items())
def test_the_shortest_ways_of_the_office_without_chance_are_those_published(number: int, steps: int) -> None:
    task = envs.make(f"office-jair-t{number}").with_discount(1.0)
    assert solve(task.with_horizon(steps)).value == 1.0
    assert solve(task.with_horizon(steps - 1)).value == 0.0


@pytest.mark.parametrize(
    ("name", "length", "success"),
    [("office-map1-exp1", 21.08, 0.6676), ("office-map1-exp5", 77.86, 0.1547), ("office-map2-exp2", 53.10, 0.3792)],
)
def test_discounted_optima_are_those_published(name: str, length: float, success: float) -> None:
    """Published figures are means over sampled episodes: they agree within one percentage point and one step."""
    task = envs.make(name).with_discount(0.9).with_horizon(None)
    played = task.with_horizon(1_000).with_discount(1.0).with_until_done(False)
    plan = solve(task)
    at_once = praemia.evaluate(played.with_horizon(1), plan.policy[None]).values[0]  # the success of each next step
    done = np.cumsum((praemia.occupancy(played, plan).states[:-1] * at_once).sum(axis=(1, 2)))
    assert done[-1] == pytest.approx(success, abs=0.01)
    assert np.arange(1, 1_001) @ np.diff(done, prepend=0.0) / done[-1] == pytest.approx(length, abs=1.0)


def test_short_horizons_have_closed_forms() -> None:
    # O − 1 strokes to the right end, and one more step to leave it; the probabilistic machine notices the arrival.
    assert solve(envs.riverswim(6, horizon=6)).value == pytest.approx(0.6**5, abs=1e-15)
    assert solve(envs.riverswim(6, horizon=5)).value == 0.0
    assert solve(envs.riverswim_prm(6, horizon=5)).value == pytest.approx(0.8 * 0.6**5, abs=1e-15)
    # In the smallest warehouse: right (0.7), item (0.8), down (0.7), delivery (0.9).
    assert solve(envs.warehouse(size=2, horizon=2)).value == pytest.approx(0.7 * 0.8 * 0.7 * 0.9, abs=1e-15)
    # One step to one of four petals, or of five alike, then four visits that count: three times the petal is kept.
    assert solve(envs.flower(loop=20, horizon=5)).value == pytest.approx(4 / 6 * 0.2**3, abs=1e-15)
    assert solve(envs.flower(loop=3, horizon=5)).value == pytest.approx(5 / 6 * 0.2**3, abs=1e-15)
    # In the smallest rooms corner B is 4 moves away; it has its reward when it is left, one step later.
    assert solve(envs.two_rooms(5, horizon=4)).value == 1.0
    assert solve(envs.two_rooms(5, horizon=5)).value > 1.0


def test_a_big_loop_that_does_not_fit_in_an_episode_has_no_value_whatever_its_length() -> None:
    assert solve(envs.flower(loop=30)).value == pytest.approx(solve(envs.flower(loop=90)).value, abs=1e-14)
