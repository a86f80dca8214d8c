"""Load experiments: a user's file, one of the four that are shipped in ``data``, or the record of a folder."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from praemia.envs.black_box import BlackBox
from praemia.errors import FileError, ParameterError, PraemiaError, unknown_name
from praemia.experiments import BUILT_IN
from praemia.experiments.experiment import Experiment, Group, distinct_names
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.schema import ClaimPart, ExperimentPart, GroupPart, LearnerPart, SettingPart
from praemia.files.resolving import looks_like_file
from praemia.files.source import Source, parse_source, read_source, validate
from praemia.learners.external import names_a_file

NUM_RUNS, NUM_EPISODES = 16, 10_000  # where a file says nothing
MAX_NUMBERS = 10_000  # of a range in the name of a task
_RANGE = re.compile(r"\{([0-9]{1,9})\.\.([0-9]{1,9})\}")

Place: TypeAlias = tuple[str | int, ...]  # in a file
Choices: TypeAlias = Sequence[LearnerChoice]
Row: TypeAlias = tuple[SettingPart, TaskText]  # all that the file says of a task, under the name that it has there


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
        part = validate(self.source, ExperimentPart)
        title = part.title or Path(self.source.name).stem
        parts = [
            (path, own, [*self._rows(path, own)], self._lists(path, own)) for path, own in self._parts(part, title)
        ]
        known = {name for *_, lists in parts for own in chain(*lists) for name in (own.title, own.name)}
        new = [LearnerChoice.of(name) for name in dict.fromkeys(self.changes.learners) if name not in known]
        groups = [self._group(*own, new) for own in parts]
        known = {name for _, _, rows, _ in parts for item, task in rows for name in (item.task, task.name)}
        if names := [name for name in dict.fromkeys(self.changes.tasks) if name not in known]:
            path, first, _, lists = parts[0]
            lacking = dict.fromkeys(("against", "source", "episodes", "steps", "test_every"))
            own = first.model_copy(update={"title": "Tasks of one's own", "claims": [], **lacking})
            rows = [self._row(own, SettingPart(task=name), name, TaskText.of(name)) for name in names]
            groups.append(self._group(path, own, rows, lists, new))
        return Experiment(title, tuple(groups))

    def _parts(self, whole: ExperimentPart, title: str) -> Iterator[tuple[Place, GroupPart]]:
        """Yield the groups of a file and their places; each takes from the file what it lacks."""
        shared = {key: value for key, value in whole if key in whole.model_fields_set - {"title", "groups"}}
        lengths = {"episodes", "steps"}  # one does not stand beside the other
        for place, own in enumerate(whole.groups or [whole]):
            path: Place = ("groups", place) if whole.groups else ()
            given = own.model_fields_set | (lengths if own.model_fields_set & lengths else set())
            taken = {key: value for key, value in shared.items() if key not in given}
            part = own.model_copy(update={"title": own.title or title, **taken})
            if not part.tasks or not part.learners:
                raise FileError(f"{self.source.spot(path, column=False)}: expected tasks and learners")
            yield path, part

    def _group(
        self, path: Place, part: GroupPart, rows: Sequence[Row], lists: Sequence[Choices], new: Choices
    ) -> Group:
        """Return a group with everything written out; ``new`` learners play beside those of the file."""
        changes, (learners, others, yardsticks) = self.changes, lists
        there, added = [own.played for own in chain(*lists)], [own.played for own in new]
        players = [*learners, *(choice for choice in new if choice.played not in there)]
        choices = [*players, *others, *yardsticks]
        with self.source.at(*path, "learners"):
            _require_distinct(choices)
        named = [c for c in choices if c.played in added or not {c.title, c.name}.isdisjoint(changes.learners)]
        playing = [choice.title for choice in (named if changes.learners else [*players, *yardsticks])]
        lengths = [(task.digest, item.episodes, item.steps) for item, task in rows]
        row_of = dict(zip(distinct_names([task.name for _, task in rows], lengths), rows, strict=True))
        titles = [choice.title for choice in players], [choice.title for choice in choices]
        with self.source.at(*path, "tasks"):
            _require_known("learner", chain.from_iterable(item.parameters for item, _ in rows), titles[1])
        written = {
            "tasks": [item.model_copy(update={"task": name, "title": name}) for name, (item, _) in row_of.items()],
            "learners": [*map(_written, players)],
            "others": [*map(_written, others)],
            "yardsticks": [*map(_written, yardsticks)],
            "episodes": None,
            "steps": None,
            "runs": changes.runs or part.runs or NUM_RUNS,
            "seed": part.seed or 0 if changes.seed is None else changes.seed,
            "claims": [
                self._claim((*path, "claims", place), own, *titles, row_of) for place, own in enumerate(part.claims)
            ],
        }
        return Group(
            part.model_copy(update=written),
            {(name, choice.title): _job(part, *row, choice) for name, row in row_of.items() for choice in choices},
            [
                (name, title)
                for name, (item, task) in row_of.items()
                for title in playing
                if not changes.tasks or not {item.task, task.name}.isdisjoint(changes.tasks)
            ],
        )

    def _lists(self, path: Place, group: GroupPart) -> list[Choices]:
        """Return the learners that play, those on request, and the yardsticks: one for each point of a grid."""
        lists: dict[str, list[LearnerChoice]] = {"learners": [], "others": [], "yardsticks": []}
        for key, found in lists.items():
            for place, part in enumerate(getattr(group, key)):
                with self.source.at(*path, key, place):
                    found += self._grid(part)
        return [*lists.values()]

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

    def _rows(self, path: Place, group: GroupPart) -> Iterator[Row]:
        """Yield the tasks of a group, one for each number of a range."""
        for place, part in enumerate(group.tasks):
            with self.source.at(*path, "tasks", place):
                for name in _numbered(part.task):
                    yield self._row(group, part, name, self._task(name, part, group))

    def _row(self, group: GroupPart, part: SettingPart, name: str, task: TaskText) -> Row:
        """Write a task out; a run is as long as the user says, else the task, else the group."""
        given = [(own.episodes, own.steps) for own in (part, group) if own.episodes or own.steps]
        episodes, steps = given[0] if given else (NUM_EPISODES, None)
        if self.changes.episodes is not None:
            episodes, steps = self.changes.episodes, None
        return part.model_copy(update={"task": name, "text": task.text, "episodes": episodes, "steps": steps}), task

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

    def _claim(
        self, path: Place, part: ClaimPart, players: Sequence[str], titles: Sequence[str], rows: Mapping[str, Row]
    ) -> ClaimPart:
        """Write out the learners and the tasks that a claim is about: all, where it names none."""
        with self.source.at(*path):
            _require_known("learner", [part.of, *part.than], titles)
            _require_known("task", part.on, rows)
            others = [title for title in players if title != part.of] if part.is_of_two else []
            whole = part.model_copy(update={"than": part.than or others, "on": part.on or [*rows]})
            _require_regret(rows[name][1] for name in whole.on)
        return whole


def _written(choice: LearnerChoice) -> LearnerPart:
    """Return a learner as a file writes it out; values that are lists stand in a grid of one point."""
    parameters = {key: [value] if isinstance(value, list) else value for key, value in choice.parameters.items()}
    return LearnerPart(learner=choice.name, title=choice.title, origin=choice.origin or None, **parameters)


def _job(group: GroupPart, item: SettingPart, task: TaskText, choice: LearnerChoice) -> Job:
    """Return what a learner plays in a row, but for the seed."""
    learner = _adjusted(choice, item.parameters.get(choice.title))
    test_every = group.test_every if item.steps else None
    return Job(task, learner, item.episodes, (), num_steps=item.steps, test_every=test_every)


def _require_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)


def _require_regret(tasks: Iterable[TaskText]) -> None:
    """Refuse black boxes, which only a file of the user's can be."""
    for task in tasks:
        if task.allow_code is not None and isinstance(task.make(), BlackBox):
            raise ParameterError(
                f"a claim compares regrets, and that in the black box {task.name!r} is not known; name the claim's "
                "tasks with 'on', without it"
            )


def _numbered(name: str) -> list[str]:
    """Return a name for each number of the range in it, such as ``{0..9}``."""
    match = _RANGE.search(name)
    if match is None:
        return [name]
    first, last = int(match[1]), int(match[2])
    if not first <= last < first + MAX_NUMBERS:
        raise ParameterError(f"the range in {name!r} has no numbers, or more than {MAX_NUMBERS:,}")
    return [f"{name[: match.start()]}{number}{name[match.end() :]}" for number in range(first, last + 1)]


def _require_distinct(choices: Choices) -> None:
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
