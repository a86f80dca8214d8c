"""Measure how loose certificates are, and what each idea for tightening them gains.

    python benchmarks/certificates.py

The first table has the certificates of ``plan_from`` beside the true loss. The second has the same bounds from other
confidence sets, each with all of ρ and a known first observation, written in plain NumPy over all (o, a, o').
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from machine_family import machine_family
from numpy.typing import NDArray
from scipy.special import betaln, xlogy

from praemia.arithmetic import log_of_subsets
from praemia.envs import make
from praemia.exploration import Dataset, explore, plan_from
from praemia.exploration.confidence import kl_radius
from praemia.kernels.confidence_sets import bernstein_interval, l1_radius
from praemia.machines.labels import Labelling, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.extremes import extremes
from praemia.tasks.task import Task

TASKS = ("warehouse-4", "warehouse-5", "riverswim-10")
BUDGETS = (300, 1_000, 3_000, 10_000)
NUM_MACHINES, RHO = 4, 0.05
Floats = NDArray[np.float64]
LargestMeans = Callable[[Floats], Floats]  # of Y[O·A, O, M], as [O·A, M]


def by_kl(p_hat: Floats, radius: Floats) -> LargestMeans:
    """Maximise over KL balls, by bisection for the dual variable."""
    seen, probs = (p_hat > 0)[:, :, None], p_hat[:, :, None]

    def largest(worth: Floats) -> Floats:
        top = worth.max(axis=1)
        spread = np.maximum(top - np.where(seen, worth, np.inf).min(axis=1), 1e-12)
        low, high = np.full(top.shape, -30.0), np.full(top.shape, 25.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            for step in range(50):
                nu = top + spread * np.exp(0.5 * (low + high) if step < 49 else high)
                away = np.where(seen, nu[:, None] - worth, 1.0)
                log_mean = (probs * np.log(away)).sum(axis=1)
                is_far = log_mean + np.log((probs / away).sum(axis=1)) > radius[:, None]
                low, high = np.where(is_far, 0.5 * (low + high), low), np.where(is_far, high, 0.5 * (low + high))
            found = np.minimum(top, nu - np.exp(log_mean - radius[:, None]))
        return np.where(np.isfinite(radius)[:, None], found, top)

    return largest


def by_intervals(
    lower: Floats, upper: Floats, unseen: Floats | None = None, miss: Floats | None = None
) -> LargestMeans:
    """Fill from the lower ends upward, the best first; successors never seen share ``miss`` at most."""

    def largest(worth: Floats) -> Floats:
        rows, columns = np.arange(len(worth))[:, None], np.arange(worth.shape[2])
        total = (lower[:, :, None] * worth).sum(axis=1)
        left = np.repeat(1.0 - lower.sum(axis=1)[:, None], worth.shape[2], axis=1)
        room = np.full_like(left, np.inf) if miss is None else np.repeat(miss[:, None], worth.shape[2], axis=1)
        for z in np.argsort(-worth, axis=1).transpose(1, 0, 2):
            is_new = np.zeros(z.shape, dtype=bool) if unseen is None else unseen[rows, z]
            added = np.minimum(left, np.minimum((upper - lower)[rows, z], np.where(is_new, room, np.inf)))
            room, left = room - np.where(is_new, added, 0.0), left - added
            total += added * worth[rows, z, columns]
        return total

    return largest


def by_l1(p_hat: Floats, distance: Floats) -> LargestMeans:
    """Move mass from the worst successors to the best one."""

    def largest(worth: Floats) -> Floats:
        top, total = worth.max(axis=1), (p_hat[:, :, None] * worth).sum(axis=1)
        rows, columns = np.arange(len(worth))[:, None], np.arange(worth.shape[2])
        left = np.repeat(distance[:, None], worth.shape[2], axis=1)
        for z in np.argsort(worth, axis=1).transpose(1, 0, 2):
            moved = np.minimum(left, p_hat[rows, z])
            total, left = total + moved * (top - worth[rows, z, columns]), left - moved
        return np.where((distance < 1.0)[:, None], total, top)

    return largest


def beta_ends(counts: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """Return intervals for each p(z) from Ville's inequality, with the Beta(½, ½) mixture of Bernoulli laws."""
    limit = -math.log(level) - betaln(counts + 0.5, n - counts + 0.5) + betaln(0.5, 0.5)
    middle, ends = counts / np.maximum(1.0, n), []
    for end in (0.0, 1.0):
        inside, outside = middle.copy(), np.full_like(middle, end)
        for _ in range(50):
            x = 0.5 * (inside + outside)
            holds = -xlogy(counts, x) - xlogy(n - counts, 1.0 - x) <= limit
            inside, outside = np.where(holds, x, inside), np.where(holds, outside, x)
        ends.append(np.where(n == 0, end, outside))
    return ends[0], ends[1]


