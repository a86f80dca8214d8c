"""The two services that learners plan with, against plain NumPy on every pair: tasks of any kind, any coefficients."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from dense_plans import dense_backup, dense_plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learner_oracles import Wanderer
from scipy.stats import chi2
from strategies import full_task, tasks_of_any_width, tasks_with_any_rewards, with_ends

import praemia
from praemia import Experience, Learner, LearnerPlan, plan_with_bonus, simulate
from praemia.errors import ParameterError, PlanError
from praemia.tasks.task import Task

CLOSE = 1e-9
slow_to_draw = settings(max_examples=45, deadline=None, suppress_health_check=list(HealthCheck))


# Learners that use a service and compare


@dataclass
class Choice:
    """What is passed to ``plan_with_bonus``."""

    bonus: Any
    deviation_scale: Any
    growth: float
    cap: Any
    variance_of: str
    machine: Any
    monotone: bool

    @classmethod
    def drawn(cls, experience: Experience, rng: np.random.Generator, *, monotone: bool) -> Choice:
        """Draw coefficients of any shape that broadcasts, +∞ among them, and a machine where it is learned."""
        spec = experience.spec
        full = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)

        def coefficients(infinite: float) -> Any:
            shape = [size if rng.random() < 0.5 else 1 for size in full][rng.integers(4) :]
            return np.where(rng.random(shape) < infinite, np.inf, rng.normal(0.2, 0.3, size=shape))

        machine = drawn_machine(experience, rng)
        caps = ("steps left", "horizon", rng.random(spec.horizon) * spec.horizon)
        return cls(
            bonus=coefficients(0.1),
            deviation_scale=0.0 if rng.random() < 0.3 else coefficients(0.0),
            growth=float(rng.choice([1.0, 1.2])),
            cap=caps[rng.integers(3)],
            variance_of="Y" if machine else str(rng.choice(["Y", "W"])),
            machine=machine,
            monotone=monotone,
        )


def drawn_machine(experience: Experience, rng: np.random.Generator) -> Any:
    """Return probs[L, M, M] and rewards[H, L, M] where the machine is learned, else None."""
    spec = experience.spec
    size = (len(spec.label_sets), spec.num_machine_states)
    if spec.possible is None:
        return None
    return rng.dirichlet(np.ones(size[1]), size=size), rng.random((spec.horizon, *size))


def caps_of(experience: Experience, cap: Any) -> Any:
    """Return the cap of each step."""
    left = experience.spec.value_caps[:-1]
    return {"steps left": left, "horizon": np.full_like(left, left[0])}[cap] if isinstance(cap, str) else cap


class Compared(Learner):
    """Plan with drawn coefficients, and compare each plan with the oracle."""

    sees: str = "observations"  # type: ignore[misc]
    learn_machine: bool = False  # type: ignore[misc]
    seed: int = 0
    monotone: bool = False
    replan: str = "episode"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        drawn = np.random.default_rng((self.seed, experience.episodes_played))
        chosen = Choice.drawn(experience, drawn, monotone=self.monotone)
        before, earlier = (None, np.inf) if previous is None or not self.monotone else (previous, LAST[id(previous)])
        spec, bonus, scale = experience.spec, chosen.bonus, chosen.deviation_scale
        same = {"growth": chosen.growth, "variance_of": chosen.variance_of, "machine": chosen.machine}
        plan = plan_with_bonus(
            experience, bonus, deviation_scale=scale, cap=chosen.cap, monotone_with=before, rng=rng, **same
        )
        caps = caps_of(experience, chosen.cap)
        action_values, values = dense_plan(experience, bonus, scale, caps, previous=earlier, **same)
        np.testing.assert_allclose(plan.values, values, rtol=0, atol=CLOSE)
        taken = np.take_along_axis(action_values, plan.policy[..., None].astype(np.int64), axis=-1)[..., 0]
        met = experience.met
        np.testing.assert_allclose(taken[..., met], action_values.max(-1)[..., met], rtol=0, atol=CLOSE)
        unmet = np.setdiff1d(np.arange(spec.num_observations), met)
        if previous is not None:
            np.testing.assert_array_equal(plan.policy[..., unmet], previous.policy[..., unmet])
        LAST[id(plan)] = np.where(experience.visits > 0, action_values, np.inf)
        PLANS.append(plan)
        return plan


class BackedUp(Learner):
    """Go backwards with ``backup``, and compare each step with the oracle."""

    sees: str = "observations"  # type: ignore[misc]
    learn_machine: bool = False  # type: ignore[misc]
    replan: str = "episode"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        shape = (spec.num_machine_states, spec.num_observations)
        for step in range(spec.horizon):
            values = rng.normal(size=shape)
            given, machine = values.copy(), drawn_machine(experience, rng)
            both = experience.backup(values, step, machine), dense_backup(experience, values, step, machine)
            for found, expected in zip(*both, strict=True):
                np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)
                assert found.shape == (*shape, spec.num_actions)
            np.testing.assert_array_equal(values, given)
        return LearnerPlan(rng.integers(spec.num_actions, size=(spec.horizon, *shape)))


WAYS: list[dict[str, Any]] = [{}, {"sees": "product"}, {"learn_machine": True}]
LAST: dict[int, Any] = {}  # Q of each plan, +∞ where a pair had not been visited
PLANS: list[LearnerPlan] = []  # kept, so that no two have one id


@st.composite
def tasks_of_any_kind(draw: st.DrawFn) -> Task:
    """Draw a task of any width and range of rewards, with ends, a discount, episodes that end with the machine."""
    task = draw(st.one_of(tasks_of_any_width(), tasks_with_any_rewards()))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    ends = rng.random(len(task.mdp.probs)) < draw(st.sampled_from([0.0, 0.3]))
    task = replace(task, mdp=with_ends(task.mdp, ends), discount=draw(st.sampled_from([1.0, 0.9, 0.5])))
    return task.with_until_done(draw(st.booleans()))


@given(tasks_of_any_kind(), st.integers(0, 2**16), st.booleans(), st.sampled_from(WAYS))
@slow_to_draw
def test_a_plan_with_a_bonus_is_that_of_the_formula(task: Task, seed: int, monotone: bool, way: Any) -> None:
    LAST.clear()
    PLANS.clear()
    simulate(task, Compared(seed=seed, monotone=monotone, **way), num_episodes=8, seed=seed)


@given(tasks_of_any_kind(), st.integers(0, 2**16), st.sampled_from(WAYS))
@slow_to_draw
def test_a_step_backwards_is_that_of_the_formula(task: Task, seed: int, way: Any) -> None:
    simulate(task, BackedUp(**way), num_episodes=6, seed=seed)


# Single properties, on one experience


@pytest.fixture
def experience() -> Experience:
    """Experience of a few episodes of a task in which everything matters."""
    simulate(full_task(5), Wanderer(), num_episodes=8, seed=1)
    return Wanderer.shown[0]


def planned(experience: Experience, bonus: Any, seed: int = 0, **more: Any) -> LearnerPlan:
    return plan_with_bonus(experience, bonus, rng=np.random.default_rng(seed), **more)


@pytest.mark.parametrize("axes", list(product([False, True], repeat=4)), ids=str)
@pytest.mark.parametrize("name", ["bonus", "deviation_scale"])
def test_axes_of_length_one_are_the_same_for_all(experience: Experience, name: str, axes: tuple[bool, ...]) -> None:
    spec = experience.spec
    full = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)
    short = np.random.default_rng(0).random([size if is_full else 1 for size, is_full in zip(full, axes, strict=True)])
    given, whole = ({"bonus": 0.1, name: array} for array in (short, np.broadcast_to(short, full)))
    first, second = planned(experience, **given), planned(experience, **whole)
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.policy, second.policy)
    while short.ndim > 0 and short.shape[0] == 1:  # leading axes may be left out
        short = short[0]
        np.testing.assert_array_equal(planned(experience, **{"bonus": 0.1, name: short}).values, second.values)


def test_what_is_passed_is_never_changed(experience: Experience) -> None:
    rng = np.random.default_rng(0)
    spec = experience.spec
    bonus, scale = rng.random(experience.visits.shape), rng.random((spec.num_machine_states, 1, 1))
    caps = rng.random(spec.horizon) * 3
    first = planned(replace(experience, _policy=None), bonus)
    kept = [array.copy() for array in (bonus, scale, caps, first.policy, first.values, first.memory)]
    second = planned(experience, bonus, deviation_scale=scale, cap=caps, monotone_with=first, seed=1)
    for before, after in zip(kept, (bonus, scale, caps, first.policy, first.values, first.memory), strict=True):
        np.testing.assert_array_equal(before, after)
    assert not np.shares_memory(first.memory, second.memory)


def test_equal_best_actions_are_sampled_uniformly(experience: Experience) -> None:
    """All actions have the cap: Pearson's χ² of their numbers, at level 1e-6."""
    spec, met = experience.spec, experience.met
    counts = np.zeros(spec.num_actions)
    for seed in range(200):
        counts += np.bincount(planned(experience, math.inf, seed).policy[..., met].ravel(), minlength=spec.num_actions)
    expected = counts.sum() / spec.num_actions
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, spec.num_actions - 1)


