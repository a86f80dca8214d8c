"""What a task file may say, as pydantic models.

They check keys, types and ranges; whether the parts fit together is checked by the objects that are built from them.
Names may be written as integers, and a mapping or a list with one entry in short (``start: a`` for ``start: {a: 1}``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationInfo,
    model_validator,
)

from praemia.envs.grid_text import SLIP
from praemia.tasks.base import MAX_HORIZON

MAX_COUNT = 10**15  # far beyond any memory, and still a number to be printed in a message


def _text(value: Any) -> Any:
    """Take an integer for its digits, so that names such as 0 and 1 need no quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _guard_text(value: Any) -> Any:
    """Take YAML's true and false for the guards of that name."""
    return str(value).lower() if isinstance(value, bool) else value


def _kind(value: Any) -> str:
    """Return which of several forms a value has; the brackets keep the tag apart from any name in a file."""
    return "<mapping>" if isinstance(value, dict | BaseModel) else "<list>" if isinstance(value, list) else "<single>"


def _either(expected: str) -> Discriminator:
    """Choose between forms by ``_kind``, so that only the form that was meant complains."""
    return Discriminator(_kind, custom_error_type="form", custom_error_message=f"expected {expected}")


def in_short(write_out: Callable[[Any], Any], form: Any) -> BeforeValidator:
    """Write out a single value that stands for a mapping or a list; ``form`` is the type of both."""
    return BeforeValidator(
        lambda value: value if value is None or _kind(value) != "<single>" else write_out(value),
        json_schema_input_type=form,
    )


Name: TypeAlias = Annotated[str, BeforeValidator(_text, json_schema_input_type=str | int)]
GuardText: TypeAlias = Annotated[str, BeforeValidator(_guard_text, json_schema_input_type=str | bool)]
Count: TypeAlias = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Distribution: TypeAlias = Annotated[dict[Name, float], Field(min_length=1)]
CountOrNames: TypeAlias = Annotated[
    Annotated[Count, Tag("<single>")] | Annotated[list[Name], Field(min_length=1), Tag("<list>")],
    _either("a count or a list of names"),
]


