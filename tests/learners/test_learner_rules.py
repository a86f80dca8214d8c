"""Every combination of a bonus learner's class variables, on observations and on the product, against plain loops."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import Wanderer, Watched
from strategies import tasks_of_any_width as tasks

from praemia import Experience, LearnerPlan, envs, simulate
from praemia.errors import PraemiaError
from praemia.learners import BonusLearner
from praemia.learners.replanning import ReplanRule
from praemia.learners.rules import LIMITS, VARIANCES
from praemia.tasks.product import product_task
from praemia.tasks.task import Task

CLOSE = 1e-9


def numbers(visits: float, visits_of_state: float, episodes: float, constants: Any) -> tuple[float, ...]:
    return constants[0] / np.sqrt(visits), constants[1] * visits_of_state / (visits * (episodes + 3.0))


def worth(mean: Any, deviation: Any, pair: Any) -> Any:
    first, second = pair.numbers
    bonus = (
        first * deviation
        + second
        + pair.by_step
        + 0.3 * pair.spread * (pair.limit - mean)
        + 0.2 * pair.local_spread * (pair.local_limit - mean)
    )
    return mean + (bonus + 0.2 * pair.gap + 0.01 * pair.limit / pair.visits)


def lower(mean: Any, deviation: Any, pair: Any) -> Any:
    return mean - (pair.numbers[0] * deviation + 0.1 * pair.gap)


def by_rule(sees: str = "observations", later: tuple[float, float] | None = None, **given: Any) -> BonusLearner:
    """Return a learner with class variables as given."""
    own = {key: staticmethod(value) if callable(value) else value for key, value in given.items()}

    @dataclass(frozen=True, kw_only=True)
    class ByRule(BonusLearner):
        name: ClassVar[str] = "by-rule"
        tells_episodes: ClassVar[bool] = True
        pair_numbers = staticmethod(numbers)  # type: ignore[assignment]
        worth = staticmethod(worth)  # type: ignore[assignment]

        def run_constants(self, spec: Any, num_episodes: int) -> tuple[float, ...]:
            return 0.4, 0.2

        def later_visits(self, spec: Any, num_episodes: int) -> tuple[float, float] | None:
            return later

    return type("ByRule", (ByRule,), {"sees": sees, **own})()  # type: ignore[no-any-return]


FIELDS = st.fixed_dictionaries(
    {
        "variance_of": st.sampled_from(VARIANCES),
        "limit": st.sampled_from(LIMITS),
        "monotone": st.booleans(),
        "spread": st.booleans(),
        "lower": st.sampled_from([None, lower]),
        "later": st.sampled_from([None, (2.0, 0.1)]),
    }
).filter(lambda fields: not (fields["spread"] and fields["variance_of"] == "W"))


class Oracle:
    """The recursion of a rule, with dictionaries and loops, from what a learner was shown."""

    def __init__(self, task: Task, shown: Experience, learner: BonusLearner) -> None:
        self.task, self.shown, self.rule = task, shown, learner
        self.later_visits = learner.later_visits(shown.spec, shown.num_episodes)
        self.O, self.A, self.M, self.H = (
            task.num_observations, task.num_actions, task.num_machine_states, int(task.horizon),
        )  # fmt: skip
        o, a, z = (axis.ravel() for axis in np.indices((self.O, self.A, self.O)))
        every, self.sets = task.mdp.labelling.of(o, a, z)
        self.label = every.reshape(self.O, self.A, self.O)
        self.rows: dict[tuple[int, int], dict[int, int]] = {}
        seen = shown.transitions
        for o_, a_, z_, count in zip(seen.observations, seen.actions, seen.successors, seen.counts, strict=True):
            self.rows.setdefault((int(o_), int(a_)), {})[int(z_)] = int(count)

    def outcome(self, values: Any, label: int, m: int, z: int) -> tuple[float, float]:
        """Return φ and W of a label and a next observation."""
        machine = self.task.machine
        outs = machine.outcomes(machine.states[m], self.sets[label])
        paid = sum(out.probability * out.reward.mean for out in outs)
        return paid, sum(out.probability * values[machine.index[out.target], z] for out in outs)

    def limit(self, values: Any, h: int, m: int, o: int, a: int) -> float:
        if self.rule.limit != "labels":
            return float(self.H if self.rule.limit == "horizon" else self.H - h)
        allowed = set(self.label[o, a].tolist())
        return max(
            sum(self.outcome(values, label, m, z))
            for label in allowed
            for z in range(self.O)
            if np.any(self.label[:, :, z] == label)
        )

    def local_limit(self, values: Any, m: int, o: int) -> float:
        """Return the largest Y that was seen to follow an observation."""
        follows = [0.0]
        for a in range(self.A):
            for z in self.rows.get((o, a), {}):
                follows.append(sum(self.outcome(values, self.label[o, a, z], m, z)))
        return max(follows)

    def by_step(self, h: int, row: dict[int, int], cap: float) -> float:
        if self.later_visits is None:
            return 0.0
        cost, factor = self.later_visits
        later = {z: int(self.shown.step_visits[h + 1, z]) for z in row}
        n = sum(row.values())
        total = sum(c / n * (cap**2 if later[z] == 0 else min(cost / later[z], cap**2)) for z, c in row.items())
        return factor * sqrt(total / n)

    def plan(self, policy: Any, before: dict[Any, float]) -> tuple[dict[Any, float], Any]:
        """Return Q and V_0; lower values are those of a policy [H, M, O], ``before`` is Q of the plan before."""
        after, below = np.zeros((self.M, self.O)), np.zeros((self.M, self.O))
        caps = [float(self.H if self.rule.limit == "horizon" else self.H - h) for h in range(self.H)]
        last = float(self.H) if self.rule.limit == "horizon" else 0.0
        weight = 0.2 * (sum(caps) + last)
        differences, room, local_room, qval = 0.1 * weight, weight, weight, {}
        for h in reversed(range(self.H)):
            spread, local_spread = (differences / either if self.rule.spread else 0.0 for either in (room, local_room))
            here, low_here = np.zeros((self.M, self.O)), np.zeros((self.M, self.O))
            for m, o in np.ndindex(self.M, self.O):
                lows, local_limit = [], self.local_limit(after, m, o) if self.rule.spread else 0.0
                for a in range(self.A):
                    limit, row = self.limit(after, h, m, o, a), self.rows.get((o, a), {})
                    n = sum(row.values())
                    qval[h, m, o, a], low = limit, 0.0
                    if n:
                        up, down = (
                            {z: self.outcome(v, self.label[o, a, z], m, z) for z in row} for v in (after, below)
                        )
                        mean, deviation = self.moments(up, row, n)
                        if n > 1:
                            differences += sqrt(n / (n - 1)) * deviation
                            room += limit - mean
                            local_room += local_limit - mean
                        gap = sqrt(sum(row[z] * (up[z][1] - down[z][1]) ** 2 for z in row) / n)
                        told = SimpleNamespace(
                            visits=n, limit=limit, by_step=self.by_step(h, row, caps[h]), spread=spread,
                            local_limit=local_limit, local_spread=local_spread,
                            gap=gap if self.rule.lower else 0.0, numbers=self.numbers(o, n),
                        )  # fmt: skip
                        qval[h, m, o, a] = min(limit, worth(mean, deviation, told))
                        if self.rule.monotone:
                            qval[h, m, o, a] = min(qval[h, m, o, a], before.get((h, m, o, a), np.inf))
                            before[h, m, o, a] = qval[h, m, o, a]
                        low = max(0.0, lower(*self.moments(down, row, n), told))
                    lows.append(low)
                here[m, o] = max(qval[h, m, o, a] for a in range(self.A))
                low_here[m, o] = lows[int(policy[h, m, o])]
            after, below = here, low_here
        return qval, after

    def numbers(self, o: int, n: int) -> tuple[float, ...]:
        return numbers(float(n), float(self.shown.visits[o].sum()), float(self.shown.episodes_played), (0.4, 0.2))

    def moments(self, outcomes: dict[int, tuple[float, float]], row: dict[int, int], n: int) -> tuple[float, float]:
        mean = sum(row[z] * sum(outcomes[z]) for z in row) / n
        varied = {z: sum(outcomes[z]) if self.rule.variance_of == "Y" else outcomes[z][1] for z in row}
        middle = sum(row[z] * varied[z] for z in row) / n
        return mean, sqrt(sum(row[z] * (varied[z] - middle) ** 2 for z in row) / n)


COMBINATIONS = {
    "task": tasks(),
    "seed": st.integers(0, 2**32),
    "given_fields": FIELDS,
    "lengths": st.tuples(st.integers(0, 4), st.integers(5, 9)),
}


@pytest.mark.parametrize("sees", ["observations", "product"])
@settings(max_examples=8)
@given(**COMBINATIONS)
def test_combinations_of_fields_plan_by_their_formulas(sees: str, **drawn: Any) -> None:
    check_combination(sees, **drawn)


@pytest.mark.slow  # every combination is compiled
@pytest.mark.parametrize("sees", ["observations", "product"])
@settings(max_examples=200)
@given(**COMBINATIONS)
def test_every_combination_of_fields_plans_by_its_formula(sees: str, **drawn: Any) -> None:
    check_combination(sees, **drawn)


def check_combination(sees: str, task: Task, seed: int, given_fields: dict[str, Any], lengths: tuple[int, int]) -> None:
    """Compare the plans of a rule with the oracle's, after few and after more episodes."""
    learner = by_rule(sees, **given_fields)
    wanderer = Watched(Wanderer.instead_of(learner))
    simulate(task, wanderer, max(lengths) + 1, seed)
    seen_task = product_task(task.in_unit_range) if sees == "product" else task.in_unit_range
    made: LearnerPlan | None = None
    before: dict[Any, float] = {}
    for length in lengths:
        shown = wanderer.shown[length]
        made = learner.plan(shown, made, np.random.default_rng(0))
        oracle = Oracle(seen_task, shown, learner)
        qval, values = oracle.plan(made.policy, before)
        assert made.values is not None
        met = shown.met if given_fields["limit"] != "labels" else np.arange(seen_task.num_observations)
        np.testing.assert_allclose(made.values[:, met], values[:, met], rtol=0.0, atol=CLOSE)
        for (h, m, o, a), _ in qval.items():
            if a == int(made.policy[h, m, o]) and o in met:
                assert qval[h, m, o, a] >= max(qval[h, m, o, b] for b in range(seen_task.num_actions)) - CLOSE


