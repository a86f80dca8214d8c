"""Load experiments: a user's file, one of the four that are shipped in ``data``, or the record of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from praemia.envs.black_box import BlackBox
from praemia.errors import FileError, ParameterError, PraemiaError, unknown_name
from praemia.experiments import BUILT_IN
from praemia.experiments.experiment import NUM_EPISODES, NUM_RUNS, Claim, Experiment, Group, Setting
from praemia.experiments.jobs import LearnerChoice, TaskText
from praemia.experiments.schema import ClaimPart, ExperimentPart, GroupPart, LearnerPart, SettingPart
from praemia.files.resolving import looks_like_file
from praemia.files.source import Source, parse_source, read_source, validate
from praemia.learners.external import names_a_file

MAX_NUMBERS = 10_000  # of a range in the name of a task
_RANGE = re.compile(r"\{([0-9]{1,9})\.\.([0-9]{1,9})\}")

Place: TypeAlias = tuple[str | int, ...]  # in a file


class Changes(NamedTuple):
    """What a user says beside a file.

    Only ``tasks`` and ``learners`` are played: those of the file of this name or title, or else new ones. The numbers
    stand in place of the file's.
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
        return _Reader(read_source(path), path.parent, changes, is_shipped=True).experiment()
    if not looks_like_file(str(path)):
        raise unknown_name("experiment", str(path), BUILT_IN)
    return _Reader(read_source(path), Path(path).parent, changes, allow_code=allow_code).experiment()


