"""Load experiments: a user's file, one of the four that are shipped in ``data``, or the record of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from praemia.errors import FileError, ParameterError, PraemiaError, unknown_name
from praemia.experiments import BUILT_IN
from praemia.experiments.experiment import NUM_EPISODES, NUM_RUNS, Claim, Experiment, Group, Setting
from praemia.experiments.jobs import LearnerChoice, TaskText
from praemia.experiments.schema import COMPARING, ClaimPart, ExperimentPart, GroupPart, LearnerPart, TaskPart
from praemia.files.resolving import looks_like_file
from praemia.files.source import Source, parse_source, read_source, validate
from praemia.learners.external import names_a_file

MAX_NUMBERS = 10_000  # of a range in the name of a task
_RANGE = re.compile(r"\{([0-9]{1,9})\.\.([0-9]{1,9})\}")

Place: TypeAlias = tuple[str | int, ...]  # in a file


class Changes(NamedTuple):
    """What a user says beside a file.

    ``tasks`` and ``learners`` are to be played, and no others: those of the file of this name or title, or else new
    ones. The numbers stand in place of the file's.
    """

    tasks: Sequence[str] = ()
    learners: Sequence[str] = ()
    runs: int | None = None
    episodes: int | None = None
    seed: int | None = None


NOTHING = Changes()


def load_experiment(path: str | Path, changes: Changes = NOTHING, *, allow_code: bool = False) -> Experiment:
    """Load an experiment file, or a built-in experiment by name. All is checked before anything runs.

    With ``allow_code``, the Python files that it, or a task file, takes learners or functions from are executed.
    """
    if str(path) in BUILT_IN:
        path = Path(str(files("praemia.experiments").joinpath("data", f"{path}.yaml")))
        return _experiment(read_source(path), path.parent, changes, is_shipped=True)
    if not looks_like_file(str(path)):
        raise unknown_name("experiment", str(path), BUILT_IN)
    return _experiment(read_source(path), Path(path).parent, changes, allow_code=allow_code)


def read_record(data: bytes, where: str) -> Experiment:
    """Read the record of an experiment, which anybody may have written; ``where`` names the file in messages."""
    try:
        return _experiment(parse_source(data.decode(), where, is_json=True), None, NOTHING)
    except (PraemiaError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise FileError(f"{where}: damaged; expected the record of an experiment ({reason})") from None


class _Reader(NamedTuple):
    """What the parts of a file are read with; without a folder, tasks and learners from files are refused."""

    source: Source
    folder: Path | None
    allow_code: bool
    is_shipped: bool

    def choices(self, path: Place, parts: Iterable[str | LearnerPart]) -> list[LearnerChoice]:
        """Return the learners of a list, one for each point of a grid."""
        found = []
        for place, item in enumerate(parts):
            with self.source.at(*path, place):
                found += self._choices(LearnerPart(learner=item) if isinstance(item, str) else item)
        return found

    def _choices(self, part: LearnerPart) -> list[LearnerChoice]:
        extra = part.model_extra or {}
        values = [value if isinstance(value, list) else [value] for value in extra.values()]
        grid = [dict(zip(extra, point, strict=True)) for point in product(*values)]
        if part.title is not None and len(grid) > 1:
            raise ParameterError("a grid of parameters has several learners; leave 'title' out")
        if part.origin:
            return [LearnerChoice(part.learner, own, part.title or part.learner, part.origin) for own in grid]
        name = part.learner
        if names_a_file(name):
            if self.folder is None or not self.allow_code:
                raise FileError(f"learner {name!r} is Python code, which a file runs only with --allow-code")
            name = str(self.folder / name)
        return [LearnerChoice.of(name, part.title, **own) for own in grid]

    def tasks(self, path: Place, group: GroupPart) -> Iterator[tuple[TaskPart, str, TaskText]]:
        """Yield the tasks of a group with their names, one for each number of a range."""
        for place, item in enumerate(group.tasks or ()):
            part = TaskPart(task=item) if isinstance(item, str) else item
            with self.source.at(*path, "tasks", place):
                for name in _numbered(part.task):
                    yield part, name, self._task(name, part, group)

    def _task(self, name: str, part: TaskPart, group: GroupPart) -> TaskText:
        own = ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in part.changes.items())
        label = part.title or (f"{name} ({own})" if own else "")
        if part.text is not None:
            return TaskText(part.title or name, part.text)
        changes = {**group.changes, **part.changes}
        if self.is_shipped:  # to check these names would be to generate hundreds of tasks; a test does it
            return replace(TaskText.builtin(name, **changes), name=label or name)
        if looks_like_file(name):
            if self.folder is None:
                raise FileError(f"task {name!r} is a file, which a record does not read")
            name = str(self.folder / name)
        task = TaskText.of(name, self.allow_code, **changes)
        return replace(task, name=label or task.name)


def _experiment(
    source: Source,
    folder: Path | None,
    changes: Changes,
    *,
    allow_code: bool = False,
    is_shipped: bool = False,
) -> Experiment:
    part = validate(source, ExperimentPart)
    title = part.title or Path(source.name).stem
    reader = _Reader(source, folder, allow_code, is_shipped)
    new_learners = [LearnerChoice.of(name) for name in _unknown(changes.learners, _learner_names(part))]
    new_tasks = [TaskText.of(name) for name in (_unknown(changes.tasks, _task_names(part)) if changes.tasks else ())]
    shared = {key: value for key, value in part if value is not None and key not in ("title", "groups")}
    groups = []
    for place, own in enumerate(part.groups or [part]):
        path: Place = () if part.groups is None else ("groups", place)
        with source.at(*path):
            given = own.model_copy(update={key: value for key, value in shared.items() if _lacks(own, key)})
            if given.tasks is None or given.learners is None:
                raise FileError("expected tasks and learners")
            groups.append(_group(reader, path, given, title, changes, new_learners))
    if new_tasks:
        first = groups[0]
        settings = tuple(
            Setting(t, first.choices, *_length(GroupPart(), TaskPart(task=""), changes)) for t in new_tasks
        )
        groups.append(replace(first, title="Tasks of one's own", settings=settings, claims=(), against="", source=""))
    return Experiment(title, tuple(groups))


def _lacks(group: GroupPart, key: str) -> bool:
    """Tell whether a group takes a key from the file: one length does not stand beside the other."""
    lengths = ("episodes", "steps")
    return getattr(group, key) is None and not (key in lengths and any(getattr(group, own) for own in lengths))


def _learner_names(part: ExperimentPart) -> set[str]:
    lists = [own for group in (part, *(part.groups or ())) for own in (group.learners, group.others, group.yardsticks)]
    items = [item for own in lists for item in own or ()]
    return {name for item in items for name in ((item,) if isinstance(item, str) else (item.learner, item.title or ""))}


def _task_names(part: ExperimentPart) -> set[str]:
    lists = [part.tasks, *(group.tasks for group in part.groups or ())]
    parts = [TaskPart(task=item) if isinstance(item, str) else item for own in lists for item in own or ()]
    return {name for item in parts for name in (*_numbered(item.task), item.title or "")}


def _unknown(names: Iterable[str], known: set[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name not in known]


def _numbered(name: str) -> list[str]:
    """Return a name for each number of the range in it, such as ``{0..9}``."""
    match = _RANGE.search(name)
    if match is None:
        return [name]
    first, last = int(match[1]), int(match[2])
    if not first <= last < first + MAX_NUMBERS:
        raise ParameterError(f"the range in {name!r} has no numbers, or more than {MAX_NUMBERS:,}")
    return [f"{name[: match.start()]}{number}{name[match.end() :]}" for number in range(first, last + 1)]


def _length(group: GroupPart, task: TaskPart, changes: Changes) -> tuple[int | None, int | None]:
    """Return the episodes or the steps of a run: the user's, else the task's, else the group's."""
    if changes.episodes is not None:
        return changes.episodes, None
    for part in (task, group):
        if part.episodes is not None or part.steps is not None:
            return part.episodes, part.steps
    return NUM_EPISODES, None


