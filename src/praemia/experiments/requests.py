"""Requests: what was asked of a store, each experiment as data, with the command that asked for it.

A record says which runs belong together. It holds no code: a user's learner is known by its origin, and a task by its
text, which opens no files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from praemia.errors import FileError
from praemia.experiments.settings import Experiment, LearnerChoice, Setting


def as_record(experiments: Iterable[Experiment]) -> bytes:
    """Return what one command asks for as the text of a file; a setting names learners by their places in a list."""
    learners: list[dict[str, Any]] = []

    def place(choice: LearnerChoice) -> int:
        if choice.data not in learners:
            learners.append(choice.data)
        return learners.index(choice.data)

    def record(setting: Setting) -> dict[str, Any]:
        given = {key: value for key, value in vars(setting).items() if value is not None}
        given |= {"stream": int(given.pop("is_tuning")), "streams": given.pop("rng_revision")}
        return {"task": vars(given.pop("task")), "learners": [place(item) for item in given.pop("choices")], **given}

    records = [{**vars(e), "settings": [record(setting) for setting in e.settings]} for e in experiments]
    return json.dumps({"learners": learners, "experiments": records}, indent=1).encode() + b"\n"


def from_record(data: bytes, where: str) -> list[Experiment]:
    """Read what a command asked for; ``where`` names the file in messages."""
    from pydantic import ConfigDict, TypeAdapter
    from pydantic_core import from_json

    try:
        record = from_json(data)
        if any("code" in learner for learner in record["learners"]):
            raise ValueError("found code, which nobody may put into a record")
        for experiment in record["experiments"]:
            for setting in experiment["settings"]:
                setting["choices"] = [record["learners"][place] for place in setting.pop("learners")]
                setting |= {"is_tuning": setting.pop("stream"), "rng_revision": setting.pop("streams")}
                setting.setdefault("num_episodes", None)  # left out where steps are given
        kind = TypeAdapter(list[Experiment], config=ConfigDict(extra="forbid"))
        return kind.validate_python(record["experiments"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        kind_of_error = type(error).__name__
        raise FileError(f"{where}: damaged; expected a record of the experiments asked for ({kind_of_error})") from None


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
    return setting.task.text, setting.num_episodes, setting.num_steps, setting.test_every, setting.is_tuning


def _fits(whole: Experiment, part: Experiment) -> bool:
    """Tell whether two requests can be one: the same seeds, no task in two ways, and on a task one title for each."""
    kinds = {setting.name: _kind(setting) for setting in whole.settings}
    titles = {(setting.name, choice.title): choice for setting in whole.settings for choice in setting.choices}
    seeds = {(setting.seed, setting.rng_revision) for setting in (*whole.settings, *part.settings)}
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
