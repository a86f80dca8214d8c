"""Black boxes: Gymnasium environments whose kernel nobody knows, with labels, a machine and a horizon.

The environment has Discrete observations 0 … O−1 and Discrete actions; its own reward is not looked at. A labelling
function ``labels(o, a, o', info)`` says which propositions a step makes true.

An episode may end before the horizon. Ending in o' is taken as moving to the observation O + o', which is absorbing
and in which machines halt, so that a learner meets 2·O observations and needs to know nothing about endings. (The ended
observations are kept apart by o' because the label of the last step may depend on it.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from praemia.errors import ModelError, did_you_mean, require_whole
from praemia.models.labels import AFTER_THE_END, FunctionLabelling, Label, as_label
from praemia.models.machine import RewardMachine
from praemia.models.task import MAX_HORIZON

if TYPE_CHECKING:
    import gymnasium

StepLabels: TypeAlias = Callable[[int, int, int, dict[str, Any]], Iterable[str]]


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A Gymnasium environment to learn in, with the labels, the machine and the horizon of the task.

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

    def __post_init__(self) -> None:
        for kind, space in (("observation", self.env.observation_space), ("action", self.env.action_space)):
            if type(space).__name__ != "Discrete":
                raise ModelError(f"the environment's {kind} space is {space}; expected Discrete(n)")
            if getattr(space, "start", 0) != 0:
                raise ModelError(f"the environment's {kind} space is {space}; expected Discrete(n) that starts at 0")
        if not callable(self.labels):
            raise ModelError(f"labels={self.labels!r}; expected a function (o, a, o', info) -> propositions")
        require_whole("horizon", self.horizon, 1, MAX_HORIZON, ModelError)

    def __repr__(self) -> str:
        return f"BlackBox({self.name!r}, {self.machine.num_states} machine states, horizon {self.horizon})"

    @property
    def name(self) -> str:
        return str(self.env.spec.id) if self.env.spec is not None else type(self.env.unwrapped).__name__

    @property
    def num_env_observations(self) -> int:
        return int(self.env.observation_space.n)  # type: ignore[attr-defined]

    @property
    def num_observations(self) -> int:
        """Twice the environment's: each also as the place where an episode has ended."""
        return 2 * self.num_env_observations

    @property
    def num_actions(self) -> int:
        return int(self.env.action_space.n)  # type: ignore[attr-defined]

    @property
    def labelling(self) -> FunctionLabelling:
        """The labels of all transitions, for learners that ask about steps not taken; ``info`` is then empty."""
        size = self.num_env_observations

        def label(o: int, a: int, z: int) -> Label:
            if o >= size:
                return AFTER_THE_END
            try:
                return self.label(o, a, z % size, {})
            except KeyError as missing:
                raise ModelError(
                    f"the label of ({o}, {a}, {z % size}) needs info[{missing}], and info is known only for steps "
                    "taken; choose a learner that plans with what it saw, such as ucbvi-prm"
                ) from missing

        return FunctionLabelling(label)

    def label_without_info(self, o: int, a: int, z: int) -> Label | None:
        """Return the label of a step as it is asked for when the step was not taken; None where that fails."""
        try:
            return self.label(o, a, z, {})
        except Exception:  # the user's function, asked for what it may not be made for
            return None

    def observation(self, observed: Any) -> int:
        """Return what the environment showed, checked against its space."""
        if not 0 <= (o := int(observed)) < self.num_env_observations:
            raise ModelError(f"the environment showed {observed!r}, outside its space {self.env.observation_space}")
        return o

    def label(self, o: int, a: int, z: int, info: dict[str, Any]) -> Label:
        """Return the label of a step, checked against the machine's propositions."""
        label = as_label(self.labels(o, a, z, info), f"({o}, {a}, {z})")
        for name in label.difference(self.machine.propositions):
            raise ModelError(
                f"the label of ({o}, {a}, {z}) has the proposition {name!r}, which is not one of the machine's"
                f"{did_you_mean(name, self.machine.propositions)}"
            )
        return label