def test_a_plan_that_kept_no_action_values_bounds_nothing(experience: Experience) -> None:
    """The first plan of a run keeps them, and so does each that is bounded by another."""
    first = planned(replace(experience, _policy=None), 0.5)
    second = planned(experience, 0.1, monotone_with=first)
    assert (planned(experience, 0.5, monotone_with=second).values <= second.values).all()
    for without in (planned(experience, 0.1), LearnerPlan(first.policy, first.values)):
        with pytest.raises(PlanError, match="monotone_with is a plan without the action values"):
            planned(experience, 0.5, monotone_with=without)


# What is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"bonus": np.zeros(7)},
            r"bonus of shape \(7,\); expected one that broadcasts to \[H, M, O, A\] = \(3, 5, 4, 3\)",
        ),
        ({"bonus": np.zeros((1, 1, 1, 1, 1))}, r"bonus of shape \(1, 1, 1, 1, 1\)"),
        ({"bonus": np.zeros(0)}, r"bonus of shape \(0,\)"),
        ({"bonus": math.nan}, "bonus has NaN or −∞ in it"),
        ({"bonus": [0.1, -math.inf, 0.1]}, "bonus has NaN or −∞ in it"),
        ({"bonus": 0.0, "deviation_scale": np.zeros((2, 3))}, r"deviation_scale of shape \(2, 3\)"),
        ({"bonus": 0.0, "deviation_scale": math.inf}, "deviation_scale has NaN or ∞ in it; expected finite"),
        ({"bonus": 0.0, "cap": "hoizon"}, "unknown cap 'hoizon'.*did you mean 'horizon'"),
        ({"bonus": 0.0, "cap": [1.0, 2.0]}, r"cap of shape \(2,\); expected a word or finite numbers of shape \(3,\)"),
        ({"bonus": 0.0, "cap": [1.0, math.nan, 2.0]}, "cap of shape .*finite"),
        ({"bonus": 0.0, "variance_of": "Z"}, "unknown variance_of 'Z'"),
        ({"bonus": 0.0, "machine": (np.zeros((1, 5, 5)), np.zeros((3, 1, 5)))}, "machine: the machine is known here"),
    ],
)
def test_wrong_coefficients_are_named(experience: Experience, given: dict[str, Any], message: str) -> None:
    with pytest.raises(praemia.PraemiaError, match=message):
        planned(experience, **given)


