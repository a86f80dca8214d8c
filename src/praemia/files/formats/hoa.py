"""Read and write automata in the HOA format as machines that pay.

The automaton is read on finite words: what was seen so far is accepted if the run ends in a state of the acceptance
set, or, where edges are marked, with an edge of it. A run that finds no edge is rejected from then on. Acceptance pays
as satisfaction does (``automata``); the empty word never pays. A machine is written with marked edges
and the header ``praemia-pay: each``.

What is read: explicit and implicit labels, labels of states, aliases, acceptance of states or of edges. What is
refused, with its line: other acceptance than one set (``Acceptance: 1 Inf(0)``), several initial states, universal
branching.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from praemia.errors import FileError, ModelError, located
from praemia.files.formats.common import parsed, sure_outcome
from praemia.files.source import whole_number
from praemia.machines.automata import require_pay, step_payment
from praemia.machines.formula import ELSE, TRUE, Formula, disjunction, in_quotes, proposition, read_name
from praemia.machines.guards import Booleans, exactly, example_label
from praemia.machines.labels import format_label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule, by_source
from praemia.machines.syntax import BOOLEAN, Language, build, formula_of, parse

MAX_IMPLICIT = 8  # propositions: an automaton with implicit labels has 2^propositions edges from every state

_GRAMMAR = r"""
    start: "HOA:" ID header* "--BODY--" state* "--END--"
    header: "States:" INT                  -> states
          | "Start:" ends                  -> initial
          | "AP:" INT STRING*              -> propositions
          | "Alias:" ALIAS expression      -> alias
          | "Acceptance:" INT expression   -> acceptance
          | HEADER (INT | STRING | ID)*    -> other
    !expression: (ID | INT | ALIAS | "(" | ")" | "&" | "|" | "!")*
    state: "State:" label? INT STRING? sets? edge*
    edge: label? ends sets?
    label: "[" expression "]"
    ends: INT ("&" INT)*
    sets: "{" INT* "}"
    HEADER: /[A-Za-z_][\w.-]*:/
    ID: /[A-Za-z_][\w-]*/
    ALIAS: /@[\w-]+/
    INT: /0|[1-9][0-9]*/
    STRING: /"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\*.*?\*\//s
"""
_LABEL = Language("label", BOOLEAN, ("t", "f"), "", "", {"!": "!"}, name=r"[@\w][\w-]*")
_DESCRIBING = frozenset({"tool:", "name:", "properties:", "acc-name:"})


@dataclass(frozen=True)
class HoaEdge:
    """An edge; ``accepts`` tells whether it is in the acceptance set."""

    line: int
    guard: Formula
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
    aliases: dict[str, Formula] = field(default_factory=dict)
    has_acceptance: bool = False
    names: dict[int, str] = field(default_factory=dict)
    accepting: dict[int, bool] = field(default_factory=dict)
    edges: dict[int, list[HoaEdge]] = field(default_factory=dict)

    def guard(self, expression: Any) -> Formula:
        """Return a label expression over the propositions' numbers as a guard."""
        try:
            tokens = parse(_LABEL, " ".join(expression.children))
        except ModelError as error:
            raise FileError(str(error)) from None
        return build(tokens, lambda token, parts: formula_of(token, parts, name=self._atom))

    def _atom(self, name: str) -> Formula:
        if name.startswith("@"):
            if name not in self.aliases:
                raise FileError(f"unknown alias {name}")
            return self.aliases[name]
        if not name.isdecimal():
            raise FileError(f"the word {name!r} in a label; expected numbers of propositions, t or f")
        number = whole_number(name)
        if number >= len(self.propositions):
            raise FileError(f"proposition {number}; there are {len(self.propositions)}, numbered from 0")
        return proposition(self.propositions[number])


