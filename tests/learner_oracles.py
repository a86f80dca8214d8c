"""Slow and plain: what learners compute, written down from the formulas with dictionaries and loops.

A run is replayed one step at a time from the policies that were played and the seed, and counted in dictionaries
(``Diary``). The plans are functions of those counts; they return Q[h, m, o, a] and V[h, m, o], steps from 0, with
V[H, ·, ·] = 0. No kernel of the package is used, and no bonus is simplified.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import accumulate, product
from math import e, log, sqrt
from typing import Any, ClassVar

import numpy as np
from oracles import label_of

from praemia.learners.base import Learner, LearnerPlan
from praemia.learners.experience import Experience
from praemia.tasks.task import Task


def between_episodes(learner: Learner) -> Learner:
    """Return a learner whose plans change only between episodes, so that each is played as it was valued."""
    return replace(learner, replan="growth") if learner.replan == "repair" else learner


Values = dict[tuple[int, ...], float]


class Watched:
    """A learner that keeps what it was shown and what it planned."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.shown: list[Experience] = []
        self.plans: list[LearnerPlan] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    @property
    def policies(self) -> list[Any]:
        return [plan.policy for plan in self.plans]

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        self.shown.append(replace(experience, _counts=deepcopy(experience._counts)))
        self.plans.append(self.learner.plan(experience, previous, rng))
        return self.plans[-1]


class Wanderer(Learner):
    """Play a new random policy in every episode; some pairs are visited often, some never. Keep what is shown."""

    uses_steps: ClassVar[bool] = True
    shown: ClassVar[list[Experience]] = []
    sees: str = "observations"  # type: ignore[misc]
    learn_machine: bool = False  # type: ignore[misc]
    replan: str = "episode"

    @classmethod
    def instead_of(cls, learner: Any) -> Wanderer:
        """Return a wanderer whose episodes are counted as those of a learner would be."""
        return cls(sees=learner.sees)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, self.shown[:] = experience.spec, [experience]
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        few = rng.integers(spec.num_actions, size=spec.num_actions)
        return LearnerPlan(rng.choice(few, size=shape).astype(np.int16))


@dataclass
class Diary:
    """What happened: counts of (o, a, o'), of (h, o), the same on product states (m, o), and of (h, m, o)."""

    transitions: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    steps: Counter[tuple[int, int]] = field(default_factory=Counter)
    product_transitions: Counter[tuple[int, int, int, int, int]] = field(default_factory=Counter)  # m, o, a, m', o'
    product_steps: Counter[tuple[int, int, int]] = field(default_factory=Counter)  # h, m, o
    returns: list[float] = field(default_factory=list)
    plan_episodes: list[int] = field(default_factory=list)

    def times(self, factor: int) -> Diary:
        """Return the counts as if everything had happened so many times."""
        counts = (self.transitions, self.steps, self.product_transitions, self.product_steps)
        return Diary(*(Counter({key: count * factor for key, count in counter.items()}) for counter in counts))


def shown_policy(task: Task, policy: Any) -> Any:
    """Return a plan's policy as [H, M, O, …], also one on the product, whose one row has the states o · M + m."""
    if policy.shape[1] == task.num_machine_states:
        return policy
    shape = (task.horizon, task.num_observations, task.num_machine_states, *policy.shape[3:])
    return policy[:, 0].reshape(shape).swapaxes(1, 2)


