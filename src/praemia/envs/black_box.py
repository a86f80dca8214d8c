"""Black boxes: Gymnasium environments whose kernel nobody knows, with labels, a machine and a horizon.

The environment's own reward is not looked at. A labelling function ``labels(o, a, o', info)`` says which propositions a
step makes true; it is given what the environment shows and takes. Learners count numbers: finite spaces are numbered
(``praemia.envs.spaces``), other observations by the user's function ``encode``.

An episode may end before the horizon: the steps that it leaves out pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, TypeAlias

from praemia.envs.encoding import EncodedNumbering
from praemia.envs.recording import RecordTo, TraceRecorder
from praemia.envs.spaces import MAX_SIZE, FiniteNumbering, Numbering, number_space
from praemia.errors import ModelError, require_whole
from praemia.machines.labels import FunctionLabelling, Label, as_label
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_sampler import settled_states
from praemia.tasks.task import MAX_HORIZON, require_discount

if TYPE_CHECKING:
    import gymnasium

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
    until_done : whether an episode ends as soon as the machine can neither pay nor charge any more.

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
    num_observations: int | None = None
    record: RecordTo = None
    discount: float = 1.0
    until_done: bool = False
    observations: Numbering = field(init=False, repr=False)
    actions: FiniteNumbering = field(init=False, repr=False)
    recorder: TraceRecorder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_env(self.env)
        require_machine(self.machine)
        if not callable(self.labels):
            raise ModelError(f"labels={self.labels!r}; expected a function (o, a, o', info) -> propositions")
        require_whole("horizon", self.horizon, 1, MAX_HORIZON, ModelError)
        object.__setattr__(self, "discount", require_discount(self.discount))
        observations = self._number_observations()
        made = {
            "observations": observations,
            "actions": number_space(self.env.action_space, f"{self.name}'s action", FEWER_ACTIONS),
            "recorder": TraceRecorder(self.record),
            "num_observations": observations.size,
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _number_observations(self) -> Numbering:
        if self.encode is None:
            numbered = number_space(self.env.observation_space, f"{self.name}'s observation", ENCODE)
            if self.num_observations not in (None, numbered.size):
                raise ModelError("num_observations= without encode=; it is the limit of what encode may return")
            return numbered
        if not callable(self.encode):
            raise ModelError(f"encode={self.encode!r}; expected a function from an observation to a whole number")
        limit = self.num_observations
        if limit is None:
            limit = getattr(self.encode, "num_observations", None)
        if limit is None:
            raise ModelError("encode= without num_observations=; give the most values that it may have")
        return EncodedNumbering(self.encode, require_whole("num_observations", limit, 1, MAX_SIZE, ModelError))

    def __repr__(self) -> str:
        return f"BlackBox({self.name!r}, {self.machine.num_states} machine states, horizon {self.horizon})"

    @property
    def name(self) -> str:
        return str(self.env.spec.id) if self.env.spec is not None else type(self.env.unwrapped).__name__

    @cached_property
    def done_states(self) -> frozenset[int]:
        """The machine states in which an episode is over: with ``until_done``, where every further reward is 0."""
        return settled_states(self.machine) if self.until_done else frozenset()

    @property
    def num_actions(self) -> int:
        return self.actions.size

    @property
    def is_encoded(self) -> bool:
        """Whether what the environment shows cannot be told from its number: labels are known for steps taken alone."""
        return isinstance(self.observations, EncodedNumbering)

    @property
    def labelling(self) -> FunctionLabelling:
        """The labels of all transitions, for learners that ask about steps not taken; ``info`` is then empty."""

        def label(o: int, a: int, z: int) -> Label:
            try:
                return self.label(self.shown(o), self.actions.element(a), self.shown(z), {})
            except KeyError as missing:
                raise ModelError(
                    f"the label of {self.step_name(o, a, z)} needs info[{missing}], and info is known only for "
                    "steps taken; choose a learner that plans with what it saw, such as ucbvi-prm"
                ) from missing

        return FunctionLabelling(label)

    def label_without_info(self, o: int, a: int, z: int) -> Label | None:
        """Return the label of a step as it is asked for when the step was not taken; None where that fails."""
        try:
            return self.label(self.shown(o), self.actions.element(a), self.shown(z), {})
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

    def renumber(self) -> None:
        """Number encoded observations anew, so that a run depends on its seed alone."""
        if isinstance(self.observations, EncodedNumbering):
            self.observations.forget()

    def relabelled(self, labels: StepLabels, machine: RewardMachine) -> BlackBox:
        """Return the same box, with the same numbers of observations, under other labels and another machine.

        Its episodes do not end with the machine.
        """
        other = copy(self)
        other.__dict__.pop("done_states", None)
        for name, value in {"labels": labels, "machine": machine, "record": None, "until_done": False}.items():
            object.__setattr__(other, name, value)
        return other

    def shown(self, o: int) -> Any:
        """Return what the environment shows for a number."""
        if not isinstance(self.observations, FiniteNumbering):
            raise ModelError("observations are encoded, so labels are known only for steps taken")
        return self.observations.element(o)


def require_env(env: object) -> None:
    """Refuse what is not a Gymnasium environment."""
    import gymnasium

    if not isinstance(env, gymnasium.Env):
        raise ModelError(f"env={env!r}; expected a Gymnasium environment, such as gymnasium.make('FrozenLake-v1')")


def require_machine(machine: object) -> None:
    """Refuse what is not a machine."""
    if not isinstance(machine, RewardMachine):
        raise ModelError(f"machine={machine!r}; expected a RewardMachine, such as RewardMachine.from_ltlf('F item')")


def step_label(labels: StepLabels, machine: RewardMachine, step: tuple[Any, Any, Any], info: dict[str, Any]) -> Label:
    """Ask for the label of a step (o, a, o'), and check it against the machine's propositions."""
    return as_label(labels(*step, info), f"({', '.join(map(brief, step))})", machine.propositions)