def _group(
    reader: _Reader,
    path: Place,
    part: GroupPart,
    title: str,
    changes: Changes,
    new_learners: Sequence[LearnerChoice],
) -> Group:
    lists = {"learners": part.learners, "others": part.others, "yardsticks": part.yardsticks}
    learners, others, yardsticks = (reader.choices((*path, key), own or ()) for key, own in lists.items())
    choices = (*learners, *others, *new_learners, *yardsticks)
    with reader.source.at(*path, "learners"):
        _require_distinct(choices)
    settings = []
    for item, name, task in reader.tasks(path, part):
        num_episodes, num_steps = _length(part, item, changes)
        settings.append(
            Setting(
                task,
                tuple(_adjusted(choice, item.parameters.get(choice.title)) for choice in choices),
                num_episodes,
                num_steps,
                part.test_every if num_steps else None,
                item.kind or "",
                item.published,
                is_chosen=not changes.tasks or not {name, task.name}.isdisjoint(changes.tasks),
            )
        )
    on_request = range(len(learners), len(learners) + len(others))
    usual = [column for column in range(len(choices)) if column not in on_request]
    players = usual[: len(usual) - len(yardsticks)]
    claims = tuple(
        _claim(reader, (*path, "claims", place), own, choices, players, settings)
        for place, own in enumerate(part.claims or ())
    )
    named = [c for c, own in enumerate(choices) if own in new_learners or {own.title, own.name} & {*changes.learners}]
    return Group(
        part.title or title,
        choices,
        tuple(settings),
        changes.runs or part.runs or NUM_RUNS,
        part.seed or 0 if changes.seed is None else changes.seed,
        bool(part.tuning),
        claims,
        len(yardsticks),
        part.against or "",
        part.source or "",
        tuple(usual),
        tuple(named if changes.learners else usual),
    )