def replay(task: Task, policies: Iterable[Any], rule: str, seed: tuple[int, ...], num_episodes: int) -> Diary:
    """Play plans' policies in turn, one uniform number for each choice, and decide when a plan is due.

    For plans on the product, the next observation and machine state are one choice.
    """
    world, _ = np.random.SeedSequence(seed).spawn(2)
    generator = np.random.default_rng(world)
    dense, machine = task.mdp.to_dense().tolist(), task.machine
    upcoming = iter(policies)
    diary = Diary()
    pairs: Counter[Any] = Counter()
    before: Counter[Any] = Counter()
    due = True

    def choose(things: list[tuple[Any, float]]) -> Any:
        things = [(thing, p) for thing, p in things if p > 0.0]
        sums = list(accumulate(p for _, p in things))
        place = bisect_right(sums, generator.random()) if len(things) > 1 else 0
        return things[min(place, len(things) - 1)][0]

    for episode in range(num_episodes):
        if due:
            policy = next(upcoming)
            on_product = policy.shape[2] != task.num_observations
            policy = shown_policy(task, policy)
            before = pairs.copy()
            diary.plan_episodes.append(episode)
        due, paid = rule == "episode", 0.0
        o = choose(list(enumerate(task.mdp.start_probs.tolist())))
        m = machine.states.index(machine.initial)
        for h in range(task.horizon):
            chosen = policy[h, m, o]
            a = int(chosen) if chosen.ndim == 0 else choose(list(enumerate(chosen.tolist())))
            following = {
                z: machine.outcomes(machine.states[m], label_of(task.mdp.labelling.rules, o, a, z))
                for z, p in enumerate(dense[o][a])
                if p > 0.0
            }
            if on_product:
                joint = [((z, out), dense[o][a][z] * out.probability) for z, outs in following.items() for out in outs]
                joint.sort(key=lambda item: (item[0][0], machine.states.index(item[0][1].target)))
                z, outcome = choose(joint)
            else:
                z = choose([(z, dense[o][a][z]) for z in following])
                outcome = choose([(out, out.probability) for out in following[z]])
            law = outcome.reward
            paid += choose(list(zip(law.values, law.probabilities, strict=True)))
            m_next = machine.states.index(outcome.target)
            diary.transitions[o, a, z] += 1
            diary.steps[h, o] += 1
            diary.product_transitions[m, o, a, m_next, z] += 1
            diary.product_steps[h, m, o] += 1
            pair = (m, o, a) if on_product else (o, a)
            pairs[pair] += 1
            if rule == "doubling":
                due |= log(pairs[pair], 2).is_integer()
            elif rule in ("epoch", "growth"):
                due |= pairs[pair] - before[pair] >= max(1, before[pair])
            o, m = z, m_next
        diary.steps[task.horizon, o] += 1
        diary.product_steps[task.horizon, m, o] += 1
        diary.returns.append(paid)
        due |= rule == "growth" and episode + 1 >= 1.05 * diary.plan_episodes[-1] - 1e-9
    return diary


class _Model:
    """Sizes, τ and φ of a task by number."""

    def __init__(self, task: Task) -> None:
        self.O, self.A = task.num_observations, task.num_actions
        self.Q, self.H = task.num_machine_states, task.horizon
        self.task = task
        self.states = list(product(range(self.Q), range(self.O)))
        self.moves = cache(self._moves)

    def _moves(self, m: int, o: int, a: int, z: int) -> list[tuple[int, float, float]]:
        """Return (m', τ, ν̄) for the label of (o, a, z)."""
        machine = self.task.machine
        label = label_of(self.task.mdp.labelling.rules, o, a, z)
        return [
            (machine.states.index(out.target), out.probability, out.reward.mean)
            for out in machine.outcomes(machine.states[m], label)
        ]

    def phi(self, m: int, o: int, a: int, z: int) -> float:
        return sum(tau * nu for _, tau, nu in self.moves(m, o, a, z))

    def w(self, values: Values, h: int, m: int, o: int, a: int, z: int) -> float:
        """Return W_h(m, o, a, z) = Σ_m' τ V_h(m', z)."""
        return sum(tau * values[h, m_next, z] for m_next, tau, _ in self.moves(m, o, a, z))

    def backward(self, action_value: Callable[[Values, int, int, int, int], float]) -> tuple[Values, Values]:
        """Run h from H − 1 to 0 with V_h = max_a Q_h."""
        qval: Values = {}
        values: Values = {(self.H, m, o): 0.0 for m, o in self.states}
        for h in reversed(range(self.H)):
            for m, o in self.states:
                for a in range(self.A):
                    qval[h, m, o, a] = action_value(values, h, m, o, a)
                values[h, m, o] = max(qval[h, m, o, a] for a in range(self.A))
        return qval, values


