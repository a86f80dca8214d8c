"""Experiments as data: which learners play which tasks, how often and for how long.

An experiment is a list of settings; a setting is a task, some learners, a number of runs and a number of episodes.
It expands into jobs. A job is one run: all that a worker needs to know, as plain text and numbers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from praemia import learners
from praemia.errors import ParameterError, PraemiaError, came_from_interrupt
from praemia.files.building import parse_task
from praemia.files.resolving import looks_like_file, resolve_task
from praemia.files.writing import dump
from praemia.learners import Learner
from praemia.learners.external import LearnerCode, failure, names_a_file
from praemia.learners.registry import build_learner, is_registered, names_of
from praemia.simulation import Run
from praemia.simulation.run import RNG_REVISION
from praemia.tasks.task import Task

MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class TaskText:
    """A task's name, and the text of a task file from which any process can make it."""

    name: str
    text: str

    @classmethod
    def builtin(cls, name: str, **parameters: Any) -> TaskText:
        """Refer to a built-in environment, by name and parameters."""
        entries = ", ".join(f"{key}: {json.dumps(value)}" for key, value in {"name": name, **parameters}.items())
        suffix = "".join(f"-{key}-{value}" for key, value in parameters.items())
        return cls(name + suffix, f"environment: {{{entries}}}\n")

    @classmethod
    def of(cls, name_or_path: str, *, until_done: bool = False, discount: float | None = None) -> TaskText:
        """Refer to the task of ``resolve_task``, with everything a worker needs to make it."""
        task = resolve_task(name_or_path, until_done=until_done, discount=discount)
        changes = {"until_done: true": until_done, f"discount: {discount!r}": discount is not None}
        if looks_like_file(name_or_path):
            return cls(task.name, dump(task))
        builtin = cls.builtin(name_or_path)
        return replace(builtin, text=builtin.text + "".join(f"{line}\n" for line, is_set in changes.items() if is_set))

    @property
    def digest(self) -> str:
        """A short digest of the text: it tells tasks of one name apart."""
        return _digest(self.text)

    def make(self) -> Task:
        """Return the task. A process parses a text once, not once for every run."""
        return _parsed(self.text, self.name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


@lru_cache(maxsize=8)
def _parsed(text: str, name: str) -> Task:
    return parse_task(text, name)


@dataclass(frozen=True)
class LearnerChoice:
    """A learner with all its parameters, and the title under which it is shown.

    ``code`` says where a user's learner is, with what a worker needs to load it; ``origin`` is what a stored run
    records of it. Both are empty for this package's learners.
    """

    name: str
    parameters: Mapping[str, Any]
    title: str
    origin: str = ""
    code: LearnerCode | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, reference: str, title: str | None = None, **parameters: Any) -> LearnerChoice:
        """Choose a learner by its name, or as ``file.py:Class``, whose code is executed.

        Parameters that are not given are the learner's defaults, written down.
        """
        code = LearnerCode.read(reference) if names_a_file(reference) else None
        kind = learners.kind_of(reference) if code is None else code.load()
        code = code or LearnerCode.of(kind)
        name = reference if reference in names_of(kind) else kind.name
        with failures_named(kind, code):
            learner = build_learner(kind, name, parameters)
        data = {key: _as_data(learner.name, key, value) for key, value in learner.parameters.items()}
        origin = "" if code is None else code.origin
        return cls(learner.name, data, title or default_title(learner.name, parameters), origin, code)

    @property
    def data(self) -> dict[str, Any]:
        """All but the code, as plain data."""
        parameters = dict(self.parameters)
        return {"name": self.name, "parameters": parameters, "title": self.title, "origin": self.origin}

    def make(self) -> Learner:
        """Return the learner."""
        if self.code is None or (self.code.text is None and is_registered(self.name)):
            kind = learners.kind_of(self.name)
        else:
            kind = self.code.load()
        with failures_named(kind, self.code):
            return build_learner(kind, self.name, dict(self.parameters))


def learner_choices(names: list[str], parameters: dict[str, Any]) -> tuple[LearnerChoice, ...]:
    """Choose learners by name, and give each the parameters that it has; one that none has is an error."""
    own_parameters = {name: LearnerChoice.of(name).parameters for name in names}
    for key in parameters:
        if not any(key in own for own in own_parameters.values()):
            LearnerChoice.of(names[0], **{key: parameters[key]})  # raises the error
    return tuple(
        LearnerChoice.of(name, **{key: value for key, value in parameters.items() if key in own})
        for name, own in own_parameters.items()
    )


@contextmanager
def failures_named(kind: type[Learner], code: LearnerCode | None) -> Iterator[None]:
    """Turn an error in a user's learner into a one-line message; this package's own bugs keep their traceback."""
    try:
        yield
    except PraemiaError:
        raise
    except (Exception, SystemExit) as error:
        if came_from_interrupt(error):
            raise KeyboardInterrupt from error
        if code is None:
            raise
        raise failure(error, kind) from error


