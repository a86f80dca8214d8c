"""Black boxes: Gymnasium environments whose kernel is not known, with labels, a machine and a horizon.

The environment's own reward is not looked at. A labelling function ``labels(o, a, o', info)`` says which propositions a
step makes true; it is given what the environment shows and takes. Learners count numbers: finite spaces are numbered
(``praemia.envs.numbering``), other observations by the user's function ``encode``.

An episode may end before the horizon: the steps that it leaves out pay nothing.

What is played can be recorded, to infer machines from. An episode is one line of JSON, ``[[["item"], 0.0], [[], 1.0],
…]``: for each step the sorted names of its label, and what it paid.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, TypeAlias

from praemia.envs.numbering import MAX_SIZE, EncodedNumbering, FiniteNumbering, Numbering, number_space
from praemia.errors import FileError, ModelError, ParameterError, require_flag, require_whole
from praemia.machines.labels import Label, Labelling, as_label
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import MAX_HORIZON, require_discount, require_machine
from praemia.text_tables import plural

if TYPE_CHECKING:
    import gymnasium

RecordTo: TypeAlias = str | Path | list[Any] | None


class TraceRecorder:
    """Collect the steps of an episode, and add the episode to a list or, as a line, to a file.

    Parameters
    ----------
    record : a list, the path of a file that is made or added to, or None to record nothing.
    """

    def __init__(self, record: RecordTo) -> None:
        if record is not None and not isinstance(record, str | Path | list):
            raise ParameterError(f"record={record!r}; expected the path of a file, or a list")
        if isinstance(record, str | Path) and not Path(record).absolute().parent.is_dir():
            raise FileError(f"{record}: its folder does not exist; make it first")
        self.record = record
        self._steps: list[list[Any]] = []

    def add(self, label: Label, reward: float) -> None:
        """Note a step."""
        if self.record is not None:
            self._steps.append([sorted(label), float(reward)])

    def end_episode(self) -> None:
        """Keep the steps noted since the last episode, if there are any."""
        episode, self._steps = self._steps, []
        if not episode or self.record is None:
            return
        if isinstance(self.record, list):
            self.record.append(episode)
            return
        try:
            # One write per line: processes may share the file.
            with open(self.record, "a", encoding="utf-8") as file:
                file.write(json.dumps(episode) + "\n")
        except OSError as error:
            raise FileError(f"{self.record}: cannot be written: {error.strerror}") from None


StepLabels: TypeAlias = Callable[[Any, Any, Any, dict[str, Any]], Iterable[str]]

ENCODE = (
    "give encode=, a function from observations to whole numbers or to anything hashable, with num_observations=, "
    "the most values that it may have; for a Box, encode=praemia.envs.cells(env.observation_space, bins)"
)
FEWER_ACTIONS = "choose from finitely many actions, for example with gymnasium.wrappers.DiscretizeAction"


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A Gymnasium environment to learn in, with the labels, the machine and the horizon of the task.

    Parameters
    ----------
    env : the environment. Finite spaces are numbered by themselves: Discrete, MultiDiscrete, MultiBinary, Tuple, Dict.
    labels : a function (observation, action, next observation, info) → propositions, in the environment's own terms.
    encode : a function from an observation to a whole number, or to something hashable, which is then numbered when it
        first appears in a run; needed for all other observations. Learners that ask about steps not taken are refused.
    num_observations : the most values that ``encode`` may have. Without ``encode``, the size of the space.
    record : a file or a list; the labels and rewards of every episode are added to it.
    discount : γ; a reward at step h counts γ^h times.
    until_done : whether an episode ends once no further reward, positive or negative, is possible.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> def labels(o, a, o_next, info):
    ...     return {"goal"} if o_next == 15 else set()
    >>> machine = praemia.MachineBuilder("walking").edge("walking", "goal", "there", reward=1).build()
    >>> box = praemia.BlackBox(lake, labels, machine, horizon=20)
    >>> run = praemia.simulate(box, praemia.Headroom(), num_episodes=50)
    >>> len(run.returns)
    50
    """

    env: gymnasium.Env[Any, Any]
    labels: StepLabels
    machine: RewardMachine
    horizon: int
    encode: Callable[[Any], Hashable] | None = None
    num_observations: int = None  # type: ignore[assignment]  # filled in below
    record: RecordTo = None
    discount: float = 1.0
    until_done: bool = False
    observations: Numbering = field(init=False, repr=False)
    actions: FiniteNumbering = field(init=False, repr=False)
    recorder: TraceRecorder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_parts(self.env, self.labels, self.machine, self.horizon)
        object.__setattr__(self, "discount", require_discount(self.discount))
        require_flag("until_done", self.until_done, ModelError)
        observations = self._number_observations()
        derived = {
            "observations": observations,
            "actions": number_space(self.env.action_space, f"{self.name}'s action", FEWER_ACTIONS),
            "recorder": TraceRecorder(self.record),
            "num_observations": observations.size,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def _number_observations(self) -> Numbering:
        if self.encode is None:
            numbering = number_space(self.env.observation_space, f"{self.name}'s observation", ENCODE)
            if self.num_observations not in (None, numbering.size):
                raise ModelError("num_observations= without encode=; it is the limit of what encode may return")
            return numbering
        if not callable(self.encode):
            raise ModelError(f"encode={self.encode!r}; expected a function from an observation to a whole number")
        own = getattr(self.encode, "num_observations", None)
        limit = own if self.num_observations is None else self.num_observations
        if limit is None:
            raise ModelError("encode= without num_observations=; give the most values that it may have")
        return EncodedNumbering(self.encode, require_whole("num_observations", limit, 1, MAX_SIZE, ModelError))

    def __repr__(self) -> str:
        return f"BlackBox({self.name!r}, {plural(self.machine.num_states, 'machine state')}, horizon {self.horizon})"

    @property
    def name(self) -> str:
        return str(self.env.spec.id) if self.env.spec is not None else type(self.env.unwrapped).__name__

    @cached_property
    def done_states(self) -> frozenset[int]:
        """The machine states in which an episode is over: with ``until_done``, where every further reward is 0."""
        return self.machine.settled_states if self.until_done else frozenset()

    @property
    def num_actions(self) -> int:
        return self.actions.size

    @property
    def is_encoded(self) -> bool:
        """Whether what the environment shows cannot be told from its number: labels are known for steps taken alone."""
        return isinstance(self.observations, EncodedNumbering)

    @property
    def labelling(self) -> Labelling:
        """The labels of all transitions, for learners that ask about steps not taken; ``info`` is then empty."""

        def label(o: int, a: int, z: int) -> Label:
            try:
                step = self.observations.element(o), self.actions.element(a), self.observations.element(z)
                return self.label(*step, {})
            except KeyError as missing:
                raise ModelError(
                    f"the label of {self.step_name(o, a, z)} needs info[{missing}], and info is known only for "
                    "steps taken; choose a learner that plans with what it saw, such as ucbvi-prm"
                ) from missing

        return Labelling(function=label)

    def label_without_info(self, o: int, a: int, z: int) -> Label | None:
        """Return the label of a step as it is asked for when the step was not taken; None where that fails."""
        try:
            function = self.labelling.function
            return None if function is None else frozenset(function(o, a, z))
        except Exception:  # the user's function, asked for what it may not be made for
            return None

    def observe(self, observed: Any) -> tuple[int, Any]:
        """Return the number of what the environment showed, and what labels are given of it.

        That is never the environment's own array, which the next step may overwrite.
        """
        o = self.observations.number(observed)
        return o, self.observations.element(o) if isinstance(self.observations, FiniteNumbering) else deepcopy(observed)

    def label(self, o: Any, a: Any, z: Any, info: dict[str, Any]) -> Label:
        """Return the label of a step, in the environment's own terms, checked against the machine's propositions."""
        return step_label(self.labels, self.machine, (o, a, z), info)

    def step_name(self, o: int, a: int, z: int) -> str:
        """Write a step (o, a, o') with the names of its parts."""
        return f"({self.observations.name(o)}, {self.actions.name(a)}, {self.observations.name(z)})"

    def record_episode(self, labels: Iterable[Label], rewards: Iterable[float]) -> None:
        """Record the labels and rewards of an episode, if that is wanted."""
        if self.record is not None:
            for label, reward in zip(labels, rewards, strict=True):
                self.recorder.add(label, reward)
            self.recorder.end_episode()

    def relabelled(self, labels: StepLabels, machine: RewardMachine) -> BlackBox:
        """Return the same box, with the same numbers of observations, under other labels and another machine.

        Its episodes do not end with the machine, and nothing is discounted.
        """
        other = copy(self)
        other.__dict__.pop("done_states", None)
        changes = {"labels": labels, "machine": machine, "record": None, "until_done": False, "discount": 1.0}
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        return other


def require_env(env: object) -> None:
    """Refuse what is not a Gymnasium environment."""
    import gymnasium

    if not isinstance(env, gymnasium.Env):
        raise ModelError(f"env={env!r}; expected a Gymnasium environment, such as gymnasium.make('FrozenLake-v1')")


def require_parts(env: object, labels: object, machine: object, horizon: object) -> None:
    """Refuse parts of a wrapped environment that are not what they should be."""
    require_env(env)
    require_machine(machine)
    if not callable(labels):
        raise ModelError(f"labels={labels!r}; expected a function (o, a, o', info) -> propositions")
    require_whole("horizon", horizon, 1, MAX_HORIZON, ModelError)


def step_label(labels: StepLabels, machine: RewardMachine, step: tuple[Any, Any, Any], info: dict[str, Any]) -> Label:
    """Ask for the label of a step (o, a, o'), and check it against the machine's propositions."""
    return as_label(labels(*step, info), f"the label of ({', '.join(map(brief, step))})", machine.propositions)