def _row(transitions: Counter[Any], source: tuple[int, ...]) -> dict[Any, int]:
    """Return what followed a source, and how often."""
    size = len(source)
    return {key[size:]: count for key, count in transitions.items() if key[:size] == source and count > 0}


def _variance(probs: dict[Any, float], values: dict[Any, float]) -> float:
    mean = sum(probs[z] * values[z] for z in probs)
    return sum(probs[z] * (values[z] - mean) ** 2 for z in probs)


def ucbvi(
    task: Task,
    diary: Diary,
    num_episodes: int,
    scale: float,
    rho: float = 0.05,
    previous: Values | None = None,
    *,
    on_product: bool = True,
) -> tuple[Values, Values]:
    """Return Q and V of UCBVI on the cross product, S = Q·O, or of UCBVI-PRM, Algorithms 1 and 2 of the paper."""
    model = _Model(task)
    A, H, size = model.A, model.H, model.O * (model.Q if on_product else 1)
    iota = log((5 if on_product else 6 * model.Q) * size * A * num_episodes * H / rho)

    def action_value(values: Values, h: int, m: int, o: int, a: int) -> float:
        source = (m, o, a) if on_product else (o, a)
        row = _row(diary.product_transitions if on_product else diary.transitions, source)  # (m', o') or (o',)
        n = sum(row.values())
        if n == 0:
            return float(H)
        p_hat = {s: count / n for s, count in row.items()}
        if on_product:
            w = {s: values[h + 1, *s] for s in row}
            paid = {s: next(nu for m_next, _, nu in model.moves(m, o, a, s[1]) if m_next == s[0]) for s in row}
        else:
            w = {s: model.w(values, h + 1, m, o, a, *s) for s in row}
            paid = {s: model.phi(m, o, a, *s) for s in row}
        later = {s: (diary.product_steps if on_product else diary.steps)[h + 1, *s] for s in row}
        terms = {s: min(100**2 * H**3 * size**2 * A * iota**2 / later[s], H**2) if later[s] else H**2 for s in row}
        bonus = sqrt(8 * iota * _variance(p_hat, w) / n)
        bonus += 14 * H * iota / (3 * n)
        bonus += 0.0 if on_product else sqrt(2 * iota / n)
        bonus += sqrt(8 * sum(p_hat[s] * terms[s] for s in row) / n)
        backup = sum(p_hat[s] * (paid[s] + w[s]) for s in row)
        before = previous[h, m, o, a] if previous else float(H)
        return min(before, H, backup + scale * bonus)

    return model.backward(action_value)


ucbvi_prm = partial(ucbvi, on_product=False)


def euler(
    task: Task, diary: Diary, num_episodes: int, scale: float, policy: Any, rho: float = 0.05
) -> tuple[Values, Values]:
    """Return Q̄ and V̄ of EULER; W and φ over the next observation stand for V and r.

    Lower values are those of policy[H, M, O]: of equal best actions each is right, but they differ in lower value.
    """
    model = _Model(task)
    H = model.H
    ell = log(4 * model.Q * model.O * model.A * num_episodes * H / rho)
    J, B_v, B_p = H * ell / 3, sqrt(2 * ell), H * sqrt(2 * ell)
    qval: Values = {}
    upper: Values = {(H, m, o): 0.0 for m, o in model.states}
    lower: Values = dict(upper)
    for h in reversed(range(H)):
        for m, o in model.states:
            low = {}
            for a in range(model.A):
                row = {z: count for (z,), count in _row(diary.transitions, (o, a)).items()}
                n = sum(row.values())
                if n == 0:
                    qval[h, m, o, a], low[a] = float(H - h), 0.0
                    continue
                p_hat = {z: count / n for z, count in row.items()}
                w_up = {z: model.w(upper, h + 1, m, o, a, z) for z in row}
                w_low = {z: model.w(lower, h + 1, m, o, a, z) for z in row}
                y_up = {z: model.phi(m, o, a, z) + w_up[z] for z in row}
                y_low = {z: model.phi(m, o, a, z) + w_low[z] for z in row}
                norm = sqrt(sum(p_hat[z] * (w_up[z] - w_low[z]) ** 2 for z in row))
                common = J / n + (4 * J + B_p) / n + B_v * norm / sqrt(n)
                up = sum(p_hat[z] * y_up[z] for z in row)
                down = sum(p_hat[z] * y_low[z] for z in row)
                qval[h, m, o, a] = min(H - h, up + scale * (sqrt(2 * _variance(p_hat, y_up) * ell / n) + common))
                low[a] = max(0.0, down - scale * (sqrt(2 * _variance(p_hat, y_low) * ell / n) + common))
            upper[h, m, o] = max(qval[h, m, o, a] for a in range(model.A))
            lower[h, m, o] = low[int(policy[h, m, o])]
    return qval, upper


