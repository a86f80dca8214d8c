"""Black boxes: Gymnasium environments without a transition model, with labels, a machine and a horizon.

The environment's own reward is ignored. Finite spaces are indexed (``praemia.envs.indexing``), other observations by
the user's function ``encode``. An episode may end before the horizon: the steps that are left have no reward.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from praemia.envs.box_cells import MAX_SIZE
from praemia.envs.indexing import EncodedIndex, FiniteIndex, Index
from praemia.envs.step_labels import LabelsOfSteps, RecordTo, StepLabeller, TraceRecorder, copied
from praemia.errors import EnvironmentFailure, ModelError, PraemiaError, came_from_interrupt, require_whole
from praemia.machines.labels import Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import BaseTask

if TYPE_CHECKING:
    import gymnasium

ENCODE = (
    "give encode=, a function from observations to integers or to anything hashable, with num_observations=, the "
    "maximum number of its values; for a Box, encode=praemia.envs.cells(env.observation_space, bins)"
)
FEWER_ACTIONS = "choose from finitely many actions, for example with gymnasium.wrappers.DiscretizeAction"


@dataclass(frozen=True, eq=False, repr=False)
class BlackBox(BaseTask):
    """A Gymnasium environment to learn in, with the labels, the machine and the horizon of the task.

    Parameters
    ----------
    env : the environment. Finite spaces need nothing more: Discrete, MultiDiscrete, MultiBinary, Tuple, Dict.
    labels : a function (observation, action, next observation, info) → propositions, in the environment's own terms; a
        dictionary from next observations to propositions, or from propositions to functions that return whether they
        hold; ``praemia.labels.predicates``; or the key of ``info`` that holds the propositions. One proposition may be
        given as text.
    encode : a function from an observation to an integer, or to something hashable, which gets an index when it first
        appears in a run; needed for all other observations. Learners that need the labels of untaken steps then raise
        an error.
    num_observations : the maximum number of values of ``encode``. Without ``encode``, the size of the space.
    record : a file or a list; the labels and rewards of every episode are added to it.
    discount : γ; a reward at step h counts γ^h times. If it is below 1, the horizon may be None, as in a ``Task``.
    until_done : whether an episode ends once no further reward, positive or negative, is possible.
    name : by default, that of the environment.
    written : the entry ``gymnasium`` of the task file that the box was loaded from.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> machine = praemia.MachineBuilder("walking").edge("walking", "goal", "there", reward=1).build()
    >>> box = praemia.BlackBox(lake, {15: "goal"}, machine, horizon=20)
    >>> run = praemia.simulate(box, praemia.Headroom(), num_episodes=50)
    >>> len(run.returns)
    50
    """

    env: gymnasium.Env[Any, Any]
    labels: LabelsOfSteps
    machine: RewardMachine
    horizon: int | None
    encode: Callable[[Any], Hashable] | None = None
    num_observations: int = None  # type: ignore[assignment]  # filled in below
    record: RecordTo = None
    discount: float = 1.0
    until_done: bool = False
    name: str = ""
    written: Mapping[str, Any] | None = field(default=None, repr=False)
    max_steps: int = field(init=False)
    label: StepLabeller = field(init=False)  # of a step (o, a, o', info), in the environment's own terms
    observations: Index = field(init=False, repr=False)
    actions: FiniteIndex = field(init=False, repr=False)
    recorder: TraceRecorder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_env(self.env)
        named = str(self.env.spec.id) if self.env.spec is not None else type(self.env.unwrapped).__name__
        self.__dict__.update(name=self.name or named)
        observations = self._index_observations()
        self.__dict__.update(
            observations=observations,
            num_observations=observations.size,
            actions=FiniteIndex(self.env.action_space, f"{self.name}'s action", FEWER_ACTIONS),
        )
        self._complete()
        if self.label.declared is not None:
            self.warn_of_absent(self.label.declared, "has", 4)

    def _complete(self) -> None:
        self._complete_length()
        label = StepLabeller(self.labels, self.machine, self.env.observation_space, self.env.action_space)
        self.__dict__.update(label=label, recorder=TraceRecorder(self.record))

    def _index_observations(self) -> Index:
        if self.encode is None:
            index = FiniteIndex(self.env.observation_space, f"{self.name}'s observation", ENCODE)
            if self.num_observations not in (None, index.size):
                raise ModelError("num_observations= without encode=; it is the limit of what encode may return")
            return index
        if not callable(self.encode):
            raise ModelError(f"encode={self.encode!r}; expected a function from an observation to an integer")
        limit = self.num_observations
        if limit is None:
            limit = getattr(self.encode, "num_observations", None)
        if limit is None:
            raise ModelError("encode= without num_observations=; give the maximum number of its values")
        return EncodedIndex(self.encode, require_whole("num_observations", limit, 1, MAX_SIZE, ModelError))

    @property
    def num_actions(self) -> int:
        return self.actions.size

    @property
    def is_encoded(self) -> bool:
        """Whether an index may stand for several observations; labels are then known only for steps taken."""
        return self.encode is not None

    def for_run(self, codes: Mapping[Hashable, int] | None = None) -> BlackBox:
        """Return the box with its own indices, for one run; ``codes`` are the initial ones."""
        fresh = copy(self)
        fresh.__dict__["observations"] = self.observations.for_run(codes)
        return fresh

    @property
    def labelling(self) -> Labelling:
        """The labels of all transitions, for learners that need those of untaken steps; ``info`` is then empty."""
        return Labelling(function=self._label_without_info)

    def _label_without_info(self, o: int, a: int, z: int) -> Label:
        try:
            return self.label(self.observations.element(o), self.actions.element(a), self.observations.element(z), {})
        except KeyError as missing:
            raise ModelError(
                f"the label of {self.step_name(o, a, z)} needs info[{missing}], and info is known only for "
                "steps taken; choose a learner that plans with what it saw, such as ucbvi-prm"
            ) from missing

    def needs_info(self, o: int, a: int, z: int, label: Label) -> bool:
        """Return whether the label of a step depends on ``info``."""
        try:
            return self._label_without_info(o, a, z) != label
        except Exception:  # the user's function may not be made for this
            return True

    def observe(self, observed: Any) -> tuple[int, Any]:
        """Return the index of an observation, and the observation that labels are computed from."""
        o = self.observations.number(observed)
        return o, copied(observed) if self.is_encoded else self.observations.element(o)

    def shown(self, observed: Any) -> Any:
        """Return the observation that labels are computed from, whether or not it has an index."""
        return copied(observed) if self.is_encoded else self.observe(observed)[1]

    def fail(self, error: Exception, where: str = "") -> NoReturn:
        """Raise an error of the environment, of its labels or of its encoder as one of praemia's."""
        if isinstance(error, PraemiaError) or came_from_interrupt(error):
            raise error
        raise EnvironmentFailure(f"{self.name!r} failed{where}: {type(error).__name__}: {error}") from error

    def step_name(self, o: int, a: int, z: int) -> str:
        """Return a step (o, a, o') as text, with the names of its parts."""
        return f"({self.observations.name(o)}, {self.actions.name(a)}, {self.observations.name(z)})"


def require_env(env: object) -> None:
    """Refuse what is not a Gymnasium environment."""
    import gymnasium

    if not isinstance(env, gymnasium.Env):
        raise ModelError(f"env={env!r}; expected a Gymnasium environment, such as gymnasium.make('FrozenLake-v1')")
