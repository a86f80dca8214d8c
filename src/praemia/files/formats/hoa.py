"""Read automata in the HOA format as reward machines.

The automaton is read on finite words: what was seen so far is accepted if the run ends in a state of the acceptance
set, or, where edges are marked, with an edge of it. A run that finds no edge is rejected from then on. Acceptance is
rewarded as the satisfaction of a formula is, and the machine is the smallest one.

Every edge has a label. What is refused, with its line: other acceptance than one set (``Acceptance: 1 Inf(0)``),
several initial states, universal branching, edges that overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from praemia.errors import FileError, located
from praemia.files.formats.events import machine_of_rules, parsed
from praemia.files.source import parse_integer
from praemia.machines.automata import smallest_automaton
from praemia.machines.diagrams import Growth
from praemia.machines.formula import ELSE, Formula, disjunction, in_quotes, read_name
from praemia.machines.from_formulas import Payment, paying_machine
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

MAX_LABEL = 100_000  # characters of a label, its aliases written out
REJECTED = "rejected"

_GRAMMAR = r"""
    start: "HOA:" version header* "--BODY--" (state | edge)* "--END--"
    version: ID
    ?header: "Start:" ends                 -> initial
           | "AP:" INT STRING*             -> propositions
           | "Alias:" ALIAS expression     -> alias
           | "Acceptance:" INT expression  -> acceptance
           | HEADER (INT | STRING | ID)*   -> other
    !expression: (ID | INT | ALIAS | "(" | ")" | "&" | "|" | "!")*
    state: "State:" INT [STRING] [sets]
    edge: "[" expression "]" ends [sets]
    ends: INT ("&" INT)*
    sets: "{" INT* "}"
    HEADER: /[A-Za-z_][\w.-]*:/
    ID: /[A-Za-z_][\w-]*/
    ALIAS: /@[\w-]+/
    INT: /0|[1-9][0-9]*/
    STRING: /"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\*.*?\*\//s
"""
_EXPECTED = "an automaton: HOA: v1, headers, --BODY--, states with edges such as [0 & !1] 2, --END--"


@dataclass
class _Automaton:
    """An automaton as its file describes it; a method reads each kind of line, given its parts in the grammar."""

    initial: int | None = None
    propositions: tuple[str, ...] = ()
    has_acceptance: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of all states
    accepting: set[int] = field(default_factory=set)
    edges: dict[tuple[int, int, bool], list[Formula]] = field(default_factory=dict)  # source, target, accepts -> guards
    lines: dict[tuple[int, int, bool], int] = field(default_factory=dict)

    def read_version(self, line: int, version: str) -> None:
        if version != "v1":
            raise FileError(f"HOA {version}; expected v1")

    def read_initial(self, line: int, ends: Any) -> None:
        if self.initial is not None:
            raise FileError("a second initial state; the automaton is not deterministic")
        self.initial = _one(ends)

    def read_propositions(self, line: int, count: str, *names: str) -> None:
        if parse_integer(count) != len(names):
            raise FileError(f"{count} propositions are announced and {len(names)} named")
        self.propositions = tuple(map(read_name, names))

    def read_alias(self, line: int, name: str, expression: Any) -> None:
        self.aliases[name] = f"({self.guard_text(expression)})"

    def read_acceptance(self, line: int, count: str, condition: Any) -> None:
        found = f"{count} {''.join(condition.children)}"
        if found != "1 Inf(0)":
            raise FileError(f"Acceptance: {found}; expected one acceptance set, 1 Inf(0)")
        self.has_acceptance = True

    def read_other(self, line: int, header: str, *_: str) -> None:
        if header[0].isupper() and header != "States:":
            raise FileError(f"the header {header} may change what the automaton means; it is not read")

    def read_state(self, line: int, index: str, name: str | None, sets: Any) -> None:
        state = parse_integer(index)
        if state in self.names:
            raise FileError(f"state {state} is given twice")
        self.names[state] = index if name is None else read_name(name)
        self.accepting |= {state} if sets is not None and sets.children else set()

    def read_edge(self, line: int, label: Any, ends: Any, sets: Any) -> None:
        if not self.names:
            raise FileError("an edge before the first state")
        edge = next(reversed(self.names)), _one(ends), sets is not None and bool(sets.children)
        self.edges.setdefault(edge, []).append(parse_guard(self.guard_text(label)))
        self.lines[edge] = line

    def guard_text(self, expression: Any) -> str:
        """Return a label expression over the indices of propositions as the text of a guard."""
        known = {word: word for word in "()&|!"} | {"t": "true", "f": "false"} | self.aliases
        known |= {str(index): in_quotes(name) for index, name in enumerate(self.propositions)}
        for word in expression.children:
            if word not in known:
                raise FileError(f"{word} in a label; there are {len(self.propositions)} propositions, counted from 0")
        text = " ".join(known[word] for word in expression.children)
        if len(text) > MAX_LABEL:
            raise FileError(f"a label of more than {MAX_LABEL:,} characters, its aliases written out")
        return text

    def validate(self) -> None:
        """Refuse what is missing, and two kinds of acceptance."""
        if self.initial not in self.names:
            raise FileError(f"the header Start: is missing, or its state {self.initial} is not given")
        if not self.has_acceptance:
            raise FileError("the header Acceptance: is missing")
        if self.accepting and any(accepts for _, _, accepts in self.edges):
            raise FileError("both states and edges are in the acceptance set; expected one kind")

    def accepting_machine(self, name: str) -> RewardMachine:
        """Return the machine with reward 1 at every step at which the automaton accepts."""
        assert self.initial is not None
        is_named = len(set(self.names.values()) | {REJECTED}) == len(self.names) + 1
        names = {state: own if is_named else str(state) for state, own in self.names.items()}
        rules = []
        for (source, target, accepts), guards in self.edges.items():
            outcome = Outcome(names.get(target, str(target)), 1.0, Reward.of(accepts or target in self.accepting))
            rule = Rule(names[source], disjunction(guards), (outcome,))
            rules.append((f"{name}:{self.lines[source, target, accepts]}", rule))
        rules += [(name, Rule(state, ELSE, (Outcome(REJECTED),))) for state in names.values()]
        return machine_of_rules(name, [*names.values(), REJECTED], names[self.initial], self.propositions, rules)


def _one(ends: Any) -> int:
    if len(ends.children) > 1:
        raise FileError("several states at once (&); universal branching is not deterministic")
    return parse_integer(ends.children[0])


def read_hoa(text: str, name: str, pay: str = "first") -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages, ``pay`` is the payment scheme."""
    payment, growth = Payment.of(1.0, pay), Growth()
    tree = parsed(_GRAMMAR, text, name, _EXPECTED)
    automaton = _Automaton()
    for item in tree.children:
        with located(f"{name}:{item.meta.line}"):
            getattr(automaton, f"read_{item.data}")(item.meta.line, *item.children)
    with located(name):
        automaton.validate()
    machine = automaton.accepting_machine(name)
    moves = machine.diagrams.map_values(lambda outs: (machine.index[outs[0].target], outs[0].reward.mean))
    start, state_text = machine.index[machine.initial], machine.states.__getitem__
    accepting = smallest_automaton(moves.variables, moves.store, start, moves.roots.__getitem__, state_text, growth)
    return paying_machine(accepting, payment, machine.propositions, growth)
