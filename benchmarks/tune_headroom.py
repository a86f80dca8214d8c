"""Choose Headroom's constants and rules, on tuning tasks alone: what was tried, and what each trial does.

The tasks are drawn by seeds that the league does not use, next to three settings of the paper and four random tasks on
which constants were chosen before. Every line is one setting for all tasks, against ``before``: what was played up to
version 0.3. Means, 95 % runs and worst runs are geometric means over tasks of the ratio to its.

    python benchmarks/tune_headroom.py                     # all trials: about a minute of one core each
    python benchmarks/tune_headroom.py before chosen       # these alone
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from praemia import envs, simulate
from praemia.envs.drawn_tasks import KINDS
from praemia.experiments.league import TUNING_SEEDS
from praemia.learners.headroom import Headroom
from praemia.statistics.standings import is_linear
from praemia.tasks.spec import TaskSpec

SEEDS = TUNING_SEEDS[:2]
LATER = ("sea", "maze")  # kinds that were added after these trials
DRAWN = tuple(f"drawn-{kind}-{seed}" for kind in KINDS if kind not in LATER for seed in SEEDS)
RANDOM = tuple(f"random-20x4x5-{seed}" for seed in range(4))
PAPER = ("riverswim-5", "riverswim-15", "warehouse-4")
TASKS = (*DRAWN, *PAPER, *RANDOM)
RANDOM_KINDS = ("sparse", "dense", "actions")


@dataclass(frozen=True, kw_only=True)
class Trial(Headroom):
    """Headroom with everything that was tried.

    ``forgotten_power`` : the power of c₃·k/n. ``by_spread`` : the headroom term is multiplied by the spread.
    """

    name: ClassVar[str] = "trial"

    by_spread: bool = False
    forgotten_power: float = 0.5

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        return self.deviation_scale, self.headroom_scale, 1.0 / 3.0, self.forgotten_scale, self.forgotten_power

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, episodes: float, constants: Any) -> tuple[float, ...]:
        neglect = (visits_of_state / visits) ** constants[2]
        forgotten = np.maximum(neglect, (constants[3] * episodes / visits) ** constants[4])
        return constants[0] * np.sqrt(neglect / visits), constants[1] * forgotten / visits

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom = pair.numbers
        return mean + (per_deviation * deviation + per_headroom * (pair.limit - mean))

    def functions(self) -> tuple[Any, Any]:
        return self.pair_numbers, Headroom.worth if self.by_spread else self.worth


OLD: dict[str, Any] = {"deviation_scale": 0.4, "headroom_scale": 0.1, "forgotten_scale": 0.0}
WITHOUT_SPREAD: dict[str, Any] = {"deviation_scale": 0.3, "headroom_scale": 0.1, "forgotten_scale": 0.1}
TRIALS: dict[str, dict[str, Any]] = {
    "before": {**OLD, "replan": "epoch"},
    "plan at 5 % growth": OLD,
    "c3 = .03": {**OLD, "forgotten_scale": 0.03},
    "c3 = .1": {**OLD, "forgotten_scale": 0.1},
    "c3 = .01, power 1": {**OLD, "forgotten_scale": 0.01, "forgotten_power": 1.0},
    "c3 = .1, c1 = .3": WITHOUT_SPREAD,
    "c3 = .1, c1 = .2": {**WITHOUT_SPREAD, "deviation_scale": 0.2},
    "c3 = .1, c1 = .3, c2 = .07": {**WITHOUT_SPREAD, "headroom_scale": 0.07},
    "chosen": {"by_spread": True},
    "spread, c2 = .4": {"by_spread": True, "headroom_scale": 0.4},
    "spread, c2 = 1": {"by_spread": True, "headroom_scale": 1.0},
    "spread, c1 = .3": {"by_spread": True, "deviation_scale": 0.3},
}


def played(trial: dict[str, Any], runs: int, episodes: int) -> tuple[dict[str, np.ndarray], int]:
    """Return the final regrets on every task, and how many runs are linear."""
    learner, finals, linear = Trial(**{"order": "drawn", "replan": "growth", **trial}), {}, 0
    for name in TASKS:
        task = envs.make(name)
        found = [simulate(task, learner, episodes, (7, run, 1)) for run in range(runs)]
        finals[name] = np.array([run.regret[-1] for run in found])
        linear += sum(map(is_linear, found))
    return finals, linear


def ratio(finals: dict[str, np.ndarray], before: dict[str, np.ndarray], tasks: tuple[str, ...], measure: Any) -> float:
    """Return the geometric mean over tasks of a measure of the runs ÷ the same before."""
    logs = [np.log(max(1e-3, measure(finals[task])) / max(1e-3, measure(before[task]))) for task in tasks]
    return float(np.exp(np.mean(logs)))


def row(name: str, finals: dict[str, np.ndarray], linear: int, before: dict[str, np.ndarray]) -> str:
    """Return a line of the table."""
    chance = (*(task for task in DRAWN if task.split("-")[1] in RANDOM_KINDS), *RANDOM)
    late = [ratio(finals, before, tasks, lambda final: np.quantile(final, 0.95)) for tasks in (DRAWN, chance)]
    means = [ratio(finals, before, tasks, np.mean) for tasks in (DRAWN, chance, PAPER)]
    worst = [ratio(finals, before, tasks, np.max) for tasks in (DRAWN, chance)]
    tail = float(np.median([finals[task].max() / finals[task].mean() for task in TASKS]))
    cells = (f"{value:8.2f}" for value in (*means, *late, *worst, tail))
    return f"{name:28}{''.join(cells)}{linear:8d}"


def main() -> None:
    """Play the trials and print the table, a line as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of: {', '.join(TRIALS)}")
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--episodes", type=int, default=5_000)
    given = parser.parse_args()
    unknown = [name for name in given.trials if name not in TRIALS]
    if unknown:
        parser.error(f"unknown trial {unknown[0]!r}; there are {', '.join(map(repr, TRIALS))}")
    print(f"{len(TASKS)} tuning tasks, {given.runs} runs of {given.episodes:,} episodes; ratios to the first line")
    print(f"{'':28}{'mean':^24}{'95 % run':^16}{'worst run':^16}{'worst ÷':>8}{'linear':>8}")
    groups = ("drawn", "random", "paper", "drawn", "random", "drawn", "random", "mean")
    print(f"{'':28}{''.join(f'{group:>8}' for group in groups)}")
    before: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(["before", *(given.trials or TRIALS)]):
        print(f"playing {name}", file=sys.stderr)
        finals, linear = played(TRIALS[name], given.runs, given.episodes)
        before = before or finals
        print(row(name, finals, linear, before), flush=True)


if __name__ == "__main__":
    main()
