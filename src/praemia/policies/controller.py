"""A policy that keeps the machine's state: it observes steps and returns actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from praemia.envs.machine_wrapper import MACHINE_STATE, OBSERVATION
from praemia.envs.step_labels import LabelsOfSteps, StepLabeller
from praemia.errors import ParameterError
from praemia.machines.labels import Label
from praemia.tasks.machine_table import MachineSampler

if TYPE_CHECKING:
    from praemia.policies.policy import Policy

LABEL = "label"  # where MachineWrapper puts the label of a step into info


class Controller:
    """A policy that follows the machine: ``Policy.controller`` makes one.

    Attributes
    ----------
    machine_state : the index of the machine's state. step : how many steps were observed since ``reset``.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=4)
    >>> controller = praemia.Policy(praemia.solve(task), task).controller()
    >>> controller.act(0)
    1
    >>> controller.observe(0, 1, 1, {"label": ()})
    >>> controller.step
    1
    """

    def __init__(self, policy: Policy, labels: LabelsOfSteps | None, seed: int, unseen: Any) -> None:
        if policy.machine is None:
            raise ParameterError(
                "a controller follows the machine, which this policy does not have: Policy(table, task)"
            )
        self.policy, self.machine, self._unseen = policy, policy.machine, unseen
        self._label = None if labels is None else StepLabeller(labels, self.machine)
        self._sampler, self._rng = MachineSampler(self.machine), np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        """Begin an episode: the machine is in its initial state."""
        self.machine_state, self.step = self.machine.index[self.machine.initial], 0

    def act(self, observation: Any) -> Any:
        """Return the action for an observation."""
        return self.policy.act(observation, self.machine_state, self.step, self._rng, unseen=self._unseen)

    def observe(
        self, o: Any, a: Any, o_next: Any, info: dict[str, Any] | None = None, machine_state: int | str | None = None
    ) -> None:
        """Note a step. A machine state that is given counts; else the label moves the machine.

        Where the machine's move is a matter of chance and its state cannot be seen, it is sampled.
        """
        if machine_state is None:
            label = self._label_of(o, a, o_next, info or {})
            self.machine_state, _ = self._sampler.step(self.machine_state, label, self._rng)
        else:
            self.machine_state = self.policy._state(machine_state)
        self.step += 1

    def _label_of(self, o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> Label:
        if self._label is not None:
            return self._label(o, a, o_next, info)
        if LABEL not in info:
            raise ParameterError(
                "neither labels nor a machine state: give labels to policy.controller(…), or machine_state= to observe"
            )
        return frozenset(info[LABEL])

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        """Return the action for what ``MachineWrapper`` shows, as agents of stable-baselines3 do, and the next state.

        The state is the step; the machine's state is part of the observation. Batches of observations are taken too. A
        randomised policy takes its most probable action where ``deterministic`` is true.
        """
        states = np.asarray(observation[MACHINE_STATE])
        count = states.size
        steps = np.zeros(count, dtype=np.int64) if state is None else np.asarray(state[0]).copy()
        if episode_start is not None:
            steps[np.broadcast_to(np.asarray(episode_start, dtype=bool), count)] = 0
        rows = [observation] if states.ndim == 0 else [_row(observation, i) for i in range(count)]
        actions = [
            self._predicted(row, int(m), int(step), deterministic)
            for row, m, step in zip(rows, states.ravel(), steps, strict=True)
        ]
        return (np.array(actions[0]) if states.ndim == 0 else np.array(actions)), (steps + 1,)

    def _predicted(self, shown: dict[str, Any], m: int, step: int, deterministic: bool) -> Any:
        inner = {key: part for key, part in shown.items() if key != MACHINE_STATE}
        policy = self.policy.deterministic if deterministic else self.policy
        is_dict = hasattr(getattr(policy.observations, "space", None), "keys")
        seen = inner[OBSERVATION] if set(inner) == {OBSERVATION} and not is_dict else inner
        return policy.act(seen, m, step, self._rng, unseen=self._unseen)


def _row(batch: Any, i: int) -> Any:
    """Return the i-th of a batch of observations."""
    if isinstance(batch, dict):
        return {key: _row(part, i) for key, part in batch.items()}
    return tuple(_row(part, i) for part in batch) if isinstance(batch, tuple) else batch[i]
