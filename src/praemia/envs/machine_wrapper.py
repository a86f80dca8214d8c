"""A machine around any Gymnasium environment: agents see its state, so that its rewards are Markov for them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from praemia.envs.black_box import StepLabels, require_env, require_machine, step_label
from praemia.envs.layouts import MachineView, layout_of
from praemia.envs.recording import RecordTo, TraceRecorder
from praemia.errors import ModelError, ParameterError, require_whole
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_sampler import MachineSampler, settled_states
from praemia.tasks.task import MAX_HORIZON

STREAM = 1  # tells the machine's random numbers from the environment's, which come from the same seed


class MachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Play a machine along with an environment of any spaces, and pay what the machine pays.

    An observation is ``{"observation": …, "machine_state": m}``; an environment whose observations are dictionaries
    keeps its own entries. ``info`` holds the ``label`` of the step, a sorted tuple, the ``machine_state`` by name,
    and in ``environment`` the step without the machine: the ``reward``, ``terminated`` and ``truncated``.
    The environment draws the random numbers that it would draw alone; the machine has its own, from the same seed.
    Once an episode has ended the machine halts: it stays and pays nothing.

    Parameters
    ----------
    env : the environment.
    labels : a function (observation, action, next observation, info) → propositions, in the environment's own terms.
    machine : the machine.
    horizon : truncate episodes after so many steps; None: leave that to the environment.
    flat : show one vector (a Box of one dimension, then 1 in the place of the machine state) or one number (Discrete).
    show_step : show the step too; it needs a horizon. Optimal policies for a finite horizon depend on it.
    add_reward : add the environment's reward to the machine's, instead of dropping it.
    until_done : terminate an episode as soon as the machine can neither pay nor charge any more.
    record : a file or a list; the labels and rewards of every episode are added to it.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> def labels(o, a, o_next, info):
    ...     return {"right"} if o_next[0] > 0.5 else {"left"} if o_next[0] < -0.5 else set()
    >>> there_and_back = praemia.RewardMachine.from_ltlf("F(right & F left)")
    >>> env = praemia.MachineWrapper(gymnasium.make("CartPole-v1"), labels, there_and_back, flat=True)
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, info["machine_state"] == there_and_back.initial  # 4 of CartPole's, 3 machine states
    ((7,), True)
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        labels: StepLabels,
        machine: RewardMachine,
        horizon: int | None = None,
        *,
        flat: bool = False,
        show_step: bool = False,
        add_reward: bool = False,
        until_done: bool = False,
        record: RecordTo = None,
    ) -> None:
        require_env(env)
        require_machine(machine)
        options = {"flat": flat, "show_step": show_step, "add_reward": add_reward, "until_done": until_done}
        given = {"labels": labels, "machine": machine, "horizon": horizon, **options, "record": record}
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **given)
        gymnasium.Wrapper.__init__(self, env)
        if not callable(labels):
            raise ModelError(f"labels={labels!r}; expected a function (o, a, o', info) -> propositions")
        if horizon is not None:
            require_whole("horizon", horizon, 1, MAX_HORIZON, ModelError)
        elif show_step:
            raise ParameterError("show_step=True without a horizon; give horizon=, the number of steps of an episode")
        if add_reward and until_done:
            raise ParameterError("until_done with add_reward: what the environment may still pay is not known")
        self.labels, self.machine, self.horizon, self.add_reward = labels, machine, horizon, add_reward
        self.layout = layout_of(env.observation_space, machine.num_states, horizon if show_step else None, flat=flat)
        self.observation_space = self.layout.space
        self.settled = settled_states(machine) if until_done else frozenset()
        self.sampler = MachineSampler(machine)
        self._recorder = TraceRecorder(record)
        self._rng = np.random.default_rng()
        self._machine_state = machine.index[machine.initial]
        self._seen: Any = None
        self._step, self._is_over = 0, False

    @property
    def machine_state(self) -> int:
        """The number of the machine state."""
        return self._machine_state

    @property
    def machine_view(self) -> MachineView:
        """What one needs to know to tell of a step in another machine state."""
        return MachineView(self.machine, self.layout, self.settled, self.add_reward)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the environment, with the machine in its initial state."""
        self._recorder.end_episode()
        if seed is not None:
            self._rng = np.random.default_rng((seed, STREAM))
        seen, info = self.env.reset(seed=seed, options=options)
        self._seen = deepcopy(seen)  # the environment may overwrite its own
        self._machine_state = self.machine.index[self.machine.initial]
        self._step, self._is_over = 0, False
        return self._shown(seen), self._told(info, frozenset())

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a step of the environment; its label moves the machine, which pays."""
        seen, own, terminated, truncated, info = self.env.step(action)
        label, reward = frozenset[str](), 0.0
        if not self._is_over:
            label = self.label(self._seen, action, seen, info)
            self._machine_state, reward = self.sampler.step(self._machine_state, label, self._rng)
        reward += float(own) if self.add_reward else 0.0
        self._seen = deepcopy(seen)
        self._step += 1
        truncated = bool(truncated) or self._step == self.horizon
        outside = {"reward": float(own), "terminated": bool(terminated), "truncated": truncated}
        terminated = bool(terminated) or self._machine_state in self.settled
        if not self._is_over:
            self._recorder.add(label, reward)
        self._is_over |= terminated or truncated
        if self._is_over:
            self._recorder.end_episode()
        told = self._told(info, label) | {"environment": outside}
        return self._shown(seen), reward, terminated, truncated, told

    def label(self, o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> Label:
        """Return the label of a step, checked against the machine's propositions."""
        return step_label(self.labels, self.machine, (o, a, o_next), info)

    def close(self) -> None:
        """Close the environment; what was played of an episode is recorded."""
        self._recorder.end_episode()
        super().close()

    def _shown(self, seen: Any) -> Any:
        return self.layout.join(seen, self._machine_state, min(self._step, self.horizon or self._step))

    def _told(self, info: dict[str, Any], label: Label) -> dict[str, Any]:
        return {**info, "label": tuple(sorted(label)), "machine_state": self.machine.states[self._machine_state]}