def read_record(data: bytes, where: str) -> Experiment:
    """Read the record of an experiment, which anybody may have written; ``where`` names the file in messages."""
    try:
        return _Reader(parse_source(data.decode(), where, is_json=True)).experiment()
    except (PraemiaError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise FileError(f"{where}: damaged; expected the record of an experiment ({reason})") from None


@dataclass(frozen=True)
class _Reader:
    """Turns a file into an experiment; without a folder, tasks and learners from files are refused."""

    source: Source
    folder: Path | None = None
    changes: Changes = NOTHING
    allow_code: bool = False
    is_shipped: bool = False

    def experiment(self) -> Experiment:
        """Return the experiment: its groups, and one more for tasks that only the user names."""
        part, changes = validate(self.source, ExperimentPart), self.changes
        title = part.title or Path(self.source.name).stem
        new_learners = [LearnerChoice.of(name) for name in _unknown(changes.learners, _learner_names(part))]
        names = _unknown(changes.tasks, _task_names(part)) if changes.tasks else []
        new_tasks = [TaskText.of(name) for name in names]
        shared = {key: value for key, value in part if value is not None and key not in ("title", "groups")}
        groups = []
        for place, own in enumerate(part.groups or [part]):
            path: Place = () if part.groups is None else ("groups", place)
            with self.source.at(*path):
                given = own.model_copy(update={key: value for key, value in shared.items() if _lacks(own, key)})
                if given.tasks is None or given.learners is None:
                    raise FileError("expected tasks and learners")
                groups.append(self._group(path, given, title, new_learners))
        if new_tasks:
            length = self._length(GroupPart(), SettingPart(task=""))
            settings = tuple(Setting(task, groups[0].choices, *length) for task in new_tasks)
            own_title = "Tasks of one's own"
            groups.append(replace(groups[0], title=own_title, settings=settings, claims=(), against="", source=""))
        return Experiment(title, tuple(groups))

    def _group(self, path: Place, part: GroupPart, title: str, new_learners: Sequence[LearnerChoice]) -> Group:
        changes, lists = self.changes, {"learners": part.learners, "others": part.others, "yardsticks": part.yardsticks}
        learners, others, yardsticks = (self._choices((*path, key), own or ()) for key, own in lists.items())
        choices = (*learners, *others, *new_learners, *yardsticks)
        with self.source.at(*path, "learners"):
            _require_distinct(choices)
        settings = [self._setting(part, *own, choices) for own in self._tasks(path, part)]
        on_request = range(len(learners), len(learners) + len(others))
        usual = [column for column in range(len(choices)) if column not in on_request]
        named = [
            c for c, own in enumerate(choices) if own in new_learners or {own.title, own.name} & {*changes.learners}
        ]
        players = usual[: len(usual) - len(yardsticks)]
        return Group(
            part.title or title,
            choices,
            tuple(settings),
            changes.runs or part.runs or NUM_RUNS,
            part.seed or 0 if changes.seed is None else changes.seed,
            bool(part.tuning),
            tuple(
                self._claim((*path, "claims", place), own, choices, players, settings)
                for place, own in enumerate(part.claims or ())
            ),
            len(yardsticks),
            part.against or "",
            part.source or "",
            tuple(usual),
            tuple(named if changes.learners else usual),
        )

    def _choices(self, path: Place, parts: Iterable[str | LearnerPart]) -> list[LearnerChoice]:
        """Return the learners of a list, one for each point of a grid."""
        found = []
        for place, item in enumerate(parts):
            with self.source.at(*path, place):
                found += self._grid(LearnerPart(learner=item) if isinstance(item, str) else item)
        return found

    def _grid(self, part: LearnerPart) -> list[LearnerChoice]:
        extra, name = part.model_extra or {}, part.learner
        values = [value if isinstance(value, list) else [value] for value in extra.values()]
        grid = [dict(zip(extra, point, strict=True)) for point in product(*values)]
        if part.title is not None and len(grid) > 1:
            raise ParameterError("a grid of parameters has several learners; leave 'title' out")
        if part.origin:
            return [LearnerChoice(name, own, part.title or name, part.origin) for own in grid]
        if names_a_file(name):
            if self.folder is None or not self.allow_code:
                raise FileError(f"learner {name!r} is Python code, which a file runs only with --allow-code")
            name = str(self.folder / name)
        return [LearnerChoice.of(name, part.title, **own) for own in grid]

    def _tasks(self, path: Place, group: GroupPart) -> Iterator[tuple[SettingPart, str, TaskText]]:
        """Yield the tasks of a group with their names, one for each number of a range."""
        for place, item in enumerate(group.tasks or ()):
            part = SettingPart(task=item) if isinstance(item, str) else item
            with self.source.at(*path, "tasks", place):
                for name in _numbered(part.task):
                    yield part, name, self._task(name, part, group)

    def _task(self, name: str, part: SettingPart, group: GroupPart) -> TaskText:
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

    def _setting(
        self, part: GroupPart, item: SettingPart, name: str, task: TaskText, choices: Sequence[LearnerChoice]
    ) -> Setting:
        num_episodes, num_steps = self._length(part, item)
        return Setting(
            task,
            tuple(_adjusted(choice, item.parameters.get(choice.title)) for choice in choices),
            num_episodes,
            num_steps,
            part.test_every if num_steps else None,
            item.kind or "",
            item.published,
            is_chosen=not self.changes.tasks or not {name, task.name}.isdisjoint(self.changes.tasks),
        )

    def _length(self, group: GroupPart, task: SettingPart) -> tuple[int | None, int | None]:
        """Return the episodes or the steps of a run: the user's, else the task's, else the group's."""
        if self.changes.episodes is not None:
            return self.changes.episodes, None
        given = [(part.episodes, part.steps) for part in (task, group) if part.episodes or part.steps]
        return given[0] if given else (NUM_EPISODES, None)

    def _claim(
        self,
        path: Place,
        part: ClaimPart,
        choices: Sequence[LearnerChoice],
        players: Sequence[int],
        settings: Sequence[Setting],
    ) -> Claim:
        """Find the rows and columns that a claim is about: all learners and all tasks, where it names none."""
        titles, names = [choice.title for choice in choices], [setting.task.name for setting in settings]
        with self.source.at(*path):
            of = _place("learner", part.of, titles)
            others = [column for column in players if column != of]
            than = others if part.than is None else [_place("learner", name, titles) for name in part.than]
            rows = range(len(names)) if part.on is None else [_place("task", name, names) for name in part.on]
            _require_regret([settings[row].task for row in rows])
        return Claim(part, of, tuple(than) if part.is_of_two else (), tuple(rows))


def _require_regret(tasks: Iterable[TaskText]) -> None:
    """Refuse black boxes, which only a file of the user's can be."""
    for task in tasks:
        if task.allow_code is not None and isinstance(task.make(), BlackBox):
            raise ParameterError(
                f"a claim compares regrets, and that in the black box {task.name!r} is not known; name the claim's "
                "tasks with 'on', without it"
            )


def _lacks(group: GroupPart, key: str) -> bool:
    """Return whether a group takes a key from the file: one length does not stand beside the other."""
    lengths = ("episodes", "steps")
    return getattr(group, key) is None and not (key in lengths and any(getattr(group, own) for own in lengths))


def _learner_names(part: ExperimentPart) -> set[str]:
    lists = [own for group in (part, *(part.groups or ())) for own in (group.learners, group.others, group.yardsticks)]
    items = [item for own in lists for item in own or ()]
    return {name for item in items for name in ((item,) if isinstance(item, str) else (item.learner, item.title or ""))}


def _task_names(part: ExperimentPart) -> set[str]:
    lists = [part.tasks, *(group.tasks for group in part.groups or ())]
    parts = [SettingPart(task=item) if isinstance(item, str) else item for own in lists for item in own or ()]
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


def _place(what: str, name: str, names: Sequence[str]) -> int:
    """Return the place of a name in a list; one that stands there twice names nothing."""
    if names.count(name) > 1:
        raise ParameterError(f"{name!r} is the name of {names.count(name)} {what}s; give them titles")
    if name not in names:
        raise unknown_name(what, name, names)
    return names.index(name)
