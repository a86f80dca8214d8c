"""Machines of errands: fetch things, each in its own order, then go on to the next stage.

A stage is a tuple of chains, and a chain a tuple of events. Chains of one stage are done side by side, in any
interleaving; a stage begins when the one before it is done. ``((("wood", "workbench"), ("iron",)), (("toolshed",),))``
asks for wood before the workbench, for iron at any time, and after all three for the toolshed.
"""

from __future__ import annotations

from typing import TypeAlias

from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import proposition
from praemia.machines.guards import Guard
from praemia.machines.machine import RewardMachine

Chain: TypeAlias = tuple[str, ...]
Stages: TypeAlias = tuple[tuple[Chain, ...], ...]


def sequence(*events: str) -> Stages:
    """Return the stages of events that come one after another."""
    return tuple(((event,),) for event in events)


def errand_machine(
    stages: Stages, propositions: tuple[str, ...], *, reward: float = 1.0, hazard: str | None = None
) -> RewardMachine:
    """Pay once, for the last event; after a hazard pay nothing.

    Of several events at once a hazard counts first, then that of the first chain. States are named after the stage and
    what was fetched in it.
    """
    initial = _name(0, stages[0], (0,) * len(stages[0]))
    builder = MachineBuilder(initial, propositions, first_match=True)
    for number, chains in enumerate(stages):
        waiting = [(0,) * len(chains)]
        for progress in waiting:  # grows while it is read
            here = _name(number, chains, progress)
            if hazard is not None:
                builder.edge(here, hazard, "failed")
            for i, chain in enumerate(chains):
                if progress[i] == len(chain):
                    continue
                further = (*progress[:i], progress[i] + 1, *progress[i + 1 :])
                guard: Guard = proposition(chain[progress[i]])
                if all(done == len(other) for done, other in zip(further, chains, strict=True)):
                    last = number == len(stages) - 1
                    there = "done" if last else _name(number + 1, stages[number + 1], (0,) * len(stages[number + 1]))
                    builder.edge(here, guard, there, reward=reward if last else 0.0)
                    continue
                builder.edge(here, guard, _name(number, chains, further))
                if further not in waiting:
                    waiting.append(further)
    return builder.build()


def _name(stage: int, chains: tuple[Chain, ...], progress: tuple[int, ...]) -> str:
    fetched = [event for chain, done in zip(chains, progress, strict=True) for event in chain[:done]]
    return "-".join([f"stage-{stage + 1}", *(["with", *fetched] if fetched else [])])
