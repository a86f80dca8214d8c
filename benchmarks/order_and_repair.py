"""Headroom with order and repair against 0.3.0's, on tasks that nothing was chosen on: regret, tails, paper, Office.

    python benchmarks/order_and_repair.py drawn     # every kind of drawn tasks: regret, and runs that still lose
    python benchmarks/order_and_repair.py tails     # the mean of the worst tenth of 64 runs, by kind
    python benchmarks/order_and_repair.py paper     # the paper's six settings: regret and time
    python benchmarks/order_and_repair.py office    # Office t1 – t4 without chance: steps until .9 for good

0.3.0's headroom is ``headroom_030``. The seeds of the tasks were played once, after order and constants were fixed.
Intervals are 95 %: over tasks within kinds, as in the league, or over runs for tails; "kinds as a sample" also counts
how far kinds differ from each other.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from headroom_030 import Headroom030
from scipy.stats import fisher_exact

from praemia import Run, Task, envs, learners, simulate
from praemia.envs.generated_tasks import KINDS
from praemia.experiments.loading import load_experiment
from praemia.statistics.intervals import ratio_over_groups, ratio_within_groups
from praemia.statistics.measures import did_not_converge
from praemia.text_tables import Table, number

NEW, OLD = learners.make("headroom"), Headroom030()
SEEDS, TAIL_SEEDS = range(540, 564), range(564, 568)
LEAST = 1e-2  # a regret below this counts as this: a ratio of two of them would say nothing
RESAMPLES = 2_000


def runs_of(task: Task, learner: learners.Learner, runs: int, episodes: int, seed: int) -> list[Run]:
    """Play so many runs."""
    return [simulate(task, learner, episodes, (seed, run)) for run in range(runs)]


def regrets(found: list[Run]) -> np.ndarray:
    """Return the final regrets."""
    return np.maximum(LEAST, np.array([run.regret[-1] for run in found]))


def fewer_linear(counts: np.ndarray, runs: int) -> str:
    """Return how many runs of both are linear, and the p-value of "no more than before" being false."""
    new, old = (int(count) for count in counts)
    p_value = fisher_exact(np.array([[new, runs - new], [old, runs - old]]), alternative="greater").pvalue
    return f"linear runs: {new} of {runs}, before {old}; one-sided p that there are more: {p_value:.2f}"


def drawn(runs: int, episodes: int) -> Iterator[str]:
    """Yield the ratio of mean regrets for each kind and over kinds, and the linear runs."""
    logs, linear, played = dict[str, list[float]](), np.zeros(2), 0
    for kind in KINDS:
        print(f"playing {kind}", file=sys.stderr)
        logs[kind] = []
        for seed in SEEDS:
            task = envs.drawn_task(kind, seed)
            new, old = (runs_of(task, learner, runs, episodes, 81) for learner in (NEW, OLD))
            logs[kind].append(float(np.log(regrets(new).mean() / regrets(old).mean())))
            linear += [sum(map(did_not_converge, found)) for found in (new, old)]
            played += runs
    rows = []
    for kind, ratios in logs.items():
        interval = ratio_over_groups([[value] for value in ratios])
        rows.append((kind, number(interval.estimate), f"{number(interval.low)} – {number(interval.high)}"))
    for title, measure in (("all kinds", ratio_within_groups), ("kinds as a sample", ratio_over_groups)):
        overall = measure(list(logs.values()))
        rows.append((title, number(overall.estimate), f"{number(overall.low)} – {number(overall.high)}"))
    yield f"{len(SEEDS)} tasks of each kind, {runs} runs of {episodes:,} episodes: regret ÷ 0.3.0's"
    yield str(Table(("kind", "ratio", "95 %"), rows))
    yield fewer_linear(linear, played)


def worst_tenth(values: np.ndarray) -> np.ndarray:
    """Return the mean of the worst tenth along the last axis."""
    return np.sort(values, axis=-1)[..., -max(1, values.shape[-1] // 10) :].mean(axis=-1)


def tails(runs: int, episodes: int) -> Iterator[str]:
    """Yield the ratio of the means of the worst tenth for each kind, with bootstrap intervals over runs."""
    rng, rows, linear = np.random.default_rng(0), [], np.zeros(2)
    for kind in KINDS:
        print(f"playing {kind}", file=sys.stderr)
        logs, estimates = np.zeros(RESAMPLES), []
        for seed in TAIL_SEEDS:
            found = [runs_of(envs.drawn_task(kind, seed), learner, runs, episodes, 83) for learner in (NEW, OLD)]
            linear += [sum(map(did_not_converge, own)) for own in found]
            new, old = map(regrets, found)
            estimates.append(np.log(worst_tenth(new) / worst_tenth(old)))
            again = [worst_tenth(own[rng.integers(runs, size=(RESAMPLES, runs))]) for own in (new, old)]
            logs += np.log(again[0] / again[1]) / len(TAIL_SEEDS)
        low, high = np.exp(np.quantile(logs, (0.025, 0.975)))
        rows.append((kind, number(float(np.exp(np.mean(estimates)))), f"{number(low)} – {number(high)}"))
    yield f"{len(TAIL_SEEDS)} tasks of each kind, {runs} runs of {episodes:,} episodes: worst tenth ÷ 0.3.0's"
    yield str(Table(("kind", "ratio", "95 %"), rows))
    yield fewer_linear(linear, runs * len(TAIL_SEEDS) * len(KINDS))


def paper(runs: int, episodes: int) -> Iterator[str]:
    """Yield regrets and times in the paper's six settings."""
    rows, logs = [], []
    for name in (setting.task.name for setting in load_experiment("paper").groups[0].settings):
        task, cells = envs.make(name), []
        for learner in (NEW, OLD):
            simulate(task, learner, 20)
            began = time.process_time()
            found = regrets(runs_of(task, learner, runs, episodes, 87))
            cells.append((found.mean(), found.std(ddof=1) / runs**0.5, (time.process_time() - began) / runs))
        (new, new_error, new_time), (old, old_error, old_time) = cells
        logs.append(float(np.log(new / old)))
        means = (f"{number(new)} ± {number(new_error)}", f"{number(old)} ± {number(old_error)}")
        rows.append((name, *means, number(new / old), f"{1000 * new_time:.1f}", number(new_time / old_time)))
    yield f"{runs} runs of {episodes:,} episodes"
    yield str(Table(("task", "regret", "0.3.0's", "ratio", "ms", "time ratio"), rows))
    overall = ratio_over_groups([[value] for value in logs])
    yield f"regret ÷ 0.3.0's: {number(overall.estimate)} ({number(overall.low)} – {number(overall.high)})"


