"""All kinds of answers on a small task, to be computed in child processes that believe in another processor.

``python processor_answers.py`` prints them as JSON, ordered by what is promised of them in
docs/concepts/reproducibility.md: the same bits on all x86 processors, or only on one machine. There is also a probe of
what the process computes with: if it differs, so does the arithmetic under the package.

The task has 41 starts, because BLAS kernels agree on short sums. Its probabilities are quotients of integers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hidden_tasks import hide

from praemia import (
    Experience,
    Learner,
    LearnerPlan,
    Run,
    envs,
    evaluate,
    explore,
    learners,
    occupancy,
    plan_from,
    plan_with_bonus,
    simulate,
    solve,
)
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.planning.exact import losses
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

NUM_STARTS, NUM_HUBS, NUM_ACTIONS = 41, 5, 3
EPISODES = 12
# With machine states for several vectors, and with more pairs than an int16 counts; with the horizons.
WIDE_TASKS = (("random-4x2x21-0", 4), ("riverswim-17000", 1))
WIDE_RUNS = "random-16x2x9-1"  # machine states for more than one vector, and PSRL breaks sticks
# What samples gammas, and what takes logarithms while it plans: other processors may decide otherwise.
BY_DRAWING = ("psrl", "opsrl", "told-support")
BY_LOGARITHMS = ("ucrl2-rm-l", "ucrl2-rm-b")
CLOSE = "certificate"

Answers = dict[str, Any]


def many_starts() -> Task:
    """Return a task whose episodes begin anywhere and go on among a few observations, each with a label."""
    rng = np.random.default_rng(7)
    weights = rng.integers(1, 100, size=(NUM_STARTS, NUM_ACTIONS, NUM_HUBS))
    rows = {
        (o, a): {z: int(weights[o, a, z]) / int(weights[o, a].sum()) for z in range(NUM_HUBS)}
        for o, a in np.ndindex(NUM_STARTS, NUM_ACTIONS)
    }
    first = rng.integers(1, 100, size=NUM_STARTS).tolist()
    labels = [LabelRule(frozenset({name}), target=z) for z, name in enumerate("abc")]
    start = {o: weight / sum(first) for o, weight in enumerate(first)}
    builder = MachineBuilder("idle")
    builder.edge("idle", "a", "busy", probability=0.7, reward=0.1).edge("idle", "a", "idle", probability=0.3)
    builder.edge("busy", "b", "done", probability=0.9, reward=0.7).edge("busy", "b", "busy", probability=0.1)
    builder.edge("busy", "c & !b", "idle", reward=0.2).edge("done", "c", "idle", reward=0.3)
    return Task(LabeledMDP.from_rows(NUM_STARTS, NUM_ACTIONS, rows, labels, start), builder.build(), 3, "many-starts")


def digest(*parts: Any) -> str:
    """Return a short name for the bits of numbers and arrays."""
    arrays = (np.ascontiguousarray(part) for part in parts)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def of_run(run: Run) -> str:
    return digest(
        run.returns, run.plan_episodes, run.plan_values, run.optimistic_values, run.regret, run.final_policy
    )  # fmt: skip


def of_planning(task: Task) -> Iterator[tuple[str, str]]:
    """Yield V*, Q* of the first step, and what is computed from policies."""
    plan = solve(task)
    yield "solve", digest(plan.value, plan.values, plan.policy)
    for a in range(task.num_actions):
        policy = plan.policy.copy()
        policy[0] = a
        found = evaluate(task, policy)
        yield f"Q of action {a}", digest(found.value, found.values)
        yield f"losses of action {a}", digest(losses(task, policy, plan))
    weights = np.random.default_rng(1).integers(1, 9, size=(*plan.policy.shape, task.num_actions))
    for name, policy in (("one action", plan.policy), ("drawn actions", weights / weights.sum(axis=-1, keepdims=True))):
        where, found = occupancy(task, policy), evaluate(task, policy)
        yield f"occupancy, {name}", digest(where.states, where.pairs, where.observations)
        yield f"evaluate, {name}", digest(found.value, found.values)


class BackingUp(Learner):
    """Plan with ``experience.backup`` and elementwise NumPy."""

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, visits = experience.spec, experience.visits
        values = np.zeros((spec.num_machine_states, spec.num_observations))
        policy = np.zeros((spec.horizon, *values.shape), dtype=int)
        for step in reversed(range(spec.horizon)):
            mean, deviation = experience.backup(values, step)
            worth = mean + 0.1 * (deviation + 1.0 / np.sqrt(np.maximum(1, visits)))
            worth = np.where(visits > 0, np.minimum(worth, spec.value_caps[step]), spec.value_caps[step])
            values, policy[step] = worth.max(axis=-1), worth.argmax(axis=-1)
        return LearnerPlan(policy, values)


class WithBonus(Learner):
    """Plan with ``plan_with_bonus``, every argument of which matters."""

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, roots = experience.spec, np.sqrt(np.maximum(1, experience.visits))
        by_step = np.arange(1.0, spec.horizon + 1).reshape(-1, 1, 1, 1)
        by_state = np.arange(1.0, spec.num_machine_states + 1).reshape(-1, 1, 1)
        scale, caps = 0.05 * by_state / roots, spec.value_caps[:-1] * 0.9
        bonus, growth = 0.1 * by_step / roots, 1.0 + 1.0 / spec.horizon
        return plan_with_bonus(
            experience, bonus, deviation_scale=scale, growth=growth, cap=caps, monotone_with=previous, rng=rng
        )


def of_learners(task: Task) -> Iterator[tuple[str, str]]:
    """Yield a run of every learner, and of some in other ways."""
    players = {name: learners.make(name) for name in learners.names()}
    players |= {name: learners.make(name, bonus_scale=0.02) for name in BY_LOGARITHMS}  # else all is as good as can be
    for name in ("headroom", "ucbvi-prm", "psrl"):
        players[f"{name} that learns the machine"] = learners.make(name, learn_machine=True)
    players |= {"backing up": BackingUp(), "with a bonus": WithBonus()}
    for name, player in players.items():
        yield name, of_run(simulate(task, player, EPISODES, 2))
    wide = envs.make(WIDE_RUNS, horizon=3)
    for name, player in players.items():
        yield f"{name}, in {WIDE_RUNS}", of_run(simulate(wide, player, 6, 2))
    river = envs.make("riverswim-5", horizon=4)  # every pair is visited soon, so that bonuses matter
    for name in ("headroom", "headroom that learns the machine", "backing up", "with a bonus", *BY_LOGARITHMS):
        yield f"{name}, in a river", of_run(simulate(river, players[name], 20, 2))
    box = simulate(hide(task), players["headroom"], EPISODES, 2)
    yield "headroom, in a black box", digest(box.returns, box.plan_episodes, box.final_policy)


def of_exploring(task: Task) -> tuple[dict[str, str], dict[str, str], list[float]]:
    """Return what is the same on all processors, what only on one machine, and the numbers of certificates."""
    data = explore(task, num_episodes=60, seed=3)
    plan = plan_from(data, task.machine)
    shared = {
        "data": hashlib.sha256(data.to_bytes()).hexdigest()[:16],
        "plan from data": digest(plan.policy, plan.value),
    }
    sure = plan.certificate
    likely = plan.likely(draws=4, level=0.8)
    assert likely is not None
    return shared, {"likely loss": digest(likely.losses, likely.mean)}, [sure.bound, sure.optimistic, sure.pessimistic]


def of_generated_tasks(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        task = envs.make(name)
        yield name, digest(task.mdp.indptr, task.mdp.successors, task.mdp.probs, task.mdp.start_probs, task.horizon)


def probe() -> Answers:
    """Return bits that change with BLAS, with NumPy's dispatch and with the C library's variants."""
    numbers = np.random.default_rng(0).random(20_000) * 9.0
    return {
        "BLAS": digest(*(np.dot(numbers[:size], numbers[-size:]) for size in range(37, 99))),
        "NumPy": digest(np.log(numbers), np.exp(numbers), np.cbrt(numbers)),
        "C library": digest([f(x) for x in numbers.tolist() for f in (math.log, math.exp)]),
    }


def answers() -> Answers:
    """Return all answers: "x86" and "machine" as digests by name, "close" as numbers."""
    task = many_starts()
    everywhere, machine = dict(of_planning(task)), {}
    for name, found in of_learners(task):
        # Random tasks are sampled by gammas too.
        depends = name.split()[0].rstrip(",") in (*BY_DRAWING, *BY_LOGARITHMS) or name.endswith(WIDE_RUNS)
        (machine if depends else everywhere)[name] = found
    for wide, horizon in WIDE_TASKS:
        found = of_planning(envs.make(wide, horizon=horizon))
        machine |= {f"{name}, {wide}": bits for name, bits in found}
    shared, own, close = of_exploring(task)
    everywhere |= shared | dict(of_generated_tasks(("generated-chain-1", "generated-lake-1", "generated-lock-1")))
    machine |= own | dict(of_generated_tasks(("generated-dense-1", "generated-sparse-1", "random-5x2x3-1")))
    machine[CLOSE] = digest(close)
    return {"x86": everywhere, "machine": machine, "close": {CLOSE: close}, "probe": probe()}


if __name__ == "__main__":
    print(json.dumps(answers()))
