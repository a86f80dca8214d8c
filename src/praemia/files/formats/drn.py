"""Write a task as an explicit MDP in Storm's DRN format.

The states are those of the cross product, in our order: machine state · observations + observation. A state is labelled
``machine=name`` after its machine state (``ended`` where an episode is over), and ``init`` where episodes start; a
choice is named after its action and pays the mean reward of the step. Where the start is random, one more state draws
it. A discount γ is written as a state ``halted`` that pays nothing: each step leads there with probability 1 − γ. The
first line says which query gives the optimal value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from praemia.errors import ModelError
from praemia.tasks.product import Product, product
from praemia.tasks.task import Task


def write_drn(task: Task) -> str:
    """Return the text of a task's cross product."""
    return "\n".join(_lines(task, product(task))) + "\n"


def _lines(task: Task, explicit: Product) -> Iterator[str]:
    starts = np.flatnonzero(explicit.start_probs).tolist()
    is_random, halts = len(starts) > 1, explicit.discount < 1.0
    halted = explicit.num_states
    steps = task.max_steps + is_random
    bound = 'F "halted"' if task.horizon is None else f"C<={steps}"
    within = "without a horizon" if task.horizon is None else "within the horizon"
    yield f'// The optimal value {within}: R{{"reward"}}max=? [{bound}]'
    yield from ("@type: MDP", "@parameters", "", "@reward_models", "reward")
    yield from ("@nr_states", str(explicit.num_states + halts + is_random))
    yield from ("@nr_choices", str(explicit.num_states * explicit.num_actions + halts + is_random), "@model")
    for state in range(explicit.num_states):
        number, is_last = state // task.num_observations, state == task.num_observations * task.num_machine_states
        label = "ended" if is_last else _label(task.machine.states[number])
        initial = "" if is_random or state != starts[0] else "init "
        yield f"state {state} [0] {initial}{label}"
        for action in range(explicit.num_actions):
            yield f"\taction {_action(task, action)} [{float(explicit.rewards[state, action])!r}]"
            row = state * explicit.num_actions + action
            begin, end = explicit.transitions.indptr[row : row + 2]
            targets, probs = explicit.transitions.indices[begin:end], explicit.transitions.data[begin:end]
            if halts:
                targets = np.append(targets, halted)
                probs = np.append(explicit.discount * probs, 1.0 - explicit.discount)
            yield from (f"\t\t{z} : {float(p)!r}" for z, p in zip(targets.tolist(), probs.tolist(), strict=True))
    if halts:
        yield from (f"state {halted} [0] halted", "\taction stay [0]", f"\t\t{halted} : 1.0")
    if is_random:
        yield f"state {explicit.num_states + halts} [0] init"
        yield "\taction start [0]"
        yield from (f"\t\t{z} : {float(explicit.start_probs[z])!r}" for z in starts)


def _label(name: str) -> str:
    """Write the label of a machine state, in quotes so that it may hold blanks."""
    if '"' in name or "\n" in name:
        raise ModelError(f"the machine state {name!r}; a label of this format has neither quotes nor several lines")
    return f'"machine={name}"'


def _action(task: Task, action: int) -> str:
    """Return an action's name, or its number where the name is not one word."""
    name = task.mdp.action_name(action)
    return name if name.isidentifier() else str(action)
