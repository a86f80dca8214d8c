"""What an experiment file may say, as pydantic models; ``experiment`` makes an experiment of it.

    title: Two warehouses
    tasks: [warehouse-4, my-task.yaml]       # built-in names, or task files beside this one
    learners:
      - ucbvi-prm                            # a learner with its defaults
      - {learner: ucbvi-prm, bonus_scale: [0.01, 0.1]}   # a list is a grid: one learner for each value
      - my_learner.py:MyLearner              # Python code beside this file; it is run only if the caller allows it
    runs: 16
    episodes: 10000                          # or steps: 1000000, a budget in place of episodes
    seed: 0
    claims:
      - {say: Lower regret than UCBVI-PRM, measure: ratio, of: headroom, than: ucbvi-prm, question: below}

A file with ``groups`` has several lists of tasks and learners; the keys beside ``groups`` then hold for each of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, model_validator

from praemia._support.limits import MAX_EPISODES, MAX_RUNS
from praemia.files.schema import Part, in_short
from praemia.tasks.base import MAX_HORIZON

MAX_TASKS = 100_000

Length = Annotated[int, Field(ge=1, le=MAX_EPISODES)]
Names = Annotated[list[str], in_short(lambda name: [name], str | list[str])]
# Measures of two learners, and of one; statistics/measures.py says how each is taken.
OfTwo = Literal["ratio", "difference", "margin growth", "relative growth", "ratio by kind"]
OfOne = Literal["size effect", "exponent", "worst run", "not converged"]
MeasureName: TypeAlias = OfTwo | OfOne
QuestionName = Literal["above", "below", "level", "no less", "no more"]
OF_TWO_TASKS = ("margin growth", "size effect", "relative growth")
WITH_THRESHOLD = ("worst run", "not converged")


class Variant(Part):
    """What may be changed about tasks."""

    horizon: Annotated[int, Field(ge=1, le=MAX_HORIZON)] | None = None
    discount: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    until_done: bool | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """What is changed, by name."""
        return self.model_dump(include={*Variant.model_fields}, exclude_none=True)


class SettingPart(Variant):
    """A task, or with ``{0..9}`` in its name a task for each of these numbers.

    Attributes
    ----------
    kind : the kind of task that it is one of; by itself, unless this says otherwise.
    parameters : of learners in this task, by their titles. published : figures from elsewhere, by method.
    text : the task as the text of a task file, in the record of an experiment.
    """

    task: str
    title: str | None = None
    kind: str | None = None
    episodes: Length | None = None
    steps: Length | None = None
    parameters: dict[str, dict[str, Any]] = Field(default={})
    published: dict[str, Length] = Field(default={})
    text: str | None = None


class LearnerPart(Part):
    """A learner; every key but these is one of its parameters, or a list of values to try.

    ``origin`` says where a user's learner came from, in the record of an experiment.
    """

    model_config = ConfigDict(extra="allow")

    learner: str
    title: str | None = None
    origin: str | None = None


TaskPart = Annotated[SettingPart, in_short(lambda name: {"task": name}, str | SettingPart)]
PlayerPart = Annotated[LearnerPart, in_short(lambda name: {"learner": name}, str | LearnerPart)]


class ClaimPart(Part):
    """A claim: a measure, and the question about it.

    Attributes
    ----------
    say : the claim in a few words; source : who claims it.
    of, than : learners by title; on : tasks. Where a file leaves ``than`` or ``on`` out, they are all.
    threshold : the value that the measure is compared with, where it is not the measure's null value.
    """

    say: str
    source: str = "Claims"
    measure: MeasureName
    question: QuestionName
    of: str
    than: Names = Field(default=[])
    on: Names = Field(default=[])
    threshold: float | None = None

    @property
    def is_of_two(self) -> bool:
        """Whether the measure is of two learners."""
        return self.measure in get_args(OfTwo)

    @model_validator(mode="after")
    def _fits(self) -> ClaimPart:
        if self.than and not self.is_of_two:
            raise ValueError(f"the measure {self.measure!r} is of one learner; leave 'than' out")
        if self.measure in OF_TWO_TASKS and len(self.on) == 1:
            raise ValueError(f"the measure {self.measure!r} compares tasks; expected two or more in 'on'")
        if self.measure in WITH_THRESHOLD and self.threshold is None:
            raise ValueError(f"the measure {self.measure!r} needs a 'threshold'")
        return self


class GroupPart(Variant):
    """Tasks and the learners that play them.

    Attributes
    ----------
    others : learners that play only where the user names them.
    yardsticks : learners that know part of p: they are shown and not ranked.
    tuning : whether the seeds are others than those of reported runs, so that no parameter is judged by the runs that
        chose it. test_every : after how many steps policies are tested by samples.
    against : the size of tasks that final regrets are plotted against. source : where published figures are from.
    """

    title: str | None = None
    tasks: Annotated[list[TaskPart], Field(max_length=MAX_TASKS)] = Field(default=[])
    learners: list[PlayerPart] = Field(default=[])
    others: list[PlayerPart] = Field(default=[])
    yardsticks: list[PlayerPart] = Field(default=[])
    runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] | None = None
    episodes: Length | None = None
    steps: Length | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    test_every: Length | None = None
    tuning: bool | None = None
    against: Literal["machine states", "horizon", "observations"] | None = None
    source: str | None = None
    claims: list[ClaimPart] = Field(default=[])

    @model_validator(mode="after")
    def _one_length(self) -> GroupPart:
        if self.episodes is not None and self.steps is not None:
            raise ValueError("found both episodes and steps; expected one of the two")
        return self


class ExperimentPart(GroupPart):
    """A whole experiment file: one group, or several."""

    groups: list[GroupPart] = Field(default=[])
