"""Read automata in the HOA format as reward machines.

The automaton is read on finite words: what was seen so far is accepted if the run ends in a state of the acceptance
set, or, where edges are marked, with an edge of it. A run that finds no edge is rejected from then on. Acceptance is
rewarded as satisfaction is (``automata``); the empty word never is.

What is read: explicit and implicit labels, labels of states, aliases, acceptance of states or of edges. What is
refused, with its line: other acceptance than one set (``Acceptance: 1 Inf(0)``), several initial states, universal
branching.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from praemia.errors import FileError, located
from praemia.files.formats.events import parsed
from praemia.files.source import parse_integer
from praemia.machines.automata import require_pay, step_payment
from praemia.machines.formula import ELSE, Formula, disjunction, in_quotes, read_name
from praemia.machines.guards import Booleans, exactly
from praemia.machines.labels import format_label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

MAX_LABEL = 100_000  # characters of a label, its aliases written out

_GRAMMAR = r"""
    start: "HOA:" version header* "--BODY--" (state | edge)* "--END--"
    version: ID
    ?header: "States:" INT                 -> states
           | "Start:" ends                 -> initial
           | "AP:" INT STRING*             -> propositions
           | "Alias:" ALIAS expression     -> alias
           | "Acceptance:" INT expression  -> acceptance
           | HEADER (INT | STRING | ID)*   -> other
    !expression: (ID | INT | ALIAS | "(" | ")" | "&" | "|" | "!")*
    state: "State:" [label] INT [STRING] [sets]
    edge: [label] ends [sets]
    ?label: "[" expression "]"
    ends: INT ("&" INT)*
    sets: "{" INT* "}"
    HEADER: /[A-Za-z_][\w.-]*:/
    ID: /[A-Za-z_][\w-]*/
    ALIAS: /@[\w-]+/
    INT: /0|[1-9][0-9]*/
    STRING: /"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\*.*?\*\//s
"""


class _Edge(NamedTuple):
    line: int
    guard: Formula
    target: int
    accepts: bool


@dataclass
class _Automaton:
    """An automaton as its file describes it; a method reads each kind of line, given its parts in the grammar."""

    size: int | None = None
    initial: int | None = None
    propositions: tuple[str, ...] = ()
    has_acceptance: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    accepting: set[int] = field(default_factory=set)
    edges: dict[int, list[_Edge]] = field(default_factory=dict)
    common: Any = None  # the label of the state that is being read

    def read_version(self, line: int, version: str) -> None:
        if version != "v1":
            raise FileError(f"HOA {version}; expected v1")

    def read_states(self, line: int, count: str) -> None:
        self.size = parse_integer(count)

    def read_initial(self, line: int, ends: Any) -> None:
        if self.initial is not None:
            raise FileError("a second initial state; the automaton is not deterministic")
        self.initial = _one(ends)

    def read_propositions(self, line: int, count: str, *names: str) -> None:
        if parse_integer(count) != len(names):
            raise FileError(f"{count} propositions are announced and {len(names)} named")
        self.propositions = tuple(map(read_name, names))

    def read_alias(self, line: int, name: str, expression: Any) -> None:
        self.aliases[name] = self.guard_text(expression)

    def read_acceptance(self, line: int, count: str, condition: Any) -> None:
        found = f"{count} {''.join(condition.children)}"
        if found != "1 Inf(0)":
            raise FileError(f"Acceptance: {found}; expected one acceptance set, 1 Inf(0)")
        self.has_acceptance = True

    def read_other(self, line: int, header: str, *_: str) -> None:
        if header[0].isupper():
            raise FileError(f"the header {header} may change what the automaton means; it is not read")

    def read_state(self, line: int, label: Any, index: str, name: str | None, sets: Any) -> None:
        state = parse_integer(index)
        if state in self.edges:
            raise FileError(f"state {state} is given twice")
        self.edges[state], self.common = [], label
        self.names |= {} if name is None else {state: read_name(name)}
        self.accepting |= {state} if sets is not None and sets.children else set()

    def read_edge(self, line: int, label: Any, ends: Any, sets: Any) -> None:
        if not self.edges:
            raise FileError("an edge before the first state")
        edges, label = self.edges[next(reversed(self.edges))], label or self.common
        if label is not None:
            guard = parse_guard(self.guard_text(label))
        else:  # edges without labels are for all labels, in the order of binary numbers
            number, names = len(edges), self.propositions
            if number >> len(names):
                raise FileError(f"edge {number + 1} of a state without labels; {len(names)} propositions have fewer")
            guard = exactly({name for bit, name in enumerate(names) if number >> bit & 1}, names)
        edges.append(_Edge(line, guard, _one(ends), sets is not None and bool(sets.children)))

    def guard_text(self, expression: Any) -> str:
        """Return a label expression over the indices of propositions as the text of a guard."""
        text = " ".join(map(self._word, expression.children))
        if len(text) > MAX_LABEL:
            raise FileError(f"a label of more than {MAX_LABEL:,} characters, its aliases written out")
        return text

    def _word(self, token: str) -> str:
        if token in (*"()&|!",):
            return str(token)
        if token in ("t", "f"):
            return "true" if token == "t" else "false"
        if token.startswith("@"):
            if token not in self.aliases:
                raise FileError(f"unknown alias {token}")
            return f"({self.aliases[token]})"
        if not token.isdecimal():
            raise FileError(f"the word {str(token)!r} in a label; expected indices of propositions, t or f")
        index = parse_integer(token)
        if index >= len(self.propositions):
            raise FileError(f"proposition {index}; there are {len(self.propositions)}, counted from 0")
        return in_quotes(self.propositions[index])

    def validate(self) -> None:
        """Refuse what is missing, two kinds of acceptance, and nondeterminism."""
        if self.initial not in self.edges:
            raise FileError(f"the header Start: is missing, or its state {self.initial} is not given")
        if not self.has_acceptance:
            raise FileError("the header Acceptance: is missing")
        if self.accepting and any(edge.accepts for edges in self.edges.values() for edge in edges):
            raise FileError("both states and edges are in the acceptance set; expected one kind")
        if self.size is not None and len(self.edges) > self.size:
            raise FileError(f"{len(self.edges)} states are given and {self.size} announced")
        for state, edges in self.edges.items():
            for edge in edges:
                if edge.target not in self.edges:
                    raise FileError(f"line {edge.line}: an edge to state {edge.target}, which is not given")
            for first, second, label in Booleans().overlaps(edge.guard for edge in edges):
                if edges[first][2:] != edges[second][2:]:
                    raise FileError(
                        f"from state {state} the edges of lines {edges[first].line} and {edges[second].line} both hold "
                        f"on {format_label(label)}; the automaton is not deterministic"
                    )


def _one(ends: Any) -> int:
    if len(ends.children) > 1:
        raise FileError("several states at once (&); universal branching is not deterministic")
    return parse_integer(ends.children[0])


def read_hoa(text: str, name: str, pay: str = "first") -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages, ``pay`` is the payment scheme."""
    require_pay(pay)
    tree = parsed(_GRAMMAR, text, name, "an automaton: HOA: v1, headers, --BODY--, states with edges, --END--")
    automaton = _Automaton()
    for item in tree.children:
        with located(f"{name}:{item.meta.line}"):
            getattr(automaton, f"read_{item.data}")(item.meta.line, *item.children)
    with located(name):
        automaton.validate()
        return _machine(automaton, pay)


