"""Choose Headroom's constants, on tuning tasks alone: what was tried, and what each trial does.

*Drawn* tasks have seeds that the league does not use; *offices* are those of ``shuffled_offices``, with a discount.
Every line is one setting for all tasks. Regret, and the mean of the worst eighth of the runs, are geometric means over
tasks of the ratio to 0.3.0's headroom; *linear* counts runs that still lose at the end.

    python benchmarks/tune_headroom.py                     # all trials: about a minute of one core each
    python benchmarks/tune_headroom.py chosen 'c2 = .8'    # these alone
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from headroom_030 import Headroom030
from shuffled_offices import shuffled_offices

from praemia import Run, Task, envs, simulate
from praemia.envs.generated_tasks import KINDS
from praemia.kernels.bonus import natural_log
from praemia.learners import Headroom
from praemia.statistics.measures import did_not_converge
from praemia.text_tables import Table

TUNING_SEEDS = range(1000, 2**63)  # generated tasks of these seeds are for choosing constants
DRAWN = tuple(f"generated-{kind}-{seed}" for kind in KINDS for seed in TUNING_SEEDS[20:24])
DRAWN_EPISODES = 3_000
OFFICE_RUNS, OFFICE_STEPS = 4, 50_000


@dataclass(frozen=True, kw_only=True)
class Trial(Headroom):
    """Headroom with what was tried.

    ``form`` : how the two terms are put together. *sum* of the two; *max*: the larger; *rest*: of the second only what
    exceeds the deviation that was seen. ``local_scale`` : c₂ of the local headroom.
    ``neglect_weight`` : ½ of L. ``roots`` : whether neglect grows with the cube root, and what is forgotten with the
    root of c₃·k/n, as in 0.3.0. ``least_spread`` : 0, or .02 as there.
    """

    name: ClassVar[str] = "trial"

    form: str = "sum"
    local_scale: float = 1.0
    roots: float = 0.0
    neglect_weight: float = 0.5
    least_spread: float = 0.0

    def run_constants(self, spec: Any, num_episodes: int) -> tuple[float, ...]:
        own = (self.local_scale, self.roots, self.neglect_weight, self.least_spread)
        return *super().run_constants(spec, num_episodes), *own

    @staticmethod
    def pair_numbers(  # type: ignore[override]  # it is told the episodes too
        visits: float, visits_of_state: float, episodes: float, constants: Any
    ) -> tuple[float, ...]:
        neglect, grown = 1.0 + constants[5] * natural_log(visits_of_state / visits), natural_log(1.0 + episodes)
        if constants[4] > 0.0:
            neglect, grown = (visits_of_state / visits) ** (1.0 / 3.0), episodes
        forgotten = np.maximum(neglect, np.sqrt(constants[2] * grown / visits)) / visits
        return (
            constants[0] * np.sqrt(neglect / visits),
            constants[1] * forgotten,
            constants[3] * forgotten,
            constants[6],
        )

    @staticmethod
    def rest(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom, per_local, _ = pair.numbers
        own, local = pair.spread * (pair.limit - mean), pair.local_spread * (pair.local_limit - mean)
        second = np.maximum(per_headroom * (own - deviation), per_local * (local - deviation))
        return mean + (per_deviation * deviation + np.maximum(second, 0.0 * mean))

    @staticmethod
    def sum(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom, per_local, least = pair.numbers
        own = np.maximum(pair.spread, least) * (pair.limit - mean)
        local = np.maximum(pair.local_spread, least) * (pair.local_limit - mean)
        return mean + (per_deviation * deviation + np.maximum(per_headroom * own, per_local * local))

    @staticmethod
    def max(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom, per_local, _ = pair.numbers
        own, local = pair.spread * (pair.limit - mean), pair.local_spread * (pair.local_limit - mean)
        return mean + np.maximum(per_deviation * deviation, np.maximum(per_headroom * own, per_local * local))

    def functions(self) -> tuple[Any, Any]:
        return self.pair_numbers, getattr(self, self.form)


ROOTS: dict[str, Any] = {"roots": 1.0, "least_spread": 0.02, "headroom_scale": 0.6, "forgotten_scale": 0.1}
REST: dict[str, Any] = {"form": "rest", "deviation_scale": 0.6}
TRIALS: dict[str, dict[str, Any]] = {
    "0.3.0, order and repair": {**ROOTS, "local_scale": 0.0},
    "roots, local": {**ROOTS, "local_scale": 0.6},
    "not local": {"headroom_scale": 0.6, "local_scale": 0.0},
    "chosen": {},
    "S at least .02": {"least_spread": 0.02},
    "L = 1 + ⅓ ln": {"neglect_weight": 1.0 / 3.0},
    "c2 = .6": {"headroom_scale": 0.6, "local_scale": 0.6},
    "c2 = .8": {"headroom_scale": 0.8, "local_scale": 0.8},
    "c3 = 4": {"forgotten_scale": 4.0},
    "c1 = .6": {"deviation_scale": 0.6},
    "max": {"form": "max"},
    "max, c1 = .6": {"form": "max", "deviation_scale": 0.6},
    "rest": REST,
    "rest, c2 = 1.2": {**REST, "headroom_scale": 1.2, "local_scale": 1.2},
    "rest, c2 = 1.5": {**REST, "headroom_scale": 1.5, "local_scale": 1.5},
}


def played(learner: Headroom, task: Task, runs: int, **length: Any) -> list[Run]:
    """Play so many runs, of some episodes or steps."""
    return [simulate(task, learner, seed=(61, run), **length) for run in range(runs)]


def studies(learner: Headroom, runs: int) -> Iterator[tuple[str, list[Run]]]:
    """Yield the runs of every task, with its group."""
    for name in DRAWN:
        yield "drawn", played(learner, envs.make(name), runs, num_episodes=DRAWN_EPISODES)
    for task in shuffled_offices():
        yield "offices", played(learner, task, min(runs, OFFICE_RUNS), num_steps=OFFICE_STEPS)


def worst(regrets: np.ndarray) -> float:
    """Return the mean of the worst eighth."""
    return float(np.sort(regrets)[-max(1, len(regrets) // 8) :].mean())


def measured(learner: Headroom, runs: int) -> tuple[dict[str, np.ndarray], int]:
    """Return log regrets [task, (mean, worst)] by group, and how many runs are linear."""
    logs: dict[str, list[list[float]]] = {"drawn": [], "offices": []}
    linear = 0
    for group, group_runs in studies(learner, runs):
        assert group_runs[0].optimal_value is not None
        scale = abs(group_runs[0].optimal_value)
        regrets = np.array([run.regret[-1] / scale for run in group_runs])
        logs[group].append([float(np.log(max(1e-3, measure(regrets)))) for measure in (np.mean, worst)])
        linear += sum(map(did_not_converge, group_runs))
    return {group: np.array(rows) for group, rows in logs.items()}, linear


def main() -> None:
    """Play the trials and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of: {', '.join(TRIALS)}")
    parser.add_argument("--runs", type=int, default=24)
    asked = parser.parse_args()
    unknown = [name for name in asked.trials if name not in TRIALS]
    if unknown:
        parser.error(f"unknown trial {unknown[0]!r}; there are {', '.join(map(repr, TRIALS))}")
    before, linear = measured(Headroom030(), asked.runs)
    rows = [["0.3.0", *["1"] * 4, str(linear)]]
    for name in asked.trials or TRIALS:
        print(f"playing {name}", file=sys.stderr)
        logs, linear = measured(replace(Trial(), **TRIALS[name]), asked.runs)
        ratios = [np.exp((logs[group] - before[group]).mean(axis=0)) for group in logs]
        rows.append([name, *(f"{value:.2f}" for value in np.concatenate(ratios)), str(linear)])
    head = ("", "drawn, mean", "worst eighth", "offices, mean", "worst eighth", "linear")
    print(f"{asked.runs} runs of {DRAWN_EPISODES:,} episodes; in offices {OFFICE_RUNS} of {OFFICE_STEPS:,} steps\n")
    print(Table(head, rows))


if __name__ == "__main__":
    main()
