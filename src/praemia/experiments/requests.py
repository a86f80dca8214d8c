"""Requests: what was asked of a store, each experiment as data, with the command that asked for it.

A record says which runs belong together. It holds no code: a user's learner is known by its origin, and a task by its
text, which opens no files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from pydantic import ValidationError

from praemia.errors import FileError, ParameterError
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.files.schema import Part


class _TaskPart(Part):
    name: str
    text: str


class _LearnerPart(Part):
    name: str
    parameters: dict[str, Any]
    title: str
    origin: str


class _SettingPart(Part):
    """A setting; ``learners`` are places in the record's list."""

    task: _TaskPart
    learners: list[int]
    num_runs: int
    num_episodes: int | None = None
    num_steps: int | None = None
    test_every: int | None = None
    seed: int
    stream: int
    streams: int


class _ExperimentPart(Part):
    name: str
    purpose: str
    command: str
    settings: list[_SettingPart]


class _RequestPart(Part):
    learners: list[_LearnerPart]
    experiments: list[_ExperimentPart]


def as_record(experiments: Iterable[Experiment]) -> bytes:
    """Return what one command asks for as the text of a file."""
    learners: list[dict[str, Any]] = []

    def place(choice: LearnerChoice) -> int:
        learner = {key: getattr(choice, key) for key in _LearnerPart.model_fields}
        if learner not in learners:
            learners.append(learner)
        return learners.index(learner)

    def record(setting: Setting) -> dict[str, Any]:
        numbers = {key: getattr(setting, key) for key in _SettingPart.model_fields if key not in ("task", "learners")}
        numbers = {key: number for key, number in numbers.items() if number is not None}
        return {"task": asdict(setting.task), "learners": [place(choice) for choice in setting.choices], **numbers}

    records = [
        {"name": e.name, "purpose": e.purpose, "command": e.command, "settings": [record(s) for s in e.settings]}
        for e in experiments
    ]
    return json.dumps({"learners": learners, "experiments": records}, indent=1).encode() + b"\n"


def from_record(data: bytes, where: str) -> list[Experiment]:
    """Read what a command asked for; ``where`` names the file in messages."""
    try:
        record = _RequestPart.model_validate_json(data)
        choices = [LearnerChoice(**dict(learner)) for learner in record.learners]
        return [
            Experiment(e.name, e.purpose, tuple(_setting(part, choices) for part in e.settings), e.command)
            for e in record.experiments
        ]
    except (ValidationError, IndexError, ParameterError) as error:
        kind = type(error).__name__
        raise FileError(f"{where}: damaged; expected a record of the experiments asked for ({kind})") from None


def _setting(part: _SettingPart, choices: list[LearnerChoice]) -> Setting:
    numbers = part.model_dump(exclude={"task", "learners"})
    return Setting(TaskText(**dict(part.task)), tuple(choices[i] for i in part.learners), **numbers)


def digest(data: bytes) -> str:
    """Return a short name for a record, so that the same request is kept once."""
    return hashlib.sha256(data).hexdigest()[:10]


def unite(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Unite the requests for parts of one experiment: more settings, more learners, more runs.

    Requests whose runs have another length, seed or random stream stay apart, and those in which a title stands for
    another learner, or for one with other parameters.
    """
    wholes: list[Experiment] = []
    for experiment in experiments:
        for place, whole in enumerate(wholes):
            if whole.name == experiment.name and _fits(whole, experiment):
                wholes[place] = _united(whole, experiment)
                break
        else:
            wholes.append(experiment)
    return wholes


def _kind(setting: Setting) -> tuple[object, ...]:
    return setting.task.text, setting.num_episodes, setting.num_steps, setting.test_every, setting.stream


def _fits(whole: Experiment, part: Experiment) -> bool:
    """Tell whether two requests can be one: the same seeds, no task in two ways, and on a task one title for each."""
    kinds = {setting.name: _kind(setting) for setting in whole.settings}
    titles = {(setting.name, choice.title): choice for setting in whole.settings for choice in setting.choices}
    seeds = {(setting.seed, setting.streams) for setting in (*whole.settings, *part.settings)}
    return (
        len(seeds) == 1
        and all(kinds.get(s.name, _kind(s)) == _kind(s) for s in part.settings)
        and all(titles.get((s.name, c.title), c) == c for s in part.settings for c in s.choices)
    )


def _united(whole: Experiment, part: Experiment) -> Experiment:
    settings = {setting.name: setting for setting in whole.settings}
    for new in part.settings:
        old = settings.get(new.name, new)
        choices = {choice.title: choice for choice in old.choices}
        for choice in new.choices:
            choices.setdefault(choice.title, choice)
        runs = max(old.num_runs, new.num_runs)
        settings[new.name] = replace(old, choices=tuple(choices.values()), num_runs=runs)
    commands = dict.fromkeys((*whole.command.splitlines(), *part.command.splitlines()))
    return replace(whole, settings=tuple(settings.values()), command="\n".join(commands))
