"""Parse automata in the Hanoi Omega-Automata format (HOA, version 1).

What is read: explicit and implicit labels, labels of states, aliases, acceptance of states or of edges. What is
refused, with its line: other acceptance than one set (``Acceptance: 1 Inf(0)``), several initial states, universal
branching.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from praemia.errors import FileError
from praemia.files.formats.common import at_line, parsed
from praemia.files.source import whole_number
from praemia.machines.formula import FALSE, TRUE, conjunction, disjunction, proposition, unquoted
from praemia.machines.guards import Guard, exactly

MAX_DEPTH = 150
MAX_IMPLICIT = 8  # propositions: an automaton with implicit labels has 2^propositions edges from every state

_GRAMMAR = r"""
    start: "HOA:" ID header* "--BODY--" state* "--END--"
    header: "States:" INT                  -> states
          | "Start:" ends                  -> initial
          | "AP:" INT STRING*              -> propositions
          | "Alias:" ALIAS guard           -> alias
          | "Acceptance:" INT acceptance*  -> acceptance
          | HEADER (INT | STRING | ID)*    -> other
    !acceptance: ID | INT | "(" | ")" | "&" | "|" | "!"
    state: "State:" label? INT STRING? sets? edge*
    edge: label? ends sets?
    label: "[" guard "]"
    ends: INT ("&" INT)*
    sets: "{" INT* "}"
    ?guard: both ("|" both)*       -> either
    ?both: factor ("&" factor)*    -> both
    ?factor: "!" factor            -> negation
           | "(" guard ")"
           | INT                   -> number
           | ALIAS                 -> name
           | ID                    -> constant
    HEADER: /[A-Za-z_][\w.-]*:/
    ID: /[A-Za-z_][\w-]*/
    ALIAS: /@[\w-]+/
    INT: /0|[1-9][0-9]*/
    STRING: /"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\*.*?\*\//s
"""
_DESCRIBING = frozenset({"tool:", "name:", "properties:", "acc-name:"})


@dataclass(frozen=True)
class Edge:
    """An edge; ``accepts`` tells whether it is in the acceptance set."""

    line: int
    guard: Guard
    target: int
    accepts: bool


@dataclass
class Hoa:
    """An automaton as its file says it; ``pay`` is how it was written to pay, if it says so."""

    name: str
    size: int | None = None
    initial: int | None = None
    propositions: tuple[str, ...] = ()
    pay: str | None = None
    aliases: dict[str, Guard] = field(default_factory=dict)
    has_acceptance: bool = False
    names: dict[int, str] = field(default_factory=dict)
    accepting: dict[int, bool] = field(default_factory=dict)
    edges: dict[int, list[Edge]] = field(default_factory=dict)

    def guard(self, node: Any) -> Guard:
        """Return a label expression over the propositions' numbers as a guard."""
        first = node.children[0]
        match node.data:
            case "number":
                number = whole_number(first)
                if number >= len(self.propositions):
                    raise FileError(f"proposition {number}; there are {len(self.propositions)}, numbered from 0")
                return proposition(self.propositions[number])
            case "name":
                if str(first) not in self.aliases:
                    raise FileError(f"unknown alias {first}")
                return self.aliases[str(first)]
            case "constant":
                if first not in ("t", "f"):
                    raise FileError(f"the word {str(first)!r} in a label; expected numbers of propositions, t or f")
                return TRUE if first == "t" else FALSE
            case "negation":
                return ~self.guard(first)
            case _:
                join = conjunction if node.data == "both" else disjunction
                return join([self.guard(child) for child in node.children])