def parse_hoa(text: str, name: str) -> Hoa:
    """Parse a text; ``name`` stands for it in messages."""
    tree = parsed(_parser(), text, name, "an automaton: HOA: v1, headers, --BODY--, states with edges, --END--")
    hoa = Hoa(name)
    for item in tree.children[1:]:
        if item.data == "state":
            _read_state(hoa, item)
        else:
            with located(f"{name}:{item.meta.line}"):
                _read_header(hoa, item)
    if tree.children[0] != "v1":
        raise FileError(f"{name}:1: HOA {tree.children[0]}; expected v1")
    if hoa.initial is None or not hoa.has_acceptance:
        missing = "Start" if hoa.initial is None else "Acceptance"
        raise FileError(f"{name}: the header {missing}: is missing")
    return hoa


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
            hoa.propositions = tuple(read_name(text) for text in names)
        case "alias":
            hoa.aliases[str(item.children[0])] = hoa.guard(item.children[1])
        case "acceptance":
            count, condition = item.children
            condition_text = "".join(condition.children)
            if (str(count), condition_text) != ("1", "Inf(0)"):
                raise FileError(f"Acceptance: {count} {condition_text}; expected one acceptance set, 1 Inf(0)")
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
    edges = [part for part in item.children if getattr(part, "data", "") == "edge"]
    with located(f"{hoa.name}:{item.meta.line}"):
        number = whole_number(tokens[0])
        if number in hoa.edges:
            raise FileError(f"state {number} is given twice")
        if len(tokens) > 1:
            hoa.names[number] = read_name(tokens[1])
        hoa.accepting[number] = "sets" in parts and bool(parts["sets"].children)
        common = hoa.guard(parts["label"].children[0]) if "label" in parts else None
        _require_every_label(hoa, edges, common)
    hoa.edges[number] = list(_edges(hoa, edges, common))


def _require_every_label(hoa: Hoa, items: list[Any], common: Formula | None) -> None:
    """Refuse edges without labels, unless there is one for each label."""
    implicit = [item for item in items if item.children[0].data != "label"]
    if common is None and implicit:
        if len(hoa.propositions) > MAX_IMPLICIT:
            raise FileError(f"edges without labels over {len(hoa.propositions)} propositions; at most {MAX_IMPLICIT}")
        num_labels = 1 << len(hoa.propositions)
        if not len(implicit) == len(items) == num_labels:
            raise FileError(f"{len(implicit)} edges without a label; expected none, or one for each of {num_labels}")


def _edges(hoa: Hoa, items: list[Any], common: Formula | None) -> Iterator[HoaEdge]:
    for number, item in enumerate(items):
        line = item.children[0].meta.line
        with located(f"{hoa.name}:{line}"):
            parts = {part.data: part for part in item.children}
            if "label" in parts:
                guard = hoa.guard(parts["label"].children[0])
            else:
                true = frozenset(name for bit, name in enumerate(hoa.propositions) if number >> bit & 1)
                guard = exactly(true, hoa.propositions) if common is None else common
            accepts = "sets" in parts and bool(parts["sets"].children)
            yield HoaEdge(line, guard, _one(parts["ends"]), accepts)


def _one(ends: Any) -> int:
    if len(ends.children) > 1:
        raise FileError("several states at once (&); universal branching is not deterministic")
    return whole_number(ends.children[0])


_State: TypeAlias = tuple[int | None, bool]


def read_hoa(text: str, name: str, pay: str | None = None) -> RewardMachine:
    """Return the machine of a text; without ``pay``, as the file says, or at the first acceptance."""
    hoa = parse_hoa(text, name)
    way = pay or hoa.pay or "first"
    require_pay(way)
    _validate(hoa)
    return _Paying(hoa, way).build()


def _validate(hoa: Hoa) -> None:
    """Refuse edges to missing states, two kinds of acceptance, and nondeterminism."""
    marked = any(edge.accepts for edges in hoa.edges.values() for edge in edges)
    if marked and any(hoa.accepting.values()):
        raise FileError(f"{hoa.name}: both states and edges are in the acceptance set; expected one kind")
    for state, edges in hoa.edges.items():
        for edge in edges:
            if edge.target not in hoa.edges:
                raise FileError(f"{hoa.name}:{edge.line}: an edge to state {edge.target}, which is not given")
        _require_deterministic(hoa, state)
    if hoa.initial not in hoa.edges:
        raise FileError(f"{hoa.name}: the initial state {hoa.initial} is not given")
    if hoa.size is not None and len(hoa.edges) > hoa.size:
        raise FileError(f"{hoa.name}: {len(hoa.edges)} states are given and {hoa.size} announced")


def _require_deterministic(hoa: Hoa, state: int) -> None:
    edges = hoa.edges[state]
    for first, second, label in Booleans().overlaps(edge.guard for edge in edges):
        edge, other = edges[second], edges[first]
        if (other.target, other.accepts) != (edge.target, edge.accepts):
            raise FileError(
                f"{hoa.name}:{edge.line}: from state {state} this edge and that of line {other.line} both hold on "
                f"{format_label(label)}; the automaton is not deterministic"
            )