def default_title(name: str, parameters: Mapping[str, Any]) -> str:
    """Name a learner by the parameters that are given to it."""
    settings = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name} ({settings})" if settings else name


def _as_data(learner: str, name: str, value: Any) -> Any:
    """Return a parameter as it is after writing it to JSON and reading it back."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        raise ParameterError(
            f"learner {learner!r}: parameter {name!r} is {value!r}; expected a number, text, true or false, or a list"
        ) from None


@dataclass(frozen=True)
class Job:
    """One run: a task, a learner, a number of episodes or of steps, and a seed. Equal jobs give equal bytes."""

    task: TaskText
    learner: LearnerChoice
    num_episodes: int | None
    seed: tuple[int, ...]
    rng_revision: int = RNG_REVISION
    num_steps: int | None = None
    test_every: int | None = None

    @classmethod
    def of(cls, run: Run) -> Job:
        """Return the job that made a run; of a user's learner only the origin is known."""
        learner = LearnerChoice(run.learner, run.parameters, run.title, run.origin)
        num_episodes = run.num_episodes if run.step_budget is None else None
        text, lengths = TaskText(run.task, run.task_text), (run.step_budget, run.test_every)
        return cls(text, learner, num_episodes, run.seed, run.rng_revision, *lengths)

    @property
    def length(self) -> int:
        """The number of episodes, or of steps where these are given."""
        return self.num_episodes or self.num_steps or 0

    def about(self) -> dict[str, Any]:
        """Return what all runs of this kind share, as plain data."""
        return {
            "task": vars(self.task),
            "learner": self.learner.data,
            "num_episodes": self.num_episodes,
            "streams": self.rng_revision,
            **self._given,
        }

    @property
    def _given(self) -> dict[str, int]:
        """What only some jobs say."""
        numbers = {"num_steps": self.num_steps, "test_every": self.test_every}
        return {key: number for key, number in numbers.items() if number is not None}

    @property
    def digest(self) -> str:
        """A short digest of all that runs of this kind share, except the learner's title."""
        about = self.about()
        shared = [about["task"]["text"], {**about["learner"], "title": ""}, self.num_episodes, self.rng_revision]
        shared += self._given.values()
        return _digest(json.dumps(shared, sort_keys=True))


@dataclass(frozen=True)
class Setting:
    """A task, the learners that play it, and how often.

    Runs of a tuning (``is_tuning``) have other seeds than those that are reported. ``rng_revision`` is that of the
    random streams that the runs are drawn from. With ``num_steps``, ``num_episodes`` is None. Plans are tested after
    every ``test_every`` steps, if it is given.
    """

    task: TaskText
    choices: tuple[LearnerChoice, ...]
    num_runs: int = 16
    num_episodes: int | None = 10_000
    seed: int = 0
    is_tuning: bool = False
    rng_revision: int = RNG_REVISION
    num_steps: int | None = None
    test_every: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.num_runs <= MAX_RUNS:
            raise ParameterError(f"runs={self.num_runs}; expected 1 … {MAX_RUNS:,}")
        learner_of: dict[str, str] = {}
        for choice in self.choices:
            this = choice.origin or choice.name
            if choice.title in learner_of:
                both = f"{learner_of[choice.title]} and {this}"
                raise ParameterError(f"two learners with the title {choice.title!r} in setting {self.name!r}: {both}")
            learner_of[choice.title] = this

    @property
    def name(self) -> str:
        return self.task.name

    def jobs(self) -> list[Job]:
        """Return the runs of this setting, run by run, so that all learners progress together."""
        extra, lengths = (1,) * self.is_tuning, (self.num_steps, self.test_every)
        return [
            Job(self.task, choice, self.num_episodes, (self.seed, run, *extra), self.rng_revision, *lengths)
            for run in range(self.num_runs)
            for choice in self.choices
        ]


@dataclass(frozen=True)
class Experiment:
    """A named list of settings, with a sentence that says what it is for, and the command that asked for it."""

    name: str
    purpose: str
    settings: tuple[Setting, ...] = ()
    command: str = ""

    def __post_init__(self) -> None:
        text_of: dict[str, str] = {}
        for setting in self.settings:
            if text_of.setdefault(setting.name, setting.task.text) != setting.task.text:
                raise ParameterError(
                    f"experiment {self.name!r} has two different tasks of the name {setting.name!r}, which tables "
                    "could not tell apart; give one of the task files another name"
                )

    def jobs(self) -> list[Job]:
        """Return all runs, setting by setting."""
        return [job for setting in self.settings for job in setting.jobs()]


def slug(text: str) -> str:
    """Turn a title into a name for a folder: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "unnamed"
