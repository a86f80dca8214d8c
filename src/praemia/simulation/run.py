"""The record of one run: what was played, what it was worth exactly, and what it takes to repeat it.

As a file it is a zip of plain arrays with a JSON header, read without pickle. Equal runs give equal bytes: how long a
run took is not in them.

A run draws from two independent streams of random numbers, one for the world and one for the learner, both made from
its seed alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.displayed import Displayed
from praemia._support.text_tables import number, plural
from praemia.errors import FileError, ParameterError, PraemiaError, visible
from praemia.files.arrays import ArchiveKind, ArrayType, DamageError
from praemia.files.atomic_io import read_bytes, write_whole
from praemia.policies.policy import Policy

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset
    from praemia.learners.base import Learner
    from praemia.pictures.drawing import Drawing

Seed: TypeAlias = int | Sequence[int]

# Increased when a seed gives another run than before: such runs are never mixed. 4: the world's numbers and those that
# break ties come from new streams.
RNG_REVISION = 4

SLACK = 1e-9  # of a value, by which rounding may exceed the optimum

FILE = ArchiveKind(
    "praemia run",
    "a run",
    4,
    fields={
        **dict.fromkeys(("task", "learner", "title", "task_text", "origin"), (str,)),
        **dict.fromkeys(("num_episodes", "streams"), (int,)),
        **dict.fromkeys(("parameters", "versions"), (dict,)),
        "seed": (list,),
        "optimal_value": (float, type(None)),
        "discount": (float,),
        "until_done": (bool,),
        "step_budget": (int, type(None)),
        "test_every": (int, type(None)),
        "policy_parts": (dict, type(None)),
        "data_episodes": (int,),
    },
    arrays={
        **dict.fromkeys(("plan_episodes", "steps"), ArrayType("i")),
        **dict.fromkeys(("plan_values", "optimistic_values", "returns"), ArrayType("f")),
        **dict.fromkeys(("final_policy", "policy"), ArrayType("iuf", (3, 4), is_optional=True)),
        "policy_met": ArrayType("b", is_optional=True),
        "counts": ArrayType("u", is_optional=True),
        "mapped_gaps": ArrayType("f", is_optional=True),
        "path_losses": ArrayType("f", is_optional=True),
        "tests": ArrayType("f", (2,), is_optional=True),
    },
)


@dataclass(frozen=True, eq=False)
class Run(Displayed):
    """One learner on one task.

    If a learner keeps its policy for whole episodes, the exact regret is piecewise linear, and one value per plan
    determines it. If it plans within episodes, its regret is pathwise: the sum of γ^h [V*_h(s_h) − Q*_h(s_h, a_h)] over
    the steps taken, an unbiased estimate of the expected regret. The plans are then those that episodes started with.

    Attributes
    ----------
    task, learner, parameters, seed, num_episodes : of the run. step_budget : the number of steps requested, None if
        ``num_episodes`` was. until_done : whether episodes ended when the machine was done.
    optimal_value : V*(start); None on a black box, where it is not known.
    plan_episodes : int64[E], the first episode of each plan; plan_values : float64[E], the exact value of its policy.
    optimistic_values : float64[E], the learner's V_k(start); NaN if it computes none.
    returns : float64[K], the sampled return of each episode. steps : int64[K], how many steps it took: H, unless it
        ended before.
    final_policy : the last policy played, [H, M, O] or [H, M, O, A], in the run's own indices; None in a run that was
        stored without it.
    policy : the one to use, a ``Policy``: the best in the learner's estimate of the task, without a bonus; the last
        policy played where there is no estimate or the machine is learned (``World.learned_policy``).
    seconds : the time it took, without compiling; NaN if not recorded, as in a file.
    versions : of the packages that can change a result; rng_revision : of the random streams.
    title : the learner's name in tables and figures. task_text : the task as the text of a task file, where known.
    origin : where a learner from outside is defined, with a digest of its file; "" for this package's learners.
    path_losses : float64[K], the pathwise loss of each episode; None if the regret is exact (``is_pathwise``).
    mapped_gaps : float64[E], the loss per episode of each plan, subtracted where rewards lie in [0, 1] and then scaled;
        None for rewards that lie there anyway. Values in the user's units are rounded, and their differences with them.
    data_episodes : the episodes of the data that the run began with (``simulate(data=…)``).
    discount : the task's; values, returns and regret are discounted.
    tests : float64[n, 4], None unless ``test_every`` was given: the number of steps after which the last plan and the
        learned policy were tested against an optimal one by sampled episodes (``praemia.simulation.sampled_tests``),
        both p-values, and the exact value of the learned policy.

    Examples
    --------
    >>> import praemia
    >>> run = praemia.simulate(praemia.envs.riverswim(), praemia.Optimal(), num_episodes=20)
    >>> run.save("run.npz")
    >>> praemia.Run.load("run.npz").learner
    'optimal'
    """

    task: str
    learner: str
    parameters: dict[str, Any]
    seed: tuple[int, ...]
    num_episodes: int
    optimal_value: float | None
    plan_episodes: NDArray[np.int64]
    plan_values: NDArray[np.float64]
    optimistic_values: NDArray[np.float64]
    returns: NDArray[np.float64]
    steps: NDArray[np.int64]
    final_policy: NDArray[Any] | None = None
    policy: Policy | None = None
    seconds: float = math.nan
    versions: dict[str, str] = field(default_factory=dict)
    rng_revision: int = RNG_REVISION
    title: str = ""
    task_text: str = ""
    origin: str = ""
    mapped_gaps: NDArray[np.float64] | None = None
    discount: float = 1.0
    until_done: bool = False
    step_budget: int | None = None
    path_losses: NDArray[np.float64] | None = None
    test_every: int | None = None
    tests: NDArray[np.float64] | None = None
    data_episodes: int = 0
    _counted: Callable[[], Dataset] | None = field(default=None, repr=False)
    _player: Learner | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.learner)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_counted": None, "_player": None}

    @cached_property
    def dataset(self) -> Dataset:
        """The data of the run, including any that it began with; ``simulate(…, data=…)`` continues from it."""
        if self._counted is None:
            raise PraemiaError(
                f"the counts of this run on {self.task} were not kept: a file holds those of black boxes alone; save "
                "run.dataset beside it"
            )
        return self._counted()

    @property
    def num_plans(self) -> int:
        return len(self.plan_episodes)

    @property
    def is_pathwise(self) -> bool:
        """Whether the regret is pathwise: that of the actions taken, not of the policies."""
        return self.path_losses is not None

    @property
    def plan_gaps(self) -> NDArray[np.float64]:
        """float64[E], the exact loss per episode of each plan; rounding errors below 0 count as 0."""
        if self.optimal_value is None:
            raise PraemiaError(f"the regret on {self.task} is not known: it is a black box; look at the returns")
        gaps = self.optimal_value - self.plan_values if self.mapped_gaps is None else self.mapped_gaps
        return np.maximum(0.0, gaps)

    @property
    def plan_lengths(self) -> NDArray[np.int64]:
        """int64[E], the number of episodes each plan was played."""
        return np.diff(np.append(self.plan_episodes, self.num_episodes))

    @property
    def policy_values(self) -> NDArray[np.float64]:
        """float64[K], the exact value of the policy played in each episode."""
        return np.repeat(self.plan_values, self.plan_lengths)

    @property
    def regret(self) -> NDArray[np.float64]:
        """float64[K], the cumulative regret after each episode: exact, or along the paths taken (``is_pathwise``)."""
        if self.path_losses is not None:
            return np.cumsum(self.path_losses)
        gaps, lengths = self.plan_gaps, self.plan_lengths
        before = np.concatenate(([0.0], np.cumsum(gaps * lengths)[:-1]))
        within = np.arange(1, self.num_episodes + 1) - np.repeat(self.plan_episodes, lengths)
        return np.repeat(before, lengths) + np.repeat(gaps, lengths) * within

    def save(self, path: str | Path) -> None:
        """Write the run to a file (.npz), completely or not at all."""
        write_whole(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Read a run from a file; raise a FileError if it is damaged or of another kind."""
        return cls.from_bytes(read_bytes(Path(path)), str(path))

    def to_bytes(self) -> bytes:
        """Return the run as the bytes of its file."""
        policy, parts = self.policy, dict[str, Any](policy=None, policy_met=None, policy_parts=None)
        parts["counts"] = self._counts if self.optimal_value is None else None
        if policy is not None:  # a task is known by its text, and with it the machine
            data = policy.as_data(with_machine=self.optimal_value is None)
            parts |= {"policy": policy.table, "policy_met": policy.met, "policy_parts": data}
        return FILE.pack({**vars(self), **parts, "streams": self.rng_revision}, _plain)

    @property
    def _counts(self) -> NDArray[np.uint8] | None:
        """The data of the run as bytes, which its picture in a black box is made of; None where there is none."""
        try:
            return np.frombuffer(self.dataset.to_bytes(), dtype=np.uint8)
        except PraemiaError:
            return None

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Run:
        """Read a run from the bytes of its file; ``where`` names the place in messages."""
        with FILE.unpack(data, where) as values:
            revision = values.pop("streams")
            if revision != RNG_REVISION:
                made_with = values["versions"].get("praemia", "another version")
                raise FileError(
                    f"{where}: a run of praemia {made_with}, with random streams {revision}; this version has "
                    f"streams {RNG_REVISION}, which give other runs: play it again, or read it with praemia {made_with}"
                )
            parts, table, met = (values.pop(name) for name in ("policy_parts", "policy", "policy_met"))
            policy = None if parts is None else Policy.from_data(parts, table, met)
            counts = values.pop("counts")
            counted = None if counts is None else partial(_dataset, counts.tobytes(), where)
            values |= {"seed": seed_key(values["seed"]), "policy": policy}
            run = cls(**values, rng_revision=revision, _counted=counted)
            for is_damaged, what in _damages(run):
                if is_damaged:
                    raise DamageError(what)
            return run

    def plot(self) -> Drawing:
        """Plot the regret over episodes, on a black box a moving mean of the returns."""
        from praemia.report.figures import run_figure

        return run_figure(self)

    def __repr__(self) -> str:
        known = self.optimal_value is not None
        kind = "pathwise regret" if self.is_pathwise else "regret"
        result = f"{kind} {number(self.regret[-1])}" if known else f"mean return {number(self.returns.mean())}"
        time = "" if math.isnan(self.seconds) else f", {number(self.seconds)} s"
        length = f"{plural(self.num_episodes, 'episode')}, {plural(self.num_plans, 'plan')}"
        return visible(f"Run({self.learner} on {self.task}: {length}, {result}{time})")