@pytest.mark.parametrize(
    ("given_fields", "message"),
    [
        ({"limit": "none"}, "limit"),
        ({"variance_of": "V"}, "variance_of"),
        ({"lower": lower, "learn_machine": True}, "lower values and a machine"),
        ({"ordered": True, "variance_of": "W"}, "ordered=True with"),
        ({"spread": True, "variance_of": "W"}, "spread=True with"),
        ({"replan_rule": ReplanRule("repair")}, "repairs=True needs"),
    ],
)
def test_what_could_mean_nothing_cannot_be_played(given_fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        simulate(envs.make("warehouse-3"), by_rule(**given_fields), 10)


def test_a_plan_on_the_product_sees_the_rewards() -> None:
    """With the variance of Y or of W, and with a bonus that is given."""
    task = envs.make("warehouse-3")
    for variance in VARIANCES:
        run = simulate(task, by_rule("product", variance_of=variance), 400, 0)
        assert run.plan_values[-1] > 0.5 * run.optimal_value


def test_there_may_be_any_number_of_constants_and_arguments_with_defaults() -> None:
    def many(visits: float, visits_of_state: float, constants: Any, weight: float = 2.0) -> tuple[float, ...]:
        return weight * constants[79] / visits, 0.0

    learner = by_rule(pair_numbers=many, tells_episodes=False, run_constants=lambda spec, num_episodes: (1.0,) * 80)
    assert learner.rule(envs.make("warehouse-3").spec, 10).by_pair == 2
    assert simulate(envs.make("warehouse-3"), learner, 10).num_episodes == 10
