"""The interface of a learner: parameters, and one function that makes a plan from experience.

A learner never acts, counts or decides when to plan again: the simulator does, once for all learners. It is given an
``Experience`` and its previous plan, and returns the next one. Learners are frozen, so one object serves any number of
runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, unknown_name
from praemia.kernels.records import CountArrays
from praemia.learners.replanning import AT_ONCE, BETWEEN_EPISODES, EVERYBODYS, REPAIR, STEP, ReplanRule
from praemia.limits import require_memory
from praemia.tasks.spec import TaskSpec, read_only
from praemia.tasks.task import Task

VIEWS = ("observations", "product")


@dataclass(frozen=True, kw_only=True, eq=False)
class CountLayout:
    """How a learner's counts are laid out, and what is counted beside visits and successors.

    A learner that plans in Python has this one, a compiled plan that of its rule (``praemia.learners.rules``).
    """

    variance_of: str = "Y"  # "W": continuation rows hold W alone; a label that pays and moves nothing has none
    limit: str = "steps left"  # "labels": the labels that can follow a pair are asked for
    unseen: bool = False  # continuation rows are those of every (o, a, o'), seen or not
    repairs: bool = False  # what leads where is kept
    counts_steps: bool = False  # visits are counted by step too, even if the learner does not ask for it


@dataclass(frozen=True, eq=False)
class Recent:
    """The transitions of the last episode so far, for learners that learn from steps and not from counts.

    Attributes
    ----------
    steps : int64[n, 6], the rows (o, a, o', label, m, m'); rewards : float64[n]. Where a transition
        ended the episode, the last row has O + o' in place of o'; where the machine is done, n may be less than H too.
    """

    steps: NDArray[np.int64]
    rewards: NDArray[np.float64]


class Transitions(NamedTuple):
    """The distinct transitions seen, one per row, and how often each occurred. All arrays have the same length."""

    observations: NDArray[np.int64]
    actions: NDArray[np.int64]
    successors: NDArray[np.int64]
    labels: NDArray[np.int64]  # indices into ``spec.label_sets``
    ends: NDArray[np.bool_]  # whether the episode was over then
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Experience:
    """All that a learner may look at when it plans. Its arrays are read-only, and valid until ``plan`` returns.

    Attributes
    ----------
    spec : what is known of the task. For a learner that sees the product: the spec of the product task.
    num_episodes : K, the number of episodes in the run; episodes_played : those played so far.
    truth : the task itself, for ``privileged`` learners only.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> import praemia
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Watcher(praemia.Learner):
    ...     name: ClassVar[str] = "watcher"
    ...     def plan(self, experience, previous, rng):
    ...         print(experience.episodes_played, experience.visits.sum())
    ...         spec = experience.spec
    ...         shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
    ...         return praemia.LearnerPlan(np.zeros(shape, dtype=int))
    >>> run = praemia.simulate(praemia.envs.riverswim(), Watcher(replan="episode"), num_episodes=3)
    0 0
    1 10
    2 20
    """

    spec: TaskSpec
    num_episodes: int
    episodes_played: int
    count_arrays: CountArrays = field(repr=False)
    truth: Task | None = None
    layout: CountLayout = field(default_factory=CountLayout, repr=False)

    @property
    def num_steps(self) -> int:
        """T = K · H."""
        return self.num_episodes * self.spec.horizon

    @cached_property
    def recent(self) -> Recent | None:
        """The last episode, as far as it was played, for learners with ``uses_recent``; None before the first."""
        kept = self.count_arrays.recent[: self.count_arrays.totals[0]["recent"]]
        if not len(kept):
            return None
        columns = [kept[name] for name in ("o", "a", "target", "label", "m", "m_next")]
        return Recent(np.stack(columns, axis=1, dtype=np.int64), kept["reward"].copy())

    @property
    def visits(self) -> NDArray[np.int64]:
        """int64[O, A], how often each action was taken in each observation: N(o, a)."""
        visits = self.count_arrays.pairs["visits"]
        return read_only(visits.reshape(self.spec.num_observations, self.spec.num_actions))

    @cached_property
    def transitions(self) -> Transitions:
        """The distinct transitions seen, pair by pair. Its size depends on what was seen, not on the task."""
        pairs, num_actions = self.count_arrays.pairs, self.spec.num_actions
        visited = np.flatnonzero(pairs["visits"])
        lengths = pairs["distinct"][visited].astype(np.int64)
        owner = np.repeat(visited, lengths)
        offsets = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        seen = self.count_arrays.successors[pairs["first"][owner] + offsets]
        ends, successors = np.divmod(seen["target"].astype(np.int64), self.spec.num_observations)
        label, count = (seen[name].astype(np.int64) for name in ("label", "count"))
        columns = (owner // num_actions, owner % num_actions, successors, label, ends > 0, count)
        return Transitions(*map(read_only, columns))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """int64[O, A, O], how often each transition was seen: N(o, a, o')."""
        shape = (self.spec.num_observations, self.spec.num_actions, self.spec.num_observations)
        require_memory(16 * shape[0] * shape[1] * shape[2], "a count for every (o, a, o'); use experience.transitions")
        dense, seen = np.zeros(shape, dtype=np.int64), self.transitions
        # A black box may label one (o, a, o') in several ways; they are added up.
        np.add.at(dense, (seen.observations, seen.actions, seen.successors), seen.counts)
        return read_only(dense)

    @cached_property
    def estimated_probs(self) -> NDArray[np.float64]:
        """float64[O, A, O], p̂(o'|o, a) = N(o, a, o')/N(o, a); 0 where a pair was never visited."""
        return read_only(self.counts / np.maximum(1, self.visits)[..., None])

    @property
    def step_visits(self) -> NDArray[np.int32]:
        """int32[H + 1, O], how often each observation was met at each step, for learners with ``uses_steps``."""
        return read_only(self.count_arrays.steps)

    @property
    def met(self) -> NDArray[np.int32]:
        """The observations met so far, in the order of their first visits."""
        return read_only(self.count_arrays.states["ith_met"][: self.count_arrays.totals[0]["states"]])


@dataclass(frozen=True, eq=False)
class LearnerPlan:
    """A plan: what to do until the next one.

    Attributes
    ----------
    policy : the action at each step, machine state and observation, whole numbers [H, M, O], or the probability of
        each action, [H, M, O, A]. (Of a learner that sees the product: M = 1, and O counts the product's states.)
    values : float64[M, O], the learner's own V_0, where it has one; an upper bound if the learner is optimistic.
    memory : anything that the learner wants back when it plans next.

    Examples
    --------
    >>> import numpy as np
    >>> import praemia
    >>> plan = praemia.LearnerPlan(np.zeros((10, 2, 5), dtype=int))  # the first action, whatever happens
    >>> plan.policy[3, 0, 4]
    np.int64(0)
    """

    policy: NDArray[Any]
    values: NDArray[np.float64] | None = None
    memory: Any = None


def replan_parameter(default: str) -> Any:
    """Declare when a learner plans again."""
    own = f"{REPAIR}, " if default == REPAIR else ""
    rules = f"{own}{', '.join(BETWEEN_EPISODES)} (append {AT_ONCE} to replan within episodes), or {STEP}"
    return field(default=default, metadata={"help": f"when to plan again: one of {rules}"})


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """The base of all learners. Fields are the parameters; class variables say what it is and what it needs.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> import praemia
    >>> @dataclass(frozen=True, kw_only=True)
    ... class FirstAction(praemia.Learner):
    ...     name: ClassVar[str] = "first-action"
    ...     def plan(self, experience, previous, rng):
    ...         spec = experience.spec
    ...         shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
    ...         return praemia.LearnerPlan(np.zeros(shape, dtype=int))
    >>> praemia.simulate(praemia.envs.make("warehouse-3"), FirstAction(), num_episodes=10).learner
    'first-action'
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    reference: ClassVar[str] = "—"
    # One class may be several learners: their names, each with the parameters that the name fixes.
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    sees: ClassVar[str] = "observations"  # or "product": plays the product task, whose observations are o · M + m
    uses_steps: ClassVar[bool] = False  # reads ``experience.step_visits``
    uses_recent: ClassVar[bool] = False  # reads ``experience.recent``
    privileged: ClassVar[bool] = False  # is told the task
    has_estimate: ClassVar[bool] = False  # plans with p̂: the learned policy of a run is then the best one in p̂
    optimistic: ClassVar[bool] = False  # V_0 bounds the optimum from above at the theoretical constants
    # Parameters of learners that can learn the machine (``praemia.learners.learned_machine``); the others know it.
    learn_machine = False
    moves_known = False
    replan_rules: ClassVar[tuple[str, ...]] = EVERYBODYS  # what ``replan`` may be

    replan: str = replan_parameter("doubling")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls) and "variants" not in vars(cls):
            cls.variants = {}  # a class with a name of its own is not one of its base's learners

    def __post_init__(self) -> None:
        if self.replan not in self.replan_rules:
            raise unknown_name("replan rule", self.replan, self.replan_rules)
        if self.sees not in VIEWS:
            raise unknown_name("view", self.sees, VIEWS)
        for item in fields(self):
            if "range" in item.metadata:
                _require_range(item.name, getattr(self, item.name), *item.metadata["range"])
        for name, fixed in self.variants.items():
            if all(getattr(self, key) == value for key, value in fixed.items()):
                object.__setattr__(self, "name", name)  # a run is recorded under the name that ``make`` knows

    @abstractmethod
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        """Make the next plan. Draw all random numbers from ``rng``, which belongs to the run."""

    def layout(self, spec: TaskSpec, num_episodes: int) -> CountLayout:
        """Return how what this learner plans from is counted."""
        return CountLayout()

    @property
    def replan_rule(self) -> ReplanRule:
        """When to plan again, as ``replan`` says it."""
        return ReplanRule.of(self.replan)

    @property
    def random_share(self) -> float:
        """How often an action is drawn at random instead of the plan's: ε. Values are those of the plans."""
        return 0.0

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as plain data; those that the learner's name fixes are left out."""
        fixed = self.variants.get(self.name, {})
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in fixed}