def office(runs: int, episodes: int) -> Iterator[str]:
    """Yield the steps until .9 of the optimum for good, in Office without chance, horizon 60."""
    rows = []
    for errand in range(1, 5):
        known = envs.make(f"office-jair-t{errand}")
        task, steps = Task(known.mdp, known.machine, 60, known.name), []
        for run in runs_of(task, NEW, runs, episodes, 89):
            assert run.path_losses is not None
            late = np.flatnonzero(run.path_losses > 0.1)
            steps.append(60 * (int(late[-1]) + 1) if len(late) else 0)
        rows.append((f"t{errand}", number(float(np.mean(steps))), f"{min(steps):,}", f"{max(steps):,}"))
    yield f"steps until .9 of the optimum for good, {runs} runs of {episodes:,} episodes"
    yield str(Table(("errand", "mean", "least", "most"), rows))


STUDIES = {"drawn": (drawn, 4, 3_000), "tails": (tails, 64, 3_000), "paper": (paper, 32, 10_000)}
STUDIES["office"] = (office, 16, 3_000)


def main() -> None:
    """Run the studies asked for and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", choices=STUDIES)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--episodes", type=int)
    asked = parser.parse_args()
    for name in asked.studies:
        study, runs, episodes = STUDIES[name]
        print("\n\n".join(study(asked.runs or runs, asked.episodes or episodes)), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