@pytest.mark.parametrize(
    ("values", "step", "message"),
    [
        (np.zeros((4, 5)), 0, r"values of shape \(4, 5\); expected finite numbers of shape \[M, O\] = \(5, 4\)"),
        (np.zeros(4), 0, r"values of shape \(4,\)"),
        (np.full((5, 4), math.nan), 0, "expected finite numbers"),
        (np.zeros((5, 4)), 3, "step=3; expected"),
        (np.zeros((5, 4)), -1, "step=-1; expected"),
        (np.zeros((5, 4)), 1.5, r"step=1\.5; expected"),
    ],
)
def test_wrong_values_and_steps_are_named(experience: Experience, values: Any, step: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        experience.backup(values, step)


def test_a_machine_that_is_learned_must_be_given() -> None:
    simulate(full_task(5), Wanderer(learn_machine=True), num_episodes=3, seed=1)
    experience = Wanderer.shown[0]
    for plan in (lambda: planned(experience, 0.0), lambda: experience.backup(np.zeros((5, 4)), 0)):
        with pytest.raises(ParameterError, match=r"the machine is learned here; expected machine=\(probs"):
            plan()
    size = len(experience.spec.label_sets)
    for machine in ((np.zeros((1, 5, 5)), np.zeros((3, size, 5))), (np.zeros((size, 5, 5)), np.zeros((size, 5)))):
        with pytest.raises(ParameterError, match=r"machine: (probs|rewards) of shape .*; expected finite numbers of"):
            planned(experience, 0.0, machine=machine)


@pytest.mark.parametrize("num_states", [1, 3, 5])
def test_the_machine_is_shown_as_arrays_where_it_is_known(num_states: int) -> None:
    simulate(full_task(num_states), Wanderer(), num_episodes=1)
    spec = Wanderer.shown[0].spec
    for (label, m), reward in np.ndenumerate(spec.machine_rewards):
        outcomes, probs = spec.machine.outcomes(spec.machine.states[m], spec.label_sets[label]), np.zeros(num_states)
        for out in outcomes:
            probs[spec.machine.index[out.target]] += out.probability
        np.testing.assert_allclose(spec.machine_probs[label, m], probs, rtol=1e-12)
        assert reward == pytest.approx(sum(out.probability * out.reward.mean for out in outcomes), rel=1e-12)
    for array in (spec.machine_probs, spec.machine_rewards):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    hidden = spec.without_rules(moves_known=True)
    for name in ("machine_probs", "machine_rewards"):
        with pytest.raises(AttributeError, match="the machine is learned here"):
            getattr(hidden, name)


def test_experience_cannot_be_written(experience: Experience) -> None:
    names = ("visits", "ends", "counts", "estimated_probs", "met", "step_visits", "machine_visits", "machine_moves")
    arrays = [*(getattr(experience, name) for name in names), *experience.transitions, experience.machine_reward_sums]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


# What is compiled

NEW_LEARNERS = """
import gc
import numpy as np
import praemia
from numba.core.registry import CPUDispatcher

def num_compiled():
    return sum(len(own.signatures) for own in gc.get_objects() if isinstance(own, CPUDispatcher))

task = praemia.envs.make("warehouse-3")
praemia.simulate(task, praemia.EQO(), num_episodes=5)

class Mine(praemia.Learner):
    replan: str = "episode"

    def plan(self, experience, previous, rng):
        spec, n = experience.spec, np.maximum(1, experience.visits)
        shape = (spec.horizon, spec.num_machine_states, *n.shape)
        plan_with = praemia.plan_with_bonus
        plan = plan_with(experience, np.asfortranarray(1 / n), deviation_scale=1, monotone_with=previous, rng=rng)
        plan_with(experience, 1, growth=2, cap=np.arange(spec.horizon), variance_of="W", rng=rng)
        plan_with(experience, np.ones((2 * spec.num_actions))[::2], rng=rng)
        plan_with(experience, n[:, :1], deviation_scale=np.broadcast_to(0.1, shape), cap="horizon", rng=rng)
        return plan

before = num_compiled()
praemia.simulate(task, Mine(), num_episodes=5)
print(before > 1, num_compiled() - before)
"""


def test_a_new_learner_of_the_linear_form_compiles_nothing() -> None:
    """What is loaded from disk counts too, so that it may lie there."""
    done = subprocess.run([sys.executable, "-c", NEW_LEARNERS], capture_output=True, text=True)
    assert done.stdout == "True 0\n", done.stderr