_State: TypeAlias = tuple[int | None, bool]  # a state, None where a run ends; whether it was accepted so far


def _machine(automaton: _Automaton, pay: str) -> RewardMachine:
    """Return a deterministic automaton with a payment scheme as a machine."""
    first: _State = (automaton.initial, False)
    waiting: list[_State] = [first] if pay == "end" else [(state, False) for state in automaton.edges]
    names = {state: _name(automaton, state) for state in waiting}
    rules = []
    for state in waiting:
        guards: dict[tuple[_State, float], list[Formula]] = {}  # those that overlap lead to the same
        for guard, target, reward in _moves(automaton, pay, *state):
            guards.setdefault((target, reward), []).append(guard)
        for (target, reward), alternatives in guards.items():
            if target not in names:
                names[target] = _name(automaton, target)
                waiting.append(target)
            outcome = Outcome(names[target], 1.0, Reward.of(reward))
            rules.append(Rule(names[state], disjunction(alternatives), (outcome,)))
    return RewardMachine(tuple(names.values()), names[first], automaton.propositions, rules)


def _moves(
    automaton: _Automaton, pay: str, state: int | None, accepted: bool
) -> Iterator[tuple[Formula, _State, float]]:
    def step(target: int | None, accepts: bool) -> tuple[_State, float]:
        payment, satisfied, is_over = step_payment(pay, accepts, accepted)
        return (None, True) if is_over else (target, satisfied), float(payment)

    if state is None:
        return
    functions = Booleans()
    some_edge = functions.join("|", [functions.function(edge.guard) for edge in automaton.edges[state]])
    is_complete = some_edge == functions.true
    for edge in automaton.edges[state]:
        target, reward = step(edge.target, edge.accepts or edge.target in automaton.accepting)
        if not is_complete or (target, reward) != ((state, accepted), 0.0):  # to stay without reward needs no rule
            yield edge.guard, target, reward
    if not is_complete:
        yield ELSE, *step(None, False)


def _name(automaton: _Automaton, state: _State) -> str:
    """Return a state's name in the file if all have one, else its index."""
    number, accepted = state
    names = automaton.names
    own = names if len(set(names.values())) == len(automaton.edges) else {}
    if number is not None:
        return own.get(number, str(number)) + (", accepted" if accepted else "")
    name = "paid" if accepted else "rejected"
    while name in own.values():
        name += "'"
    return name