def l1_best(p_hat: list[float], radius: float, worth: list[float]) -> float:
    """Return the largest mean worth in an L1 ball: half the radius to the best, taken from the worst."""
    probs = list(p_hat)
    order = sorted(range(len(worth)), key=lambda z: worth[z])
    probs[order[-1]] = min(1.0, probs[order[-1]] + radius / 2)
    for z in order[:-1]:
        probs[z] = max(0.0, probs[z] - max(0.0, sum(probs) - 1.0))
    return sum(p * x for p, x in zip(probs, worth, strict=True))


def interval_best(lower: list[float], upper: list[float], worth: list[float]) -> float:
    """Return the largest mean worth with every probability in its interval: the best is filled first."""
    probs = list(lower)
    for z in sorted(range(len(worth)), key=lambda z: -worth[z]):
        probs[z] += min(upper[z] - lower[z], max(0.0, 1.0 - sum(probs)))
    return sum(p * x for p, x in zip(probs, worth, strict=True))


def bernstein_ends(p_hat: float, n: int, level: float, scale: float) -> tuple[float, float]:
    """Return the ends of the interval around p̂, found by halving: inside it |x − p̂| ≤ γ(√(2βx(1−x)/n) + β/(3n))."""
    eta = 1.12
    beta = eta * log(log(max(n, e)) * log(eta * max(n, e)) / (level * log(eta) ** 2))

    def inside(x: float) -> bool:
        return abs(x - p_hat) <= scale * (sqrt(2 * beta * x * (1 - x) / n) + beta / (3 * n))

    def end(out: float) -> float:
        if inside(out):
            return out
        near, far = p_hat, out
        for _ in range(200):
            middle = (near + far) / 2
            near, far = (middle, far) if inside(middle) else (near, middle)
        return near

    return end(0.0), end(1.0)


def l1_radius(n: int, num_observations: int, level: float) -> float:
    """Return √(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n); one observation leaves no choice."""
    if num_observations == 1:
        return 0.0
    return sqrt(2 * (1 + 1 / n) * log(sqrt(n + 1) * (2**num_observations - 2) / level) / n)


def ucrl2(
    task: Task, diary: Diary, scale: float, interval: str, rho: float = 0.05, as_published: bool = False
) -> tuple[Values, Values]:
    """Return Q and V of UCRL2-RM with interval "l1" or "bernstein"."""
    model = _Model(task)
    level = rho / (2 * model.O * model.A)

    def action_value(values: Values, h: int, m: int, o: int, a: int) -> float:
        worth = [model.phi(m, o, a, z) + model.w(values, h + 1, m, o, a, z) for z in range(model.O)]
        row = [diary.transitions[o, a, z] for z in range(model.O)]
        n = sum(row)
        if n == 0:
            return max(worth)
        p_hat = [count / n for count in row]
        if interval == "l1":
            return l1_best(p_hat, scale * l1_radius(n, model.O, level), worth)
        ends = [bernstein_ends(p, n, level, scale) for p in p_hat]
        if as_published:
            ends = [(max(0.0, p - low), min(1.0, p + high)) for p, (low, high) in zip(p_hat, ends, strict=True)]
        return interval_best([low for low, _ in ends], [high for _, high in ends], worth)

    return model.backward(action_value)
