"""What a learner is shown before its first step tells nothing of what can happen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from praemia import LabeledMDP, LabelRule, Learner, LearnerPlan, MachineBuilder, Task, learners, simulate
from praemia.kernels.bundles import Bundle
from praemia.learners.experience import Experience

SIZE = 5
ATOMS = (int, float, str, bytes, complex, type(None), np.generic)


def task(successors: int) -> Task:
    """Return a task in which every pair has so many successors, and all else is the same."""
    rows = {(o, a): {(o + k) % SIZE: 1.0 / successors for k in range(successors)} for o in range(SIZE) for a in (0, 1)}
    mdp = LabeledMDP.from_rows(SIZE, 2, rows, [LabelRule("goal", target=0)], start=0)
    machine = MachineBuilder("away").edge("away", "goal", "there", reward=1.0).edge("there", "!goal", "away").build()
    return Task(mdp, machine, 4, "ring")


def reachable(thing: Any, path: str, seen: dict[int, Any]) -> Iterator[tuple[str, Any]]:
    """Yield all plain values and arrays that can be reached from an object, with the way there."""
    if isinstance(thing, ATOMS):
        yield path, thing
        return
    if id(thing) in seen:
        return
    seen[id(thing)] = thing  # kept, so that its id is not used again
    if isinstance(thing, np.ndarray):
        yield path, (str(thing.dtype), thing.shape, thing.tobytes())
        parts: list[tuple[str, Any]] = [("base", thing.base)]
    elif isinstance(thing, dict):
        parts = [(repr(key), value) for key, value in thing.items()]
    elif isinstance(thing, set | frozenset):
        yield path, sorted(map(repr, thing))
        parts = []
    elif isinstance(thing, list | tuple):
        parts = list(enumerate(thing))  # type: ignore[arg-type]
        parts += [(name, getattr(thing, name)) for name in getattr(thing, "_fields", ())]
    else:
        own = thing.__getstate__() if isinstance(thing, Bundle) else dict(getattr(thing, "__dict__", {}))
        slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        own |= {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
        if is_dataclass(thing) and not isinstance(thing, type):
            own |= {item.name: getattr(thing, item.name) for item in fields(thing)}
        if isinstance(thing, Experience):
            public = (name for name in dir(type(thing)) if not name.startswith("_"))
            own |= {name: value for name in public if not callable(value := getattr(thing, name))}
        closure = getattr(thing, "__closure__", None) or ()
        own |= {f"cell {i}": cell.cell_contents for i, cell in enumerate(closure)}
        parts = sorted(own.items())
    for name, part in parts:
        yield from reachable(part, f"{path}.{name}", seen)


class Curious(Learner):
    """Note all that can be found before the first step, and after some."""

    name: ClassVar[str] = "curious"
    sees: str = "observations"  # type: ignore[misc]
    learn_machine: bool = False  # type: ignore[misc]
    replan: str = "episode"
    uses_steps: ClassVar[bool] = True
    uses_recent: ClassVar[bool] = True
    found: ClassVar[list[list[tuple[str, Any]]]] = []

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        self.found.append(list(reachable(experience, "experience", {})))
        spec = experience.spec
        return LearnerPlan(np.zeros((spec.horizon, spec.num_machine_states, spec.num_observations), dtype=int))


@pytest.mark.parametrize("learn_machine", [False, True])
def test_nothing_tells_the_support_of_p_before_it_was_observed(learn_machine: bool) -> None:
    Curious.found.clear()
    for successors in (2, 3):
        simulate(task(successors), Curious(learn_machine=learn_machine), 3)
    few, _, _, many, _, later = Curious.found
    assert len(few) > 100
    assert dict(few) == dict(many)
    assert dict(few) != dict(later), "the walk finds nothing"


def test_a_learner_is_given_the_task_itself_only_where_it_says_so() -> None:
    given: list[Any] = []

    class Asking(Learner):
        def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
            given.append(experience.truth)
            return learners.make("random").plan(experience, previous, rng)

    simulate(task(2), Asking(), 1)
    assert given == [None]