class Part(BaseModel):
    """A part of a file: unknown keys are errors, and types are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _note_model(cls, data: Any, info: ValidationInfo) -> Any:
        """Note which keys some data may have, for hints about one that it may not have."""
        if info.context is not None:
            info.context[id(data)] = [field.alias or name for name, field in cls.model_fields.items()]
        return data


class RandomReward(Part):
    """The distribution of a random reward."""

    bernoulli: float | None = None
    values: list[float] | None = None
    probabilities: list[float] | None = None
    uniform: list[float] | None = None


RewardPart: TypeAlias = Annotated[
    RandomReward, in_short(lambda value: {"values": [value], "probabilities": [1.0]}, float | RandomReward)
]


class OutcomePart(Part):
    """One state that a rule may lead to."""

    probability: float = 1.0
    reward: RewardPart | None = None


OutcomeParts: TypeAlias = Annotated[
    dict[Name, Annotated[OutcomePart, in_short(lambda chance: {"probability": chance}, float | OutcomePart)]],
    Field(min_length=1),
    in_short(lambda state: {state: {}}, Name | dict[Name, float | OutcomePart]),
]


class RulePart(Part):
    """A rule of a machine: in state ``from``, when a guard holds, go ``to``."""

    source: Name = Field(alias="from")
    when: GuardText
    to: OutcomeParts
    reward: RewardPart | None = None

    @model_validator(mode="after")
    def _reward_has_one_target(self) -> RulePart:
        if self.reward is not None and (len(self.to) > 1 or any(out.reward for out in self.to.values())):
            raise ValueError("'reward' stands beside several states; write it within 'to', state by state")
        return self


class MachinePart(Part):
    """A machine, or a whole file with just a machine."""

    states: Annotated[list[Name], Field(min_length=1)]
    initial: Name
    propositions: list[Name]
    transitions: list[RulePart] = []
    first_match: bool = False


Pay: TypeAlias = Literal["first", "each", "end"]


class FormulaPay(Part):
    """The reward of one of several formulas, and when it is given."""

    reward: RewardPart | None = None
    pay: Pay | None = None


FormulaTexts: TypeAlias = Annotated[
    Annotated[str, Tag("<single>")]
    | Annotated[
        dict[str, Annotated[FormulaPay, in_short(lambda reward: {"reward": reward}, float | FormulaPay)]],
        Field(min_length=1),
        Tag("<mapping>"),
    ],
    _either("a formula, or {formula: reward} for several"),
]


class FormulaPart(Part):
    """A machine given by a formula or a regular expression."""

    ltlf: FormulaTexts | None = None
    regex: FormulaTexts | None = None
    syntax: Literal["praemia", "spot", "ltlf2dfa"] = "praemia"
    reward: RewardPart | None = None
    pay: Pay = "first"
    chance: dict[Name, float] = {}
    propositions: list[Name] | None = None

    @model_validator(mode="after")
    def _one_text(self) -> FormulaPart:
        if (self.ltlf is None) == (self.regex is None):
            raise ValueError("expected one of 'ltlf' and 'regex'")
        return self

    @property
    def text(self) -> str | dict[str, FormulaPay]:
        return self.ltlf or self.regex or ""


FORMULA_KEYS = frozenset({"ltlf", "regex"})
WORLDS = ("mdp", "grid", "environment", "gymnasium")


def machine_kind(value: Any) -> str:
    """Return which form a machine has: the name of a file, a formula or rules."""
    is_formula = isinstance(value, FormulaPart) or (isinstance(value, dict) and not FORMULA_KEYS.isdisjoint(value))
    return "<formula>" if is_formula else _kind(value)


class PatternPart(Part):
    """The transitions that match; in a list of ends, those that end an episode."""

    source: Name | None = Field(default=None, alias="from")
    action: Name | None = None
    to: Name | None = None


class LabelPart(PatternPart):
    """A rule of a labelling."""

    label: list[Name]


class MdpPart(Part):
    """A labelled MDP, written out; without a start, episodes start in the first observation."""

    observations: CountOrNames
    actions: CountOrNames
    start: Annotated[Distribution, in_short(lambda name: {name: 1.0}, Name | Distribution)] | None = None
    transitions: list[Annotated[tuple[Name, Name, Distribution], Field(strict=False)]]
    labels: list[LabelPart] = []
    ended: list[Annotated[PatternPart, in_short(lambda name: {"to": name}, Name | PatternPart)]] = []


LetterNames: TypeAlias = dict[
    Name, Annotated[list[Name], Field(min_length=1), in_short(lambda name: [name], Name | list[Name])]
]


class GridPart(Part):
    """A grid as a map; ``praemia.envs.grid_text`` has the meaning of its characters."""

    map: str
    legend: LetterNames = {}
    rooms: LetterNames = {}
    start: Name | None = None
    slip: Any = SLIP
    stay: bool = False
    slip_when_blocked: bool = True


class EnvironmentPart(Part):
    """A built-in environment; every other key is one of its parameters."""

    model_config = ConfigDict(extra="allow")

    name: str


def _plain_options(value: dict[str, Any]) -> dict[str, Any]:
    for key in value.keys() & {"labels", "env_or_id", "id"}:
        raise ValueError(f"{key!r} is not an option of an environment")
    return value


Bins: TypeAlias = Annotated[
    Annotated[Count, Tag("<single>")] | Annotated[list[float], Tag("<list>")],
    _either("a number of cells, or a list of cuts"),
]


class GymnasiumPart(Part):
    """A Gymnasium environment; with ``labels`` in it one with a transition table, without them a black box."""

    id: str
    labels: list[LabelPart] | None = None
    options: Annotated[dict[str, Any], AfterValidator(_plain_options)] = {}
    observations: Annotated[dict[Name, Bins], Field(min_length=1)] | None = None
    encode: str | None = None
    num_observations: Count | None = None

    @model_validator(mode="after")
    def _one_encoding(self) -> GymnasiumPart:
        own = [key for key in ("labels", "observations", "encode") if getattr(self, key) is not None]
        if len(own) > 1:
            found = " and ".join(own)
            raise ValueError(f"found {found}; expected one: a table has labels here, a black box beside 'gymnasium'")
        if self.num_observations is not None and self.encode is None:
            raise ValueError("'num_observations' is the limit of the values of 'encode'; leave it out")
        return self


StepTexts: TypeAlias = Annotated[
    Annotated[str, Tag("<single>")] | Annotated[dict[Name, str], Tag("<mapping>")],
    _either("{proposition: predicate}, or the key of info that holds the propositions"),
]


class TaskFile(Part):
    """A whole task file."""

    mdp: MdpPart | None = None
    grid: GridPart | None = None
    environment: EnvironmentPart | None = None
    gymnasium: GymnasiumPart | None = None
    labels: StepTexts | None = None
    machine: (
        Annotated[
            Annotated[str, Tag("<single>")]
            | Annotated[FormulaPart, Tag("<formula>")]
            | Annotated[MachinePart, Tag("<mapping>")],
            Discriminator(
                machine_kind,
                custom_error_type="form",
                custom_error_message="expected a machine or the name of a file with one",
            ),
        ]
        | None
    ) = None
    horizon: Annotated[int, Field(ge=1, le=MAX_HORIZON)] | None = None
    discount: Annotated[float, Field(gt=0.0, le=1.0, strict=False)] | None = None
    until_done: bool | None = None

    @model_validator(mode="after")
    def _one_world(self) -> TaskFile:
        worlds = [key for key in WORLDS if getattr(self, key) is not None]
        if len(worlds) != 1:
            raise ValueError(f"found {' and '.join(worlds) or 'none'} of {', '.join(WORLDS)}; expected one")
        if self.labels is not None and self.gymnasium is None:
            raise ValueError(f"'labels' beside 'gymnasium' are those of a black box; {worlds[0]} has its own")
        if self.gymnasium is not None and (self.labels is None) == (self.gymnasium.labels is None):
            raise ValueError(
                f"labels {'are missing' if self.labels is None else 'stand in two places'}: a black box has predicates "
                "beside 'gymnasium' (labels: {goal: position > 0.5}), a table of transitions a list within it"
            )
        return self


def json_schema(kind: Literal["task", "machine"], *, strict: bool = False) -> dict[str, Any]:
    """Return the form of a task file, or of a file with just a machine, as JSON Schema; ``strict`` has no short forms.

    Examples
    --------
    >>> from praemia.files.schema import json_schema
    >>> list(json_schema("task")["properties"])[:5]
    ['mdp', 'grid', 'environment', 'gymnasium', 'machine']
    """
    adapter = TypeAdapter[Any](TaskFile if kind == "task" else MachinePart | FormulaPart)
    return adapter.json_schema(mode="serialization" if strict else "validation")
