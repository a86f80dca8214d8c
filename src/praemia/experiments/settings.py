"""Experiments as data: which learners play which tasks, how often and for how long.

An experiment is a list of settings; a setting is a task, some learners, a number of runs and a number of episodes.
It unfolds into jobs. A job is one run, and is all that a worker anywhere needs to know: plain text and numbers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from praemia import learners
from praemia.errors import ParameterError
from praemia.learners import Learner

MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class TaskText:
    """A task by its name and the text of a task file that makes it anywhere."""

    name: str
    text: str

    @classmethod
    def builtin(cls, name: str, **parameters: Any) -> TaskText:
        """Refer to a built-in environment, by name and parameters."""
        entries = ", ".join(f"{key}: {json.dumps(value)}" for key, value in {"name": name, **parameters}.items())
        suffix = "".join(f"-{key}-{value}" for key, value in parameters.items())
        return cls(name + suffix, f"environment: {{{entries}}}\n")


@dataclass(frozen=True)
class LearnerChoice:
    """A learner with all its parameters, and the title under which it is shown."""

    name: str
    parameters: Mapping[str, Any]
    title: str

    @classmethod
    def of(cls, name: str, title: str | None = None, **parameters: Any) -> LearnerChoice:
        """Choose a learner by name; parameters that are not given are the learner's defaults, written down."""
        return cls(name, learners.make(name, **parameters).parameters, title or _default_title(name, parameters))

    def make(self) -> Learner:
        """Return the learner."""
        return learners.make(self.name, **self.parameters)


def _default_title(name: str, parameters: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name} ({given})" if given else name


@dataclass(frozen=True)
class Job:
    """One run: a task, a learner, a number of episodes and a seed. Equal jobs give equal bytes."""

    task: TaskText
    learner: LearnerChoice
    num_episodes: int
    seed: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the job as plain data."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        """Make a job from plain data."""
        return cls(
            task=TaskText(**data["task"]),
            learner=LearnerChoice(**data["learner"]),
            num_episodes=data["num_episodes"],
            seed=tuple(data["seed"]),
        )

    @property
    def digest(self) -> str:
        """A short name for all that the runs of this kind share: task, learner, parameters and length."""
        shared = [self.task.text, self.learner.name, dict(self.learner.parameters), self.num_episodes]
        return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()[:10]


@dataclass(frozen=True)
class Setting:
    """A task, the learners that play it, and how often.

    ``stream`` keeps the seeds of different uses apart: 0 for runs that are reported, 1 for tuning.
    """

    task: TaskText
    choices: tuple[LearnerChoice, ...]
    num_runs: int = 16
    num_episodes: int = 10_000
    seed: int = 0
    stream: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.num_runs <= MAX_RUNS:
            raise ParameterError(f"runs={self.num_runs}; expected 1 … {MAX_RUNS:,}")
        titles = [choice.title for choice in self.choices]
        if len(set(titles)) != len(titles):
            twice = next(title for i, title in enumerate(titles) if title in titles[:i])
            raise ParameterError(f"two learners with the title {twice!r} in setting {self.name!r}")

    @property
    def name(self) -> str:
        return self.task.name

    def jobs(self) -> list[Job]:
        """Return the runs of this setting, run by run, so that all learners progress together."""
        extra = (self.stream,) if self.stream else ()
        return [
            Job(self.task, choice, self.num_episodes, (self.seed, run, *extra))
            for run in range(self.num_runs)
            for choice in self.choices
        ]


@dataclass(frozen=True)
class Experiment:
    """A named list of settings, with a sentence that says what it is for."""

    name: str
    purpose: str
    settings: tuple[Setting, ...] = field(default=())

    def jobs(self) -> list[Job]:
        """Return all runs, setting by setting."""
        return [job for setting in self.settings for job in setting.jobs()]


def slug(text: str) -> str:
    """Turn a title into a name for a folder: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "unnamed"