def parse_hoa(text: str, name: str) -> Hoa:
    """Parse a text; ``name`` stands for it in messages."""
    tree = parsed(_parser(), text, name, "an automaton: HOA: v1, headers, --BODY--, states with edges, --END--")
    if _depth(tree) > MAX_DEPTH:
        raise FileError(f"{name}: labels nested more than {MAX_DEPTH} deep")
    hoa = Hoa(name)
    for item in tree.children[1:]:
        with at_line(name, item.meta.line):
            _read_state(hoa, item) if item.data == "state" else _read_header(hoa, item)
    if tree.children[0] != "v1":
        raise FileError(f"{name}:1: HOA {tree.children[0]}; expected v1")
    if hoa.initial is None or not hoa.has_acceptance:
        missing = "Start" if hoa.initial is None else "Acceptance"
        raise FileError(f"{name}: the header {missing}: is missing")
    return hoa


def _depth(tree: Any) -> int:
    """Return the depth of a tree, without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level + 1) for child in getattr(node, "children", ())]
    return deepest


@cache
def _parser() -> Any:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def _read_header(hoa: Hoa, item: Any) -> None:
    match item.data:
        case "states":
            hoa.size = whole_number(item.children[0])
        case "initial":
            if hoa.initial is not None:
                raise FileError("a second initial state; the automaton is not deterministic")
            hoa.initial = _one(item.children[0])
        case "propositions":
            count, *names = item.children
            if whole_number(count) != len(names):
                raise FileError(f"{count} propositions are announced and {len(names)} named")
            hoa.propositions = tuple(unquoted(text) for text in names)
        case "alias":
            hoa.aliases[str(item.children[0])] = hoa.guard(item.children[1])
        case "acceptance":
            count, *condition = item.children
            written = "".join(str(token) for part in condition for token in part.children)
            if (str(count), written) != ("1", "Inf(0)"):
                raise FileError(f"Acceptance: {count} {written}; expected one acceptance set, 1 Inf(0)")
            hoa.has_acceptance = True
        case _:
            header, *values = map(str, item.children)
            if header == "praemia-pay:":
                hoa.pay = "".join(values)
            elif header[0].isupper() and header not in _DESCRIBING:
                raise FileError(f"the header {header} may change what the automaton means, and is not known here")


def _read_state(hoa: Hoa, item: Any) -> None:
    parts = {part.data: part for part in item.children if hasattr(part, "data") and part.data != "edge"}
    tokens = [part for part in item.children if not hasattr(part, "data")]
    number = whole_number(tokens[0])
    if number in hoa.edges:
        raise FileError(f"state {number} is given twice")
    if len(tokens) > 1:
        hoa.names[number] = unquoted(tokens[1])
    hoa.accepting[number] = "sets" in parts and bool(parts["sets"].children)
    common = hoa.guard(parts["label"].children[0]) if "label" in parts else None
    hoa.edges[number] = list(
        _edges(hoa, [part for part in item.children if getattr(part, "data", "") == "edge"], common)
    )


def _edges(hoa: Hoa, items: list[Any], common: Guard | None) -> Iterator[Edge]:
    implicit = [item for item in items if item.children[0].data != "label"]
    if common is None and implicit:
        if len(hoa.propositions) > MAX_IMPLICIT:
            raise FileError(f"edges without labels over {len(hoa.propositions)} propositions; at most {MAX_IMPLICIT}")
        num_labels = 1 << len(hoa.propositions)
        if not len(implicit) == len(items) == num_labels:
            raise FileError(f"{len(implicit)} edges without a label; expected none, or one for each of {num_labels}")
    for number, item in enumerate(items):
        line = item.children[0].meta.line
        with at_line(hoa.name, line):
            parts = {part.data: part for part in item.children}
            if "label" in parts:
                guard = hoa.guard(parts["label"].children[0])
            else:
                true = frozenset(name for bit, name in enumerate(hoa.propositions) if number >> bit & 1)
                guard = exactly(true, hoa.propositions) if common is None else common
            accepts = "sets" in parts and bool(parts["sets"].children)
            yield Edge(line, guard, _one(parts["ends"]), accepts)


def _one(ends: Any) -> int:
    if len(ends.children) > 1:
        raise FileError("several states at once (&); universal branching is not deterministic")
    return whole_number(ends.children[0])
