"""Experiment files: the user's own experiments, as a short YAML file.

tasks: [warehouse-4, my-task.yaml]       # built-in names, or task files beside this one
learners:
  - ucbvi-prm                            # a learner with its defaults
  - {learner: ucbvi-prm, bonus_scale: 0.01, title: bolder}
  - my_learner.py:MyLearner              # Python code beside this file; it is run only if the caller allows it
runs: 16
episodes: 10000                          # or steps: 1000000, a budget in place of episodes
seed: 0

With ``suite: office`` in place of tasks and their length it is a suite of published benchmarks
(``praemia.experiments.suites``); learners may then be left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from praemia.errors import FileError
from praemia.experiments.settings import MAX_RUNS, Experiment, LearnerChoice, Setting, TaskText
from praemia.experiments.suites import find, suite_experiment
from praemia.files.resolving import looks_like_file
from praemia.files.schema import Part
from praemia.files.source import Source, read_source, validate
from praemia.learners.external import names_a_file
from praemia.limits import MAX_EPISODES

NUM_RUNS, NUM_EPISODES = 16, 10_000  # where a file says nothing


class LearnerPart(Part):
    """A learner; every key but these two is one of its parameters."""

    model_config = ConfigDict(extra="allow")

    learner: str
    title: str | None = None


class ExperimentPart(Part):
    """A whole experiment file."""

    tasks: Annotated[list[str], Field(min_length=1)] | None = None
    suite: str | None = None
    learners: Annotated[list[str | LearnerPart], Field(min_length=1)] | None = None
    runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] | None = None
    episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES)] | None = None
    steps: Annotated[int, Field(ge=1, le=MAX_EPISODES)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _one_length(self) -> ExperimentPart:
        if self.episodes is not None and self.steps is not None:
            raise ValueError("found both episodes and steps; expected one of the two")
        if self.suite is not None and (self.tasks or self.episodes or self.steps):
            raise ValueError("found suite beside tasks, episodes or steps, which a suite has of its own")
        if self.suite is None and (self.tasks is None or self.learners is None):
            raise ValueError("expected tasks and learners, or a suite")
        return self

    @property
    def num_episodes(self) -> int | None:
        """The episodes of a run; None where its steps are given."""
        return None if self.steps is not None else self.episodes or NUM_EPISODES


def load_experiment(path: str | Path, *, allow_code: bool = False) -> Experiment:
    """Load an experiment file; it is named after the file, or the suite. All is checked before anything runs.

    With ``allow_code``, the Python files that it takes learners from are executed.
    """
    source, folder = read_source(path), Path(path).parent
    part = validate(source, ExperimentPart)
    players = list(enumerate(part.learners or ()))
    choices = tuple(_choice(source, i, item, folder if allow_code else None) for i, item in players)
    if part.suite is not None:
        with source.at("suite"):
            suite = find(part.suite)
        named = [item if isinstance(item, str) and not names_a_file(item) else choices[i] for i, item in players]
        with source.at("learners"):
            return suite_experiment(suite, named, part.runs, part.seed)
    tasks = [_task(source, i, name, folder) for i, name in enumerate(part.tasks or ())]
    runs = NUM_RUNS if part.runs is None else part.runs
    with source.at("learners"):
        settings = tuple(
            Setting(task, choices, runs, part.num_episodes, part.seed, num_steps=part.steps) for task in tasks
        )
    return Experiment(Path(path).stem, Path(path).stem, settings)


def _choice(source: Source, index: int, item: str | LearnerPart, code_folder: Path | None) -> LearnerChoice:
    part = LearnerPart(learner=item) if isinstance(item, str) else item
    with source.at("learners", index):
        name = part.learner
        if names_a_file(name):
            if code_folder is None:
                raise FileError(
                    f"learner {name!r} is Python code, which an experiment file runs only with --allow-code"
                )
            name = str(code_folder / name)
        parameters: dict[str, Any] = part.model_extra or {}
        return LearnerChoice.of(name, part.title, **parameters)


def _task(source: Source, index: int, name: str, folder: Path) -> TaskText:
    with source.at("tasks", index):
        return TaskText.of(str(folder / name) if looks_like_file(name) else name)