def confidence_sets(dataset: Dataset) -> dict[str, LargestMeans]:
    """Return the sets that were tried, each with all of ρ."""
    size, rows = dataset.num_observations, dataset.visits.size + 1
    counts = np.zeros((dataset.visits.size, size))
    counts[dataset.pairs, dataset.successors] = dataset.counts
    n, never = counts.sum(axis=1), dataset.visits.ravel() == 0
    visits, level = np.maximum(1.0, n), RHO / rows
    p_hat, unseen = counts / visits[:, None], counts == 0

    def radius(pairs: NDArray[np.int64], numbers: NDArray[np.int64], level: float) -> Floats:
        return np.where(never, np.inf, kl_radius(pairs, numbers, len(n), size, level) / visits)

    pay_for_all = (math.log(1.0 / level) + (size - 1) * np.log(math.e * (1.0 + n / (size - 1)))) / visits
    distance = np.where(never, 1.0, 0.5 * np.vectorize(l1_radius)(visits, log_of_subsets(size), level))
    bernstein = np.vectorize(bernstein_interval)(p_hat, visits[:, None], level / (2 * size), 1.0)
    ends = [np.where(never[:, None], end, part) for end, part in zip((0.0, 1.0), bernstein, strict=True)]
    half = radius(dataset.pairs, dataset.counts, 0.5 * level)
    mixed = by_intervals(*beta_ends(counts, n[:, None] + 0 * counts, 0.5 * level / size), unseen, -np.expm1(-half))
    ball = by_kl(p_hat, half)
    return {
        "L1 balls": by_l1(p_hat, distance),
        "Bernstein intervals": by_intervals(*ends),
        "Beta-mixture intervals": by_intervals(*beta_ends(counts, n[:, None] + 0 * counts, level / size)),
        "KL balls, all successors": by_kl(p_hat, np.where(never, np.inf, pay_for_all)),
        "KL balls, successors seen": by_kl(p_hat, radius(dataset.pairs, dataset.counts, level)),
        "the last and intervals": lambda worth: np.minimum(mixed(worth), ball(worth)),
    }


