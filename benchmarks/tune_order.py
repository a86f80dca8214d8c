"""Choose what headroom does among equals, on tuning tasks alone: what was tried, and what each order does.

Every line is one setting for all tasks, against 0.3.0's headroom, which draws among equals and plans between episodes.
Ratios are geometric means over tasks: of the mean regret, and of the mean of the worst eighth of the runs. *seas* and
*mazes* are the drawn kinds of these names, *others* the eleven other kinds. *Office* is the mean number of steps until
.9 of the optimum for good, over the errands t1 to t4 without chance, horizon 60.

    python benchmarks/tune_order.py                # both modes: about ten minutes of one core
    python benchmarks/tune_order.py --until-done   # episodes end with the task: there is no free time to explore in
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from headroom_030 import Headroom030
from tune_headroom import TUNING_SEEDS

from praemia import Run, Task, envs, learners, simulate
from praemia.envs.generated_tasks import KINDS
from praemia.learners import Headroom
from praemia.statistics.measures import did_not_converge
from praemia.text_tables import Table

TRIALS: dict[str, dict[str, Any]] = {
    "0.3.0": {},
    "drawn": {"order": "drawn"},
    "certain, no repair": {"order": "certain", "replan": "growth"},
    "certain, at once": {"order": "certain", "replan": "growth-at-once"},
    "certain": {"order": "certain"},
}
SEEDS = {"sea": TUNING_SEEDS[10:16], "maze": TUNING_SEEDS[10:14]}
GROUPS = ("others", "seas", "mazes")
ERRANDS, HORIZON = range(1, 5), 60


def tasks(until_done: bool) -> dict[str, list[Task]]:
    """Return the tuning tasks by group."""
    found: dict[str, list[Task]] = {group: [] for group in GROUPS}
    for kind in KINDS:
        group = f"{kind}s" if f"{kind}s" in GROUPS else "others"
        for seed in SEEDS.get(kind, TUNING_SEEDS[10:12]):
            task = envs.drawn_task(kind, seed)
            found[group].append(task.with_until_done() if until_done else task)
    return found


def settled_steps(run: Run, share: float = 0.1) -> int:
    """Return the steps until no episode loses more than a share of the optimum any more."""
    assert run.optimal_value is not None
    losses = run.path_losses if run.path_losses is not None else run.optimal_value - run.policy_values
    late = np.flatnonzero(losses > share * run.optimal_value)
    return int(run.steps[: late[-1] + 1].sum()) if len(late) else 0


def office(learner: learners.Learner, until_done: bool, seeds: Iterable[int], episodes: int = 3_000) -> float:
    """Return the mean number of steps until an errand in the office is settled."""
    found = []
    for errand in ERRANDS:
        known = envs.make(f"office-jair-t{errand}")
        task = Task(known.mdp, known.machine, HORIZON, known.name, until_done=until_done)
        found += [settled_steps(simulate(task, learner, episodes, (31, seed))) for seed in seeds]
    return float(np.mean(found))


def finals(learner: learners.Learner, task: Task, runs: int, episodes: int) -> tuple[np.ndarray, int]:
    """Return the final regrets, and how many runs are linear."""
    found = [simulate(task, learner, episodes, (29, run)) for run in range(runs)]
    return np.array([run.regret[-1] for run in found]), sum(map(did_not_converge, found))


def worst(regrets: np.ndarray) -> float:
    """Return the mean of the worst eighth."""
    return float(np.sort(regrets)[-max(1, len(regrets) // 8) :].mean())


def ratio(found: list[np.ndarray], before: list[np.ndarray], measure: Any) -> str:
    """Return the geometric mean over tasks of the ratio of a measure, with its standard error."""
    logs = [np.log(max(1e-2, measure(a)) / max(1e-2, measure(b))) for a, b in zip(found, before, strict=True)]
    return f"{np.exp(np.mean(logs)):.2f} ± {np.std(logs, ddof=1) / len(logs) ** 0.5:.2f}"


def main() -> None:
    """Play the trials and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of: {', '.join(TRIALS)}")
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--episodes", type=int, default=3_000)
    parser.add_argument("--until-done", action="store_true")
    asked = parser.parse_args()
    groups, rows, before = tasks(asked.until_done), list[Any](), dict[str, Any]()
    for name in dict.fromkeys(["0.3.0", *(asked.trials or TRIALS)]):
        print(f"playing {name}", file=sys.stderr)
        learner, found, linear = Headroom030() if name == "0.3.0" else Headroom(**TRIALS[name]), {}, 0
        for group, drawn in groups.items():
            played = [finals(learner, task, asked.runs, asked.episodes) for task in drawn]
            found[group], linear = [regrets for regrets, _ in played], linear + sum(count for _, count in played)
        before = before or found
        cells = [ratio(found[group], before[group], measure) for group in GROUPS for measure in (np.mean, worst)]
        print(name, *cells, linear, file=sys.stderr)
        rows.append([name, *cells, str(linear), f"{office(learner, asked.until_done, range(4)):,.0f}"])
    sizes = ", ".join(f"{len(drawn)} {group}" for group, drawn in groups.items())
    print(f"{sizes}; {asked.runs} runs of {asked.episodes:,} episodes, until_done {asked.until_done}\n")
    heads = [f"{group}, {measure}" for group in GROUPS for measure in ("mean", "worst eighth")]
    print(Table(("order", *heads, "linear", "Office, steps"), rows))


if __name__ == "__main__":
    main()
