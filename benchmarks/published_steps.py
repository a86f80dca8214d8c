"""The steps that were published for the office, played again by the published criterion.

    python benchmarks/published_steps.py [--task office-map1-exp1 …] [--learner crm …] [--runs 10] [--horizon 1000]

For each setting and method: the mean number of training steps until a t test over 100 sampled episodes no longer tells
the plan from an optimal one (p > .1, looked at every 1,000 steps), its standard error, and the published figure. A run
is four times as long as that figure, where `praemia experiment office` has one budget for all learners. Takes
about 10 minutes on two idle cores for the five settings of the first building.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from praemia import simulate
from praemia._support.text_tables import plural
from praemia.experiments.jobs import LearnerChoice, TaskText
from praemia.experiments.loading import load_experiment
from praemia.statistics.steps import steps_to_pass

LEARNERS = ("qr-max", "crm", "q-learning")
TASKS = tuple(f"office-map1-exp{exp}" for exp in range(1, 6))
TEST_EVERY = 1_000


def play(task: TaskText, choice: LearnerChoice, num_steps: int, seed: int, horizon: int | None) -> float:
    """Return the steps of one run; infinite where it does not pass."""
    played = task.make() if horizon is None else task.make().with_horizon(horizon)
    run = simulate(played, choice.make(), num_steps=num_steps, seed=(0, seed), test_every=TEST_EVERY)
    return steps_to_pass(run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", nargs="+", default=list(TASKS))
    parser.add_argument("--learner", nargs="+", default=list(LEARNERS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--length", type=float, default=4.0, help="of a run, in published steps")
    parser.add_argument("--horizon", type=int, help="in place of the suite's; 1,000 was published")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    print("| setting | method | steps | standard error | published |")
    print("|---|---|---|---|---|")
    with ProcessPoolExecutor(chosen.jobs) as pool:
        (group, *_) = load_experiment("office").groups
        for (name, title), played in group.cells.items():
            figure = group.tasks[name].published.get(title)
            if name in chosen.task and played.learner.name in chosen.learner and figure is not None:
                jobs = [
                    (played.task, played.learner, int(chosen.length * figure), seed, chosen.horizon)
                    for seed in range(chosen.runs)
                ]
                steps = np.array(list(pool.map(play, *zip(*jobs, strict=True))))
                late = f" ({plural(int(np.isinf(steps).sum()), 'run')} never)" if np.isinf(steps).any() else ""
                passed = steps[np.isfinite(steps)]
                mean, error = passed.mean(), passed.std(ddof=1) / np.sqrt(len(passed))
                print(f"| {name} | {title} | {mean:,.0f}{late} | {error:,.0f} | {figure:,} |", flush=True)


if __name__ == "__main__":
    main()