def bounds(dataset: Dataset, task: Task, policy: NDArray[np.int64], largest: LargestMeans) -> tuple[float, float]:
    """Return V̄ − V̲^π and D, in plain backward steps; ``policy`` is [H, M, O]."""
    spec, machine = task.spec, task.machine
    numbers, table = spec.every_step.labels[0], spec.every_step.table
    size, num_actions, num_states = task.num_observations, task.num_actions, machine.num_states
    labels, tau = numbers.reshape(-1, size), np.zeros((len(table.has_no_effect), num_states, num_states))
    row = np.repeat(np.arange(len(table.indptr) - 1), np.diff(table.indptr))
    np.add.at(tau, (row // num_states, row % num_states, table.targets), table.probs)
    most, shape = extremes(spec), (size, num_actions, num_states)

    def after(values: Floats, pay: float) -> Floats:
        by_label = np.einsum("lmk,zk->lzm", tau, values) + pay * table.mean_rewards[:, None, :]
        return np.asarray(by_label[labels, np.arange(size)])

    upper, own, loss = (np.zeros((size, num_states)) for _ in range(3))
    for h in range(task.max_steps - 1, -1, -1):
        chosen = policy[h].T[:, None, :].astype(np.int64)
        ups = np.minimum(largest(after(upper, 1.0)).reshape(shape), most[h])
        mine = np.take_along_axis(-largest(-after(own, 1.0)).reshape(shape), chosen, axis=1)
        more = np.take_along_axis(largest(after(loss, 0.0)).reshape(shape), chosen, axis=1)
        own = np.maximum(0.0, mine[:, 0])
        others = ups - own[:, None]
        np.put_along_axis(others, chosen, np.minimum(more, np.take_along_axis(others, chosen, axis=1)), axis=1)
        upper, loss = ups.max(axis=1), np.maximum(0.0, others.max(axis=1))
    return tuple(float(dataset.start_probs @ values[:, table.initial]) for values in (upper - own, loss))  # type: ignore[return-value]


def hidden(dataset: Dataset) -> Dataset:
    """Return the data as a black box would have it: only the labels of transitions that were seen are known."""
    o, a = np.divmod(dataset.pairs, dataset.num_actions)
    numbers, sets = dataset.labelling.of(o, a, dataset.successors)
    seen = zip(numbers.tolist(), o.tolist(), a.tolist(), dataset.successors.tolist(), strict=True)
    rules = tuple(LabelRule(sets[number], *step) for number, *step in seen if sets[number])
    return replace(dataset, labels_known=False, labelling=Labelling(rules))


def print_certificates(name: str) -> None:
    task = make(name)
    machines = list(machine_family(task.machine.propositions, NUM_MACHINES).values())
    print(
        f"\n{name}, mean over {NUM_MACHINES} machines: any machine, fixed machine; both with hidden labels; true loss"
    )
    for episodes in BUDGETS:
        dataset = explore(task, episodes=episodes, method="uncertainty", seed=0)
        plans = [
            [plan_from(data, machine, fixed_in_advance=fixed) for machine in machines]
            for data in (dataset, hidden(dataset))
            for fixed in (False, True)
        ]
        proven = "  ".join(f"{np.mean([plan.certificate.bound for plan in part]):.3f}" for part in plans)
        loss = float(np.mean([plan.gap(task).value for plan in plans[0]]))
        most = float(np.mean([plan.certificate.largest for plan in plans[0]]))
        print(f"{episodes:>7,} episodes  {proven}  {loss:.5f}  of at most {most:.2f}")


def tried(dataset: Dataset, task: Task, machine: RewardMachine) -> dict[str, tuple[float, float]]:
    """Return V̄ − V̲ and D of every set for one machine, cut off at the most that can be lost, and the library's D."""
    plan, fixed = plan_from(dataset, machine), plan_from(dataset, machine, fixed_in_advance=True)
    own, largest = task.with_machine(machine), plan.certificate.largest
    found = {}
    for name, means in confidence_sets(dataset).items():
        apart, together = bounds(dataset, own, plan.policy, means)  # type: ignore[arg-type]
        found[name] = min(largest, apart), min(largest, together)
    found["plan_from"] = math.nan, plan.certificate.bound
    found["plan_from, fixed"] = math.nan, fixed.certificate.bound
    return found


def print_ideas(name: str, episodes: int) -> None:
    task = make(name)
    dataset = explore(task, episodes=episodes, method="uncertainty", seed=0)
    machines = machine_family(task.machine.propositions, NUM_MACHINES).values()
    results = [tried(dataset, task, machine) for machine in machines]
    print(f"\n{name}, {episodes:,} episodes: optimum and plan one after the other (V̄ − V̲), and together (D)")
    for key in results[0]:
        apart, together = np.mean([result[key] for result in results], axis=0)
        print(f"  {key:<28} {apart:.3f}  {together:.3f}")


def main() -> None:
    for name in TASKS:
        print_certificates(name)
    for name in TASKS:
        for episodes in (1_000, 10_000):
            print_ideas(name, episodes)


if __name__ == "__main__":
    main()
