"""Experiment files: the user's own experiments, as a short YAML file.

tasks: [warehouse-4, my-task.yaml]       # built-in names, or task files beside this one
learners:
  - ucbvi-prm                            # a learner with its defaults
  - {learner: ucbvi-prm, bonus_scale: 0.01, title: bolder}
  - my_learner.py:MyLearner              # Python code beside this file; it is run only if the caller allows it
runs: 16
episodes: 10000                          # or steps: 1000000, a budget in place of episodes
seed: 0
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from praemia import envs
from praemia.errors import FileError
from praemia.experiments.settings import MAX_RUNS, Experiment, LearnerChoice, Setting, TaskText
from praemia.files import dump_task, load_task, looks_like_file
from praemia.files.source import Source, read_source
from praemia.files.validation import validate
from praemia.learners.external import names_a_file
from praemia.limits import MAX_EPISODES

NUM_EPISODES = 10_000  # of a run, where a file says nothing


class LearnerPart(BaseModel):
    """A learner; every key but these two is one of its parameters."""

    model_config = ConfigDict(extra="allow", strict=True)

    learner: str
    title: str | None = None


class ExperimentPart(BaseModel):
    """A whole experiment file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tasks: Annotated[list[str], Field(min_length=1)]
    learners: Annotated[list[str | LearnerPart], Field(min_length=1)]
    runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 16
    episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES)] | None = None
    steps: Annotated[int, Field(ge=1, le=MAX_EPISODES)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _one_length(self) -> ExperimentPart:
        if self.episodes is not None and self.steps is not None:
            raise ValueError("found both episodes and steps; expected one of the two")
        return self

    @property
    def num_episodes(self) -> int | None:
        """The episodes of a run; None where its steps are given."""
        return None if self.steps is not None else self.episodes or NUM_EPISODES


def load_experiment(path: str | Path, *, allow_code: bool = False) -> Experiment:
    """Load an experiment file; it is named after the file. Tasks and learners are checked before anything runs.

    With ``allow_code``, the Python files that it takes learners from are executed.
    """
    source, folder = read_source(path), Path(path).parent
    part = validate(source, ExperimentPart)
    choices = tuple(_choice(source, i, item, folder if allow_code else None) for i, item in enumerate(part.learners))
    tasks = [_task(source, i, name, folder) for i, name in enumerate(part.tasks)]
    with source.at("learners"):
        settings = tuple(
            Setting(task, choices, part.runs, part.num_episodes, part.seed, num_steps=part.steps) for task in tasks
        )
    return Experiment(Path(path).stem, f"the experiment in {Path(path).name}", settings)


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
        return task_text(str(folder / name) if looks_like_file(name) else name)


def task_text(name_or_path: str, *, until_done: bool = False) -> TaskText:
    """Return the task that a user means, with everything a worker needs to make it.

    With ``until_done`` its episodes end when the machine is done, whatever the task says.
    """
    if looks_like_file(name_or_path):
        task = load_task(name_or_path)
        return TaskText(task.name, dump_task(task.with_until_done() if until_done else task))
    envs.make(name_or_path)
    builtin = TaskText.builtin(name_or_path)
    return replace(builtin, text=f"{builtin.text}until_done: true\n") if until_done else builtin


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
