"""Write a task as an explicit MDP in Storm's DRN format: its cross product, in our order of states.

Where the start is random, one more state samples it; a discount γ is a step to ``halted`` with probability 1 − γ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from praemia.errors import ModelError, visible
from praemia.tasks.product import Product, product
from praemia.tasks.task import Task


def write_drn(task: Any) -> str:
    """Return the text of a task's cross product; a black box, which has none, is refused."""
    return "\n".join(_lines(task, product(task))) + "\n"


def _lines(task: Task, explicit: Product) -> Iterator[str]:
    starts = np.flatnonzero(explicit.start_probs).tolist()
    is_random, halts = len(starts) > 1, explicit.discount < 1.0
    halted = explicit.num_states  # the index of the state in which an episode has halted
    within, bound = "within the horizon", f"C<={task.max_steps + is_random}"
    if task.horizon is None:
        within, bound = "without a horizon", 'F "halted"'
    yield f'// The optimal value {within}: R{{"reward"}}max=? [{bound}]'
    yield from ("@type: MDP", "@parameters", "", "@reward_models", "reward")
    yield from ("@nr_states", str(halted + halts + is_random))
    yield from ("@nr_choices", str(halted * explicit.num_actions + halts + is_random), "@model")
    for state in range(halted):
        initial = "" if is_random or state != starts[0] else "init "
        yield f"state {state} [0] {initial}{_label(task, state // task.num_observations)}"
        for action in range(explicit.num_actions):
            name = task.mdp.action_name(action)
            reward = float(explicit.rewards[state, action])
            yield f"\taction {name if name.isidentifier() else action} [{reward!r}]"
            row = slice(*explicit.transitions.indptr[state * explicit.num_actions + action :][:2])
            yield from _targets(explicit.transitions.indices[row], explicit.discount * explicit.transitions.data[row])
            if halts:
                yield from _targets([halted], [1.0 - explicit.discount])
    if halts:
        yield from (f"state {halted} [0] halted", "\taction stay [0]", *_targets([halted], [1.0]))
    if is_random:
        yield from (f"state {halted + halts} [0] init", "\taction start [0]")
        yield from _targets(starts, explicit.start_probs[starts])


def _targets(states: Iterable[int], probs: Iterable[float]) -> Iterator[str]:
    return (f"\t\t{state} : {float(p)!r}" for state, p in zip(states, probs, strict=True))


def _label(task: Task, number: int) -> str:
    """Write the label of a machine state, in quotes so that it may hold blanks; behind the last one all is ended."""
    if number == task.num_machine_states:
        return "ended"
    name = task.machine.states[number]
    if '"' in name or "\n" in name:
        raise ModelError(f"the machine state {name!r}; a label of this format has neither quotes nor several lines")
    return f'"machine={visible(name)}"'