def _require_distinct(choices: Sequence[LearnerChoice]) -> None:
    first: dict[str, LearnerChoice] = {}
    for choice in choices:
        other = first.setdefault(choice.title, choice)
        if other is not choice:
            both = f"{other.origin or other.name} and {choice.origin or choice.name}"
            raise ParameterError(
                f"two learners with the title {choice.title!r}: {both}; give one of them another title"
            )


def _adjusted(choice: LearnerChoice, parameters: Mapping[str, Any] | None) -> LearnerChoice:
    """Return a learner with other values of some parameters."""
    if not parameters:
        return choice
    if choice.origin and choice.code is None:
        return replace(choice, parameters={**choice.parameters, **parameters})
    changed = LearnerChoice.of(choice.name, choice.title, **{**choice.parameters, **parameters})
    return replace(changed, code=choice.code, origin=choice.origin)


def _claim(
    reader: _Reader,
    path: Place,
    part: ClaimPart,
    choices: Sequence[LearnerChoice],
    players: Sequence[int],
    settings: Sequence[Setting],
) -> Claim:
    """Find the rows and columns that a claim is about: all learners and all tasks, where it names none."""
    titles, names = [choice.title for choice in choices], [setting.task.name for setting in settings]
    with reader.source.at(*path):
        of = _place("learner", part.of, titles)
        others = [column for column in players if column != of]
        than = others if part.than is None else [_place("learner", name, titles) for name in part.than]
        rows = range(len(names)) if part.on is None else [_place("task", name, names) for name in part.on]
    return Claim(part, of, tuple(than) if part.measure in COMPARING else (), tuple(rows))


def _place(what: str, name: str, names: Sequence[str]) -> int:
    """Return the place of a name in a list; one that stands there twice names nothing."""
    if names.count(name) > 1:
        raise ParameterError(f"{name!r} is the name of {names.count(name)} {what}s; give them titles")
    if name not in names:
        raise unknown_name(what, name, names)
    return names.index(name)
