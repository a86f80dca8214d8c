"""Jobs: one run each, as plain text and numbers, which is all that a worker needs to know.

A job is known by a digest of what is played: the text of the task, the learner with its parameters, the length of the
run, the seed and the revision of the random streams. Names and titles are labels: they are no part of it.
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
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, PraemiaError, came_from_interrupt
from praemia.files.building import parse_task
from praemia.files.resolving import looks_like_file, resolve_task
from praemia.files.writing import dump
from praemia.learners import Learner
from praemia.learners.external import LearnerCode, failure, names_a_file
from praemia.learners.registry import build_learner, is_registered
from praemia.simulation import Run
from praemia.simulation.run import RNG_REVISION
from praemia.tasks.task import Task

NUM_DIGITS = 12  # of a digest


@dataclass(frozen=True)
class TaskText:
    """A task's name, and the text of a task file from which any process can make it.

    ``allow_code`` says whether the text may name code; it is None where somebody else may have written the text, which
    then opens no files and makes no black box.
    """

    name: str
    text: str
    allow_code: bool | None = field(default=None, compare=False)

    @classmethod
    def builtin(cls, name: str, **changes: Any) -> TaskText:
        """Refer to a built-in environment, with other values of the horizon, the discount or ``until_done``."""
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in changes.items())
        return cls(name, f"environment: {{name: {json.dumps(name)}}}\n{lines}")

    @classmethod
    def of(cls, name_or_path: str, allow_code: bool = False, **changes: Any) -> TaskText:
        """Refer to a built-in environment or a task file of the user's; it is made once, to check it.

        ``changes`` are a ``horizon``, a ``discount`` and ``until_done``, in place of the task's; None changes nothing.
        """
        changes = {key: value for key, value in changes.items() if value is not None}
        task = resolve_task(name_or_path, allow_code=allow_code)
        for key, value in changes.items():
            task = getattr(task, f"with_{key}")(value)
        if looks_like_file(name_or_path):
            return cls(task.name, dump(task), allow_code)
        return cls.builtin(name_or_path, **changes)

    @property
    def digest(self) -> str:
        """A short digest of the text, which distinguishes tasks of one name."""
        return _digest(self.text)

    def make(self) -> Task | BlackBox:
        """Return the task. A process parses a text once, not once for every run."""
        return _parsed(self.text, self.name, self.allow_code)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:NUM_DIGITS]


@lru_cache(maxsize=8)
def _parsed(text: str, name: str, allow_code: bool | None) -> Task | BlackBox:
    return parse_task(text, name, allow_code)


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
        with failures_named(kind, code):
            learner = build_learner(kind, parameters)
        choice = cls.of_learner(learner, title or default_title(learner.name, parameters))
        return replace(choice, origin="" if code is None else code.origin, code=code)

    @classmethod
    def of_learner(cls, learner: Learner, title: str) -> LearnerChoice:
        """Choose a learner that there is, as other processes can make it again."""
        code = LearnerCode.of(type(learner))
        data = {key: _as_data(learner.name, key, value) for key, value in learner.parameters.items()}
        return cls(learner.name, data, title, "" if code is None else code.origin, code)

    @property
    def played(self) -> dict[str, Any]:
        """What distinguishes it from others, labels apart: of a user's learner the class and a digest, not the file."""
        return {"name": self.name, "parameters": dict(self.parameters), "code": self.origin.rpartition(":")[2]}

    def make(self) -> Learner:
        """Return the learner."""
        if self.code is None or (self.code.text is None and is_registered(self.name)):
            kind = learners.kind_of(self.name)
        else:
            kind = self.code.load()
        with failures_named(kind, self.code):
            return build_learner(kind, dict(self.parameters))


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
        own = self.learner
        learner = {"name": own.name, "parameters": dict(own.parameters), "title": own.title, "origin": own.origin}
        return {
            "task": {"name": self.task.name, "text": self.task.text},
            "learner": learner,
            "num_episodes": self.num_episodes,
            "num_steps": self.num_steps,
            "test_every": self.test_every,
            "streams": self.rng_revision,
        }

    @property
    def digest(self) -> str:
        """A short digest of what all runs of this kind share, labels and seeds apart."""
        text = self.task.text or self.task.name  # a black box has no text
        return _digest(json.dumps({**self.about(), "task": text, "learner": self.learner.played}, sort_keys=True))


def slug(text: str) -> str:
    """Turn a title into a name for a folder: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "unnamed"