def _require_range(name: str, value: object, low: float, high: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not low <= value <= high:  # type: ignore[operator]
        raise ParameterError(f"{name}={value!r}; expected a number from {low:g} to {high:g}")


LARGEST = 1e9  # far above any sensible parameter, far below where squares and products of them overflow


def parameter(default: Any, help: str, low: float, high: float = LARGEST) -> Any:
    """Declare a numeric parameter of a learner with its range and a line of help.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import praemia
    >>> from praemia.learners import parameter
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Mine(praemia.Random):
    ...     bonus_scale: float = parameter(0.1, "multiplies the bonus", 0.0, 10.0)
    >>> try:
    ...     Mine(bonus_scale=20.0)
    ... except praemia.PraemiaError:
    ...     print("refused")
    refused
    """
    return field(default=default, metadata={"help": help, "range": (low, high)})


TINY = 1e-12


def failure_prob_parameter() -> Any:
    """Declare ρ, the probability that a learner's confidence bounds fail."""
    return parameter(0.05, "ρ: the probability that the confidence bounds fail", TINY, 1.0 - TINY)


def bonus_scale_parameter(default: float) -> Any:
    """Declare the exploration coefficient; 1 is the theory's."""
    return parameter(default, "the exploration coefficient: multiplies the bonus; 1 is the theory's", 0.0)
