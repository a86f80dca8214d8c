"""A machine around any Gymnasium environment: agents see its state, so that its rewards are Markov for them.

Several machines have one disjoint union of states: state m of machine i has the index m plus the sizes of the machines
before i.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from praemia.envs.black_box import require_env
from praemia.envs.step_labels import LabelsOfSteps, RecordTo, StepLabeller, TraceRecorder, copied
from praemia.errors import ModelError, ParameterError, located, require_flag, require_whole, unknown_name
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import MAX_HORIZON, require_machine
from praemia.tasks.machine_table import MachineSampler

MACHINE_STATE, OBSERVATION = "machine_state", "observation"
STREAM = 1  # separates the machine's random numbers from the environment's, which come from the same seed

StageRewards: TypeAlias = Mapping[Hashable, Callable[[Any, Any, Any, dict[str, Any]], float]]


class MachineView:
    """The machines of an environment, and what else determines its rewards and ends.

    Attributes
    ----------
    machines : the machines; ``states``, ``initials``: the names of all their states, and the index of each initial one.
    space : the Dict of observations; its entry ``machine_state`` is the index of the machine's state.
    done_states : the machine states in which episodes end.
    add_reward : whether the environment's own reward is added to the machine's.
    shaping : γ of the shaping by potentials, or None; ``potentials``: Φ of each state.
    """

    def __init__(
        self,
        machines: Sequence[RewardMachine],
        inner: spaces.Space[Any],
        *,
        until_done: bool = False,
        add_reward: bool = False,
        shaping: float | None = None,
    ) -> None:
        self.machines, self.add_reward, self.shaping = tuple(machines), add_reward, shaping
        self._firsts = [0, *accumulate(machine.num_states for machine in machines)][:-1]
        self.states = tuple(state for machine in machines for state in machine.states)
        self.initials = [i + m.index[m.initial] for i, m in zip(self._firsts, machines, strict=True)]
        self.space = with_machine_state(inner, len(self.states))
        done = zip(self._firsts, machines, strict=True) if until_done else ()
        self.done_states = frozenset(first + m for first, machine in done for m in machine.terminal_states)
        with located("shaping"):
            potentials = [np.zeros(m.num_states) if shaping is None else m.potential(shaping) for m in machines]
        self.potentials = np.concatenate(potentials)
        self._samplers = [MachineSampler(machine) for machine in machines]

    def machine_of(self, state: int) -> int:
        """Return the index of the machine that has a state."""
        return bisect(self._firsts, state) - 1

    def step(
        self,
        state: int,
        label: Label,
        env_step: Mapping[str, Any],
        stage_rewards: Mapping[Hashable, float],
        rng: np.random.Generator,
    ) -> tuple[int, float, float, bool]:
        """Return the next state, the reward, what shaping adds to it, and whether the episode terminates.

        ``env_step`` has the environment's ``reward`` and whether it ``terminated``. Shaping adds γ·Φ(after) − Φ(state),
        with Φ = 0 where the episode terminates.
        """
        i = self.machine_of(state)
        m, reward = self._samplers[i].step(state - self._firsts[i], label, rng)
        after = self._firsts[i] + m
        here, there = self.states[state], self.states[after]
        reward += stage_rewards.get((here, there), stage_rewards.get(here, 0.0)) if stage_rewards else 0.0
        reward += env_step["reward"] if self.add_reward else 0.0
        terminated = env_step["terminated"] or after in self.done_states
        if self.shaping is None:
            return after, reward, 0.0, terminated
        following = 0.0 if terminated else self.shaping * self.potentials[after]
        return after, reward, float(following - self.potentials[state]), terminated


def with_machine_state(inner: spaces.Space[Any], num_states: int) -> spaces.Dict:
    """Return the space of observations beside a machine state; those that are dictionaries keep their entries."""
    parts = dict(inner.items()) if isinstance(inner, spaces.Dict) else {OBSERVATION: inner}
    if MACHINE_STATE in parts:
        raise ModelError(
            f"the environment's observations already have an entry {MACHINE_STATE!r}; rename it with "
            "gymnasium.wrappers.TransformObservation"
        )
    return spaces.Dict({**parts, MACHINE_STATE: spaces.Discrete(num_states)})


def beside(observation: Any, machine_state: Any) -> dict[str, Any]:
    """Return an observation, or a batch of them, beside a machine state."""
    parts = observation if isinstance(observation, dict) else {OBSERVATION: observation}
    return {**parts, MACHINE_STATE: machine_state}


def as_machines(machine: object) -> tuple[RewardMachine, ...]:
    """Return one machine, or several, as a tuple of machines with the same propositions."""
    machines: tuple[Any, ...] = tuple(machine) if isinstance(machine, list | tuple) else (machine,)
    for one in machines:
        require_machine(one)
    if not machines:
        raise ModelError("machine=[]; expected a RewardMachine, or several")
    propositions = dict.fromkeys(name for one in machines for name in one.propositions)
    return machines if len(machines) == 1 else tuple(one.over(propositions) for one in machines)


class MachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Run a machine alongside an environment with any spaces, and return its rewards.

    An observation is ``{"observation": …, "machine_state": m}``; if observations are dictionaries, ``machine_state`` is
    added to them. ``gymnasium.wrappers.FlattenObservation`` makes one vector of it, and
    ``gymnasium.wrappers.TimeAwareObservation`` adds the step. ``info`` holds the ``label`` of the step, a sorted tuple,
    the ``machine_state`` by name, and in ``environment`` the step without the machine: the ``reward``, ``terminated``
    and ``truncated``. The environment samples the same random numbers as without the machine, which has a generator
    with the same seed. Once an episode has ended the machine stays, and its reward is 0.

    Parameters
    ----------
    env : the environment.
    labels : the labels of steps, in any of the forms that ``BlackBox`` takes.
    machine : the machine, or several of which one is sampled at each reset. ``info["machine"]`` is then its index, and
        ``machine_state`` an index into the states of all machines, one machine after the other.
    horizon : truncate episodes after this number of steps; None: leave that to the environment.
    add_reward : add the environment's reward to the machine's, instead of dropping it.
    until_done : terminate an episode once no further reward, positive or negative, is possible.
    record : a file or a list; the labels and rewards of every episode are added to it, rewards without shaping.
    shaping : γ: add γ·Φ(m') − Φ(m) to each reward, Φ = ``machine.potential(γ)``; Φ(m') counts as 0 where the episode
        terminates. The policies that are optimal for the discount γ stay so.
    stage_rewards : functions (observation, action, next observation, info) → number that are added to the machine's
        reward: by the name of a state, for steps that begin in it, or by an edge (state, target), which takes
        precedence. ``info["stage_rewards"]`` has the value of each.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> def labels(o, a, o_next, info):
    ...     return "right" if o_next[0] > 0.5 else "left" if o_next[0] < -0.5 else ()
    >>> there_and_back = praemia.RewardMachine.from_ltlf("F(right & F left)")
    >>> env = praemia.MachineWrapper(gymnasium.make("CartPole-v1"), labels, there_and_back)
    >>> observation, info = env.reset(seed=0)
    >>> observation["observation"].shape, info["machine_state"] == there_and_back.initial
    ((4,), True)
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        labels: LabelsOfSteps,
        machine: RewardMachine | Sequence[RewardMachine],
        horizon: int | None = None,
        *,
        add_reward: bool = False,
        until_done: bool = False,
        record: RecordTo = None,
        shaping: float | None = None,
        stage_rewards: StageRewards | None = None,
    ) -> None:
        require_env(env)
        machines = as_machines(machine)
        require_whole("horizon", 1 if horizon is None else horizon, 1, MAX_HORIZON, ModelError)
        require_flag("add_reward", add_reward)
        require_flag("until_done", until_done)
        stages = {} if stage_rewards is None else stage_rewards
        _require_stages(stages, machines)
        if add_reward and until_done:
            raise ParameterError("until_done with add_reward: the environment's further rewards are not known")
        if stages and until_done:
            raise ParameterError("until_done with stage_rewards: their further rewards are not known")
        options: dict[str, Any] = {"add_reward": add_reward, "until_done": until_done, "shaping": shaping}
        arguments = {"labels": labels, "machine": machine, "horizon": horizon, "record": record, **options}
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, stage_rewards=stage_rewards, **arguments)
        gymnasium.Wrapper.__init__(self, env)
        self.horizon, self._stage_rewards = horizon, dict(stages)
        self.label = StepLabeller(labels, machines[0], env.observation_space, env.action_space)
        self.machine_view = MachineView(machines, env.observation_space, **options)  # for counterfactual steps
        self.observation_space = self.machine_view.space
        self._recorder = TraceRecorder(record)
        self._rng = np.random.default_rng()
        self._start(None, 0)

    @property
    def machine(self) -> RewardMachine:
        """The machine that is played now."""
        return self.machine_view.machines[self.machine_view.machine_of(self._machine_state)]

    @property
    def machine_state(self) -> int:
        """The index of the machine state."""
        return self._machine_state

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the environment, with the machine in its initial state."""
        self._recorder.end_episode()
        if seed is not None:
            self._rng = np.random.default_rng((require_whole("seed", seed, 0), STREAM))
        observation, info = self.env.reset(seed=seed, options=options)
        number = len(self.machine_view.machines)
        self._start(observation, int(self._rng.integers(number)) if number > 1 else 0)
        return beside(observation, np.int64(self._machine_state)), self._with_machine(info, frozenset())

    def _start(self, observation: Any, machine: int) -> None:
        self._last_observation = copied(observation)
        self._machine_state = self.machine_view.initials[machine]
        self._step, self._is_over = 0, False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a step of the environment; its label moves the machine, which determines the reward."""
        observation, env_reward, terminated, truncated, info = self.env.step(action)
        self._step += 1
        truncated = bool(truncated) or self._step == self.horizon
        env_step = {"reward": float(env_reward), "terminated": bool(terminated), "truncated": truncated}
        if self._is_over:
            label, reward = frozenset[str](), env_step["reward"] if self.machine_view.add_reward else 0.0
            terminated = bool(terminated) or self._machine_state in self.machine_view.done_states
        else:
            step = (self._last_observation, action, observation, info)
            label, before = self.label(*step), self._machine_state
            info = self._with_stage_rewards(step)
            stages = info.get("stage_rewards", {})
            after, reward, shaping, terminated = self.machine_view.step(before, label, env_step, stages, self._rng)
            self._recorder.add(label, reward)
            self._machine_state, reward = after, reward + shaping
        self._last_observation = copied(observation)
        self._is_over |= terminated or truncated
        if self._is_over:
            self._recorder.end_episode()
        info = self._with_machine(info, label) | {"environment": env_step}
        return beside(observation, np.int64(self._machine_state)), reward, terminated, truncated, info

    def close(self) -> None:
        """Close the environment; the steps of an unfinished episode are recorded."""
        self._recorder.end_episode()
        super().close()

    def _with_stage_rewards(self, step: tuple[Any, Any, Any, dict[str, Any]]) -> dict[str, Any]:
        """Return the ``info`` of a step with the value of each stage reward, if there are any."""
        values: dict[Hashable, float] = {}
        for key, function in self._stage_rewards.items():
            value = function(*step)
            if not isinstance(value, Real) or not np.isfinite(float(value)):
                raise ModelError(f"stage_rewards: the function of {key!r} returned {value!r}; expected a number")
            values[key] = float(value)
        return {**step[3], "stage_rewards": values} if values else step[3]

    def _with_machine(self, info: dict[str, Any], label: Label) -> dict[str, Any]:
        view = self.machine_view
        several = {"machine": view.machine_of(self._machine_state)} if len(view.machines) > 1 else {}
        return {**info, "label": tuple(sorted(label)), "machine_state": view.states[self._machine_state], **several}


def _require_stages(stage_rewards: Mapping[Any, Any], machines: Sequence[RewardMachine]) -> None:
    """Refuse stage rewards whose keys are no states or edges of a machine, or whose values are no functions."""
    if not isinstance(stage_rewards, Mapping):
        raise ModelError(f"stage_rewards={stage_rewards!r}; expected functions by states or edges")
    for key, function in stage_rewards.items():
        if not isinstance(key, str) and not (isinstance(key, tuple) and len(key) == 2):
            raise ModelError(f"stage_rewards: found the key {key!r}; expected a state, or an edge (state, target)")
        source = key if isinstance(key, str) else key[0]
        own = [machine for machine in machines if source in machine.index]
        if not own:
            raise unknown_name("machine state", source, [name for machine in machines for name in machine.states])
        targets = {out.target for m in own for outcomes in m.possible_outcomes(source) for out in outcomes}
        if source != key and key[1] not in targets:
            known = ", ".join(map(repr, sorted(targets)))
            raise ModelError(f"stage_rewards: no label leads from {source!r} to {key[1]!r}; it may lead to {known}")
        if not callable(function):
            raise ModelError(f"stage_rewards: {key!r} has {function!r}; expected a function (o, a, o', info) → number")
