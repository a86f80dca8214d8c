"""What a step would have been in every other machine state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.envs.machine_wrapper import MachineView
from praemia.errors import ParameterError
from praemia.tasks.machine_table import MachineSampler


def view_of(env: Any) -> MachineView:
    """Return how an environment, or every one of a vector environment, shows its machine."""
    get_attr = getattr(env, "get_attr", None)  # a vector environment of stable-baselines3
    try:
        views = get_attr("machine_view") if get_attr is not None else [env.get_wrapper_attr("machine_view")]
    except AttributeError:
        raise ParameterError(
            f"{env} shows no machine; expected a praemia.MachineWrapper or a praemia.envs.TaskEnv, or a vector "
            "environment of these"
        ) from None
    first: MachineView = views[0]
    if any(view.machine != first.machine for view in views):
        raise ParameterError("the environments have different machines; counterfactual experience needs one for all")
    return first


class ImaginedStep(NamedTuple):
    """A step as it would have been: observations as an agent would have seen them, the reward, and whether it ended."""

    state: Any
    next_state: Any
    reward: float
    terminated: bool
    truncated: bool


class Counterfactuals:
    """Draw what each other machine state would have made of a step.

    States in which episodes end are left out: no step starts there. All steps have the same number of others.
    """

    def __init__(self, view: MachineView, seed: int = 0) -> None:
        self.view = view
        self._sampler = MachineSampler(view.machine)
        self._rng = np.random.default_rng(seed)
        self._sources = [m for m in range(view.machine.num_states) if m not in view.done_states]

    def of(self, state: Any, next_state: Any, info: dict[str, Any]) -> list[ImaginedStep]:
        """Return the step from ``state`` to ``next_state``, of which ``info`` tells, in all other machine states."""
        layout, env_step = self.view.layout, info["environment"]
        label = frozenset(info["label"])
        truncated = env_step["truncated"] or info.get("TimeLimit.truncated", False)  # by a wrapper further out
        own = layout.machine_state(state)
        steps = []
        for m in self._sources:
            if m == own:
                continue
            m_next, reward = self._sampler.step(m, label, self._rng)
            steps.append(
                ImaginedStep(
                    layout.with_machine_state(state, m),
                    layout.with_machine_state(next_state, m_next),
                    reward + (env_step["reward"] if self.view.add_reward else 0.0),
                    env_step["terminated"] or m_next in self.view.done_states,
                    truncated,
                )
            )
        return steps
