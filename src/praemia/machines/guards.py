"""Guards: boolean expressions over propositions, kept symbolic.

    guard  :=  guard "|" guard  |  guard "&" guard  |  "!" guard  |  "(" guard ")"  |  name  |  "true"  |  "false"

``!`` binds tightest, then ``&``, then ``|``. A name starts with a letter or ``_`` and goes on with letters,
digits, ``_`` and ``-``; any other name, and one that is a word of this grammar, stands in double quotes:
``"at(A)"``, ``"else"``. ``else`` alone stands for all labels that no other rule of the state takes. Text is parsed by
a grammar and never evaluated. A guard is decided on a label (a set of propositions) in time linear in its length,
so a machine over 40 propositions never meets 2^40 labels. Whether two guards can hold on the same label is a
satisfiability question, answered by case-splitting one proposition at a time.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from praemia.errors import ModelError
from praemia.machines.syntax import in_quotes, unquoted

MAX_LENGTH = 10_000
MAX_DEPTH = 100
MAX_SPLITS = 10_000

_RESERVED = frozenset({"true", "false", "else"})
_NAME = re.compile(r"[^\W\d][\w-]*")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\["\\])+"')
_GRAMMAR = r"""
    ?start: either
    ?either: both ("|" both)*        -> either
    ?both: factor ("&" factor)*      -> both
    ?factor: "!" factor              -> negation
           | "(" either ")"
           | "true"                  -> true
           | "false"                 -> false
           | "else"                  -> rest
           | NAME                    -> name
           | QUOTED                  -> quoted
    NAME: /[^\W\d][\w-]*/
    QUOTED: /"(?:[^"\\\n]|\\["\\])+"/
    %ignore /\s+/
"""


class Guard(ABC):
    """A boolean expression over propositions."""

    @abstractmethod
    def holds(self, label: Set[str]) -> bool:
        """Tell whether the guard holds on a label, the set of the propositions that are true."""

    @abstractmethod
    def propositions(self) -> frozenset[str]:
        """Return the propositions that the guard reads."""

    @abstractmethod
    def given(self, known: Mapping[str, bool]) -> Guard:
        """Return the guard that is left once some propositions are known."""

    @cached_property
    def literals(self) -> tuple[frozenset[str], frozenset[str]]:
        """The propositions that must be true, and those that must be false, as far as the top level tells."""
        parts = self.parts if isinstance(self, Junction) and self.operator == "&" else (self,)
        negated = (part.part for part in parts if isinstance(part, Negation))
        return (
            frozenset(part.name for part in parts if isinstance(part, Proposition)),
            frozenset(part.name for part in negated if isinstance(part, Proposition)),
        )

    def __and__(self, other: Guard) -> Guard:
        return _join("&", (self, other))

    def __or__(self, other: Guard) -> Guard:
        return _join("|", (self, other))

    def __invert__(self) -> Guard:
        return _negate(self)


@dataclass(frozen=True)
class Constant(Guard):
    """Always true, or never."""

    value: bool

    def holds(self, label: Set[str]) -> bool:
        return self.value

    def propositions(self) -> frozenset[str]:
        return frozenset()

    def given(self, known: Mapping[str, bool]) -> Guard:
        return self

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Proposition(Guard):
    """True when the label contains the name."""

    name: str

    def holds(self, label: Set[str]) -> bool:
        return self.name in label

    def propositions(self) -> frozenset[str]:
        return frozenset((self.name,))

    def given(self, known: Mapping[str, bool]) -> Guard:
        return Constant(known[self.name]) if self.name in known else self

    def __str__(self) -> str:
        return quoted_name(self.name, _RESERVED)


@dataclass(frozen=True)
class Negation(Guard):
    """True when its part is false."""

    part: Guard

    def holds(self, label: Set[str]) -> bool:
        return not self.part.holds(label)

    def propositions(self) -> frozenset[str]:
        return self.part.propositions()

    def given(self, known: Mapping[str, bool]) -> Guard:
        return _negate(self.part.given(known))

    def __str__(self) -> str:
        return f"!({self.part})" if isinstance(self.part, Junction) else f"!{self.part}"


@dataclass(frozen=True)
class Junction(Guard):
    """All of the parts (``&``), or any of them (``|``)."""

    operator: str
    parts: tuple[Guard, ...]

    def holds(self, label: Set[str]) -> bool:
        return (all if self.operator == "&" else any)(part.holds(label) for part in self.parts)

    def propositions(self) -> frozenset[str]:
        return frozenset().union(*(part.propositions() for part in self.parts))

    def given(self, known: Mapping[str, bool]) -> Guard:
        return _join(self.operator, tuple(part.given(known) for part in self.parts))

    def __str__(self) -> str:
        def bracketed(part: Guard) -> str:
            loose = isinstance(part, Junction) and self.operator == "&"
            return f"({part})" if loose else str(part)

        return f" {self.operator} ".join(map(bracketed, self.parts))


@dataclass(frozen=True)
class Else(Guard):
    """The labels that the other rules of a state leave; the machine works out which these are."""

    rest: Guard = Constant(True)

    def holds(self, label: Set[str]) -> bool:
        return self.rest.holds(label)

    def propositions(self) -> frozenset[str]:
        return self.rest.propositions()

    def given(self, known: Mapping[str, bool]) -> Guard:
        return self.rest.given(known)

    def __str__(self) -> str:
        return "else"


def quoted_name(name: str, reserved: Set[str]) -> str:
    """Write a name bare where it can be read back, else in double quotes."""
    if _NAME.fullmatch(name) and name not in reserved:
        return name
    return in_quotes(name)


def _negate(part: Guard) -> Guard:
    if isinstance(part, Else):
        return _negate(part.rest)
    if isinstance(part, Constant):
        return Constant(not part.value)
    return part.part if isinstance(part, Negation) else Negation(part)


def _join(operator: str, parts: tuple[Guard, ...]) -> Guard:
    """Join parts; drop neutral constants and duplicates, and flatten nested junctions of the same kind."""
    neutral = operator == "&"
    kept: dict[Guard, None] = {}
    for each in parts:
        part = each.rest if isinstance(each, Else) else each
        inner = part.parts if isinstance(part, Junction) and part.operator == operator else (part,)
        for item in inner:
            if isinstance(item, Constant):
                if item.value != neutral:
                    return item
            else:
                kept[item] = None
    if not kept:
        return Constant(neutral)
    return next(iter(kept)) if len(kept) == 1 else Junction(operator, tuple(kept))


def parse_guard(text: str) -> Guard:
    """Parse a guard such as ``item & !(delivery | busy)``."""
    from lark import Token, Tree
    from lark.exceptions import UnexpectedInput

    if len(text) > MAX_LENGTH:
        raise ModelError(f"a guard of {len(text)} characters; at most {MAX_LENGTH} are read")
    if nesting(text) > MAX_DEPTH:
        raise ModelError(f"a guard nested more than {MAX_DEPTH} deep")

    def build(node: Tree[Token] | Token) -> Guard:
        if isinstance(node, Token):
            return Proposition(unquoted(node) if node.type == "QUOTED" else str(node))
        parts = [build(child) for child in node.children]
        match node.data:
            case "true" | "false":
                return Constant(node.data == "true")
            case "rest":
                raise ModelError(
                    f"guard {text!r}: 'else' stands alone; a proposition of that name is \"else\", in quotes"
                )
            case "negation":
                return _negate(parts[0])
            case "both" | "either":
                return _join("&" if node.data == "both" else "|", tuple(parts))
            case _:
                return parts[0]

    if text.strip() == "else":
        return Else()
    try:
        return build(_parser().parse(text))
    except UnexpectedInput as error:
        at_end = getattr(getattr(error, "token", None), "type", None) == "$END"
        found = "it ends too early" if at_end else f"stopped at {text[error.pos_in_stream or 0 :][:20]!r}"
        raise ModelError(f"guard {text!r}: {found}; expected propositions joined by & | ! and brackets") from None


@cache
def _parser() -> Any:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=False)


def reads_back(guard: Guard) -> bool:
    """Tell whether ``parse_guard`` makes the same guard of a guard's text, without parsing more than its names."""
    if isinstance(guard, Else):
        return True
    text = str(guard)
    names_read = all(map(_name_reads_back, guard.propositions()))
    return names_read and len(text) <= MAX_LENGTH and nesting(text) <= MAX_DEPTH and guard.given({}) == guard


@cache
def _name_reads_back(name: str) -> bool:
    text = str(Proposition(name))
    return bool(_NAME.fullmatch(text) or (_QUOTED.fullmatch(text) and unquoted(text) == name))


def nesting(text: str) -> int:
    """Bound the depth of the parse tree: the open brackets and the negations that wait for their operand."""
    outer: list[int] = []
    total = run = deepest = 0
    for character in _QUOTED.sub("x", text):
        if character == "!":
            run += 1
        elif character == "(":
            outer.append(run + 1)
            total, run = total + run + 1, 0
        elif character == ")":
            total, run = total - (outer.pop() if outer else 0), 0
        elif not character.isspace():
            run = 0
        deepest = max(deepest, total + run)
    return deepest


def overlap(first: Guard, second: Guard) -> frozenset[str] | None:
    """Return a label on which both guards hold, or None when there is none."""
    if not first.literals[0].isdisjoint(second.literals[1]) or not first.literals[1].isdisjoint(second.literals[0]):
        return None
    pending: list[tuple[Guard, dict[str, bool]]] = [(first & second, {})]
    for _ in range(MAX_SPLITS):
        if not pending:
            return None
        guard, chosen = pending.pop()
        if isinstance(guard, Constant):
            if guard.value:
                return frozenset(name for name, value in chosen.items() if value)
            continue
        for choice in _choices(guard):
            pending.append((guard.given(choice), chosen | choice))
    raise ModelError(f"guards {str(first)!r} and {str(second)!r} are too complicated to compare")


def _choices(guard: Guard) -> list[dict[str, bool]]:
    """Return what to assume next: all forced literals, or else one proposition both ways."""
    true, false = guard.literals
    forced = dict.fromkeys(true, True) | dict.fromkeys(false, False)
    if forced:
        return [forced]
    name = min(guard.propositions())
    return [{name: True}, {name: False}]


def only(name: str, among: Iterable[str]) -> Guard:
    """Return the guard that holds when a proposition is true and the others are not.

    Rules of one machine state must exclude each other also on labels that never occur.
    """
    guard: Guard = Proposition(name)
    for other in among:
        if other != name:
            guard = guard & ~Proposition(other)
    return guard