def _plain(value: object) -> object:
    """Return a number or an array of NumPy's as plain data."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise ParameterError(f"a run with the parameter value {value!r} cannot be saved; expected numbers, text or lists")


def _dataset(data: bytes, where: str) -> Dataset:
    from praemia.exploration.dataset import Dataset

    return Dataset.from_bytes(data, where)


def _damages(run: Run) -> Iterator[tuple[bool | np.bool_, str]]:
    """Yield what may be wrong with a run from a file, which anybody may have written, and whether it is.

    Each takes what comes before for granted.
    """
    gaps = run.plan_values if run.mapped_gaps is None else run.mapped_gaps
    per_plan, starts = (run.plan_episodes, run.plan_values, run.optimistic_values, gaps), run.plan_episodes
    per_episode = [run.returns, run.steps, *([] if run.path_losses is None else [run.path_losses])]
    lengths = {len(array) for array in per_plan}, {len(array) for array in per_episode}
    yield len(lengths[0]) != 1 or lengths[1] != {run.num_episodes}, "its arrays have inconsistent lengths"
    yield run.tests is not None and run.tests.shape[1] != 4, "its tests do not have 4 columns"
    follows = len(starts) and starts[0] == 0 and np.all(np.diff(starts) > 0) and starts[-1] < run.num_episodes
    yield not follows, "its plans do not follow one another"
    yield not all(isinstance(text, str) for text in run.versions.values()), "its versions are no text"
    yield not 0.0 < run.discount <= 1.0, f"its discount is {run.discount}"
    numbers = (int(run.steps.min()), *(1 if own is None else own for own in (run.test_every, run.step_budget)))
    yield min(numbers) < 1, "its numbers of steps are not positive"
    learned = None if run.policy is None else run.policy.table
    tables = [table for table in (run.final_policy, learned) if table is not None]
    yield any(run.steps.max() > len(table) for table in tables), "its episodes are longer than its policies"
    yield any(table.min(initial=0) < 0 for table in tables), "its policies have negative actions"
    yield run.data_episodes < 0, f"it began with {run.data_episodes} episodes"
    yield run.tests is not None and not _are_tests(run.tests), "its tests have impossible numbers"
    budget = run.step_budget
    yield budget is not None and run.steps[:-1].sum() >= budget, "it goes on after its last step"
    scale = max(abs(run.optimal_value or 0.0), float(np.abs(run.returns).max()))
    is_finite = math.isfinite(run.optimal_value or 0.0) and np.isfinite(run.returns).all()
    yield not is_finite, "its optimal value or its returns are not finite"
    if run.optimal_value is None:
        return
    losses = run.plan_gaps if run.path_losses is None else run.path_losses
    is_finite = np.isfinite(run.plan_values).all() and np.isfinite(losses).all() and np.isfinite(gaps).all()
    yield not is_finite, "the values of its plans or its losses are not finite"
    is_better = run.plan_values.max() > run.optimal_value + SLACK * scale or losses.min() < -SLACK * scale
    yield is_better, "a plan is worth more than the optimum"
    if run.mapped_gaps is not None:
        off = np.abs(run.mapped_gaps - (run.optimal_value - run.plan_values)).max()
        is_off = off > SLACK * max(scale, float(np.abs(run.plan_values).max()))
        yield is_off, "the losses of its plans are not those of their values"


def _are_tests(tests: NDArray[np.float64]) -> bool:
    """Return whether tests are increasing numbers of steps, p-values (or NaN), and finite values."""
    steps, p_values, values = tests[:, 0], tests[:, 1:3], tests[:, 3]
    is_in_order = np.all(np.diff(steps, prepend=0.0) > 0.0) and np.isfinite(steps).all() and np.isfinite(values).all()
    return bool(is_in_order and not np.any((p_values < 0.0) | (p_values > 1.0)))


_version = cache(metadata.version)  # it reads a file, which takes longer than playing a thousand episodes


def versions() -> dict[str, str]:
    """Return the versions of the packages that can change a result."""
    return {name: _version(name) for name in ("praemia", "numpy", "numba")}


def seed_key(seed: Seed) -> tuple[int, ...]:
    """Check a seed and return it as a tuple of integers."""
    key = tuple(seed) if isinstance(seed, Sequence) else (seed,)
    if not key or any(isinstance(s, bool) or not isinstance(s, int | np.integer) or s < 0 for s in key):
        raise ParameterError(f"seed={seed!r}; expected an integer ≥ 0, or several")
    return tuple(int(s) for s in key)


def generators(seed: tuple[int, ...]) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the world's and the learner's generator of a run."""
    world, learner = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(world), np.random.default_rng(learner)
