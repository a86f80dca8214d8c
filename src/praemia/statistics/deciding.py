"""Which runs to add so that claims are decided: those of the comparisons that are still open, and no others.

The number of runs of such a comparison is raised to the next of 8, 16, 32 … 512, at which verdicts may look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from praemia.experiments.settings import Experiment
from praemia.statistics.verdicts import MIN_RUNS, MOST_RUNS, Claim


def next_look(runs: int) -> int:
    """Return the number of runs at which to look next; the present one where there is no next."""
    look = MIN_RUNS
    while look <= runs:
        look *= 2
    return look if look <= MOST_RUNS else runs


def further_runs(claims: Iterable[Claim], catalogue: Sequence[Experiment]) -> list[Experiment]:
    """Return the runs that the open claims ask for, as experiments: parts of those in the catalogue, with more runs."""
    wanted: dict[tuple[str, str, str], int] = {}
    for claim in claims:
        if claim.held is None and claim.more_runs_help:
            for line in claim.evidence:
                look = next_look(line.runs)
                if line.outcome is None and look > line.runs:
                    wanted |= {part: max(look, wanted.get(part, 0)) for part in line.parts}
    return [part for experiment in catalogue if (part := _part(experiment, wanted)).settings]


def _part(experiment: Experiment, wanted: dict[tuple[str, str, str], int]) -> Experiment:
    """Return the settings of an experiment in which runs are wanted, one for each number of runs."""
    settings = []
    for setting in experiment.settings:
        numbers = [wanted.get((experiment.name, setting.name, choice.title), 0) for choice in setting.choices]
        for number in sorted({number for number in numbers if number}):
            chosen = tuple(c for c, own in zip(setting.choices, numbers, strict=True) if own == number)
            settings.append(replace(setting, choices=chosen, num_runs=number))
    return replace(experiment, settings=tuple(settings))