@dataclass(frozen=True)
class _Paying:
    """A deterministic automaton with a payment scheme.

    The machine's states are (state, accepted so far); the state None is where a run ends.
    """

    hoa: Hoa
    pay: str

    def build(self) -> RewardMachine:
        first: _State = (self.hoa.initial, False)
        waiting: list[_State] = [first] if self.pay == "end" else [(number, False) for number in self.hoa.edges]
        names = {state: self._name(state) for state in waiting}
        rules = []
        for state in waiting:
            guards: dict[tuple[_State, float], list[Formula]] = {}  # those that overlap lead to the same
            for guard, target, reward in self._moves(*state):
                guards.setdefault((target, reward), []).append(guard)
            for (target, reward), alternatives in guards.items():
                if target not in names:
                    names[target] = self._name(target)
                    waiting.append(target)
                outcome = Outcome(names[target], 1.0, Reward.of(reward))
                rules.append(Rule(names[state], disjunction(alternatives), (outcome,)))
        return RewardMachine(tuple(names.values()), names[first], self.hoa.propositions, rules)

    def _moves(self, state: int | None, accepted: bool) -> Iterator[tuple[Formula, _State, float]]:
        if state is None:
            return
        functions = Booleans()
        some_edge = functions.join("|", [functions.function(edge.guard) for edge in self.hoa.edges[state]])
        is_complete = some_edge == functions.true
        for edge in self.hoa.edges[state]:
            target, reward = self._step(edge.target, accepted, edge.accepts or self.hoa.accepting[edge.target])
            if not is_complete or (target, reward) != ((state, accepted), 0.0):  # to stay unpaid needs no rule
                yield edge.guard, target, reward
        if not is_complete:
            yield ELSE, *self._step(None, accepted, accepts=False)

    def _step(self, target: int | None, accepted: bool, accepts: bool) -> tuple[_State, float]:
        payment, satisfied, is_over = step_payment(self.pay, accepts, accepted)
        return (None, True) if is_over else (target, satisfied), float(payment)

    def _name(self, state: _State) -> str:
        number, accepted = state
        file_names = self.hoa.names
        own = file_names if len(file_names) == len(self.hoa.edges) == len(set(file_names.values())) else {}
        if number is None:
            name = "paid" if accepted else "rejected"
        else:
            name = own.get(number, str(number)) + (", accepted" if accepted else "")
        while number is None and name in own.values():
            name += "'"
        return name


def write_hoa(machine: RewardMachine) -> str:
    """Return the text of a deterministic machine that pays 1 or nothing: the edges that pay are the set."""
    names = machine.propositions
    quoted = "".join(f" {in_quotes(name)}" for name in names)
    lines = ["HOA: v1", f"States: {machine.num_states}", f"Start: {machine.index[machine.initial]}"]
    lines += [f"AP: {len(names)}{quoted}", "acc-name: Buchi", "Acceptance: 1 Inf(0)"]
    lines += [
        "properties: trans-labels explicit-labels trans-acc deterministic complete",
        "praemia-pay: each",
        "--BODY--",
    ]
    for state, rules in by_source(machine.states, machine.exclusive_rules).items():
        lines.append(f"State: {machine.index[state]} {in_quotes(state)}")
        rest: Formula = TRUE
        for rule in rules:
            target, reward = sure_outcome(rule)
            if reward not in (0.0, 1.0):
                raise ModelError(f"{rule.where}: it pays {reward:g}; an automaton can only pay 0 or 1")
            mark = " {0}" if reward else ""
            lines.append(f"[{_label(rule.guard, names)}] {machine.index[target]}{mark}")
            rest = rest & ~rule.guard
        if example_label(rest) is not None:
            lines.append(f"[{_label(rest, names)}] {machine.index[state]}")
    return "\n".join([*lines, "--END--"]) + "\n"


def _label(guard: Formula, names: tuple[str, ...]) -> str:
    match guard.operator:
        case "name":
            return str(names.index(guard.name))
        case "true" | "false":
            return guard.operator[0]
        case "else":
            return _label(guard.parts[0], names)
    parts = [f"({_label(part, names)})" if part.operator in "&|" else _label(part, names) for part in guard.parts]
    return f"!{parts[0]}" if guard.operator == "!" else guard.operator.join(parts)
