"""Read automata in the HOA format as reward machines.

The automaton is read on finite words: it accepts what ends in a state, or with an edge, of the acceptance set; a run
that finds no edge is rejected. What is not deterministic, or has other acceptance than one set, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from praemia.errors import FileError, located
from praemia.files.formats.events import machine_of_rules, parsed
from praemia.files.source import parse_integer
from praemia.machines.automata import smallest_automaton
from praemia.machines.diagrams import Growth
from praemia.machines.formula import ELSE, Formula, in_quotes, read_name
from praemia.machines.from_formulas import Payment, paying_machine
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

MAX_LABEL = 100_000  # characters of a label, after expanding aliases
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
    """An automaton as its file describes it; an edge is (line, source, guard, target, whether it is marked)."""

    initial: list[int] = field(default_factory=list)
    propositions: tuple[str, ...] = ()
    acceptance: str = ""
    aliases: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of all states
    accepting: set[int] = field(default_factory=set)
    edges: list[tuple[int, int, Formula, int, bool]] = field(default_factory=list)

    def read(self, item: Any) -> None:
        """Read a header, a state or an edge, given its parts in the grammar."""
        match item.data, *item.children:
            case "version", version if version != "v1":
                raise FileError(f"HOA {version}; expected v1")
            case "initial", ends:
                self.initial.append(_one(ends))
            case "propositions", count, *names:
                if parse_integer(count) != len(names):
                    raise FileError(f"{count} propositions are announced and {len(names)} named")
                self.propositions = tuple(map(read_name, names))
            case "alias", name, expression:
                self.aliases[name] = f"({self.guard_text(expression)})"
            case "acceptance", count, condition:
                self.acceptance = f"{count} {''.join(condition.children)}"
                if self.acceptance != "1 Inf(0)":
                    raise FileError(f"Acceptance: {self.acceptance}; expected one acceptance set, 1 Inf(0)")
            case "other", header, *_ if header[0].isupper() and header != "States:":
                raise FileError(f"the header {header} may change what the automaton means; it is not read")
            case "state", index, name, sets:
                state = parse_integer(index)
                if state in self.names:
                    raise FileError(f"state {state} is given twice")
                self.names[state] = index if name is None else read_name(name)
                self.accepting |= {state} if _marked(sets) else set()
            case "edge", label, ends, sets:
                if not self.names:
                    raise FileError("an edge before the first state")
                guard, source = parse_guard(self.guard_text(label)), next(reversed(self.names))
                self.edges.append((item.meta.line, source, guard, _one(ends), _marked(sets)))

    def guard_text(self, expression: Any) -> str:
        """Return a label expression over the indices of propositions as the text of a guard."""
        known = {word: word for word in "()&|!"} | {"t": "true", "f": "false"} | self.aliases
        known |= {str(index): in_quotes(name) for index, name in enumerate(self.propositions)}
        for word in expression.children:
            if word not in known:
                raise FileError(f"{word} in a label; there are {len(self.propositions)} propositions, counted from 0")
        text = " ".join(known[word] for word in expression.children)
        if len(text) > MAX_LABEL:
            raise FileError(f"a label of more than {MAX_LABEL:,} characters after expanding aliases")
        return text

    def validate(self) -> None:
        """Raise if a header is missing or acceptance styles are mixed."""
        if len(self.initial) > 1:
            raise FileError("several initial states; the automaton is not deterministic")
        if not self.names.keys() & self.initial:
            raise FileError("the header Start: is missing, or its state is not given")
        if not self.acceptance:
            raise FileError("the header Acceptance: is missing")
        if self.accepting and any(accepts for *_, accepts in self.edges):
            raise FileError("both states and edges are in the acceptance set; expected one kind")

    def accepting_machine(self, name: str) -> RewardMachine:
        """Return the machine with reward 1 at every step at which the automaton accepts."""
        is_named = len({*self.names.values(), REJECTED}) == len(self.names) + 1
        names = {state: own if is_named else str(state) for state, own in self.names.items()}
        rules = []
        for line, source, guard, target, accepts in self.edges:
            outcome = Outcome(names.get(target, str(target)), 1.0, Reward.of(accepts or target in self.accepting))
            rules.append((f"{name}:{line}", Rule(names[source], guard, (outcome,))))
        rules += [(name, Rule(state, ELSE, (Outcome(REJECTED),))) for state in names.values()]
        return machine_of_rules(name, [*names.values(), REJECTED], names[self.initial[0]], self.propositions, rules)


def _one(ends: Any) -> int:
    if len(ends.children) > 1:
        raise FileError("several states at once (&); universal branching is not deterministic")
    return parse_integer(ends.children[0])


def _marked(sets: Any) -> bool:
    return sets is not None and bool(sets.children)


def read_hoa(text: str, name: str, pay: str = "first") -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages, ``pay`` is the payment scheme."""
    payment, growth, automaton = Payment.of(1.0, pay), Growth(), _Automaton()
    for item in parsed(_GRAMMAR, text, name, _EXPECTED).children:
        with located(f"{name}:{item.meta.line}"):
            automaton.read(item)
    with located(name):
        automaton.validate()
    machine = automaton.accepting_machine(name)
    with located(name):  # what can still be wrong is its size
        moves = machine.diagrams.map_values(lambda outs: (machine.index[outs[0].target], outs[0].reward.mean))
        start, state_text = machine.index[machine.initial], machine.states.__getitem__
        accepting = smallest_automaton(moves.variables, moves.store, start, moves.roots.__getitem__, state_text, growth)
        return paying_machine(accepting, payment, machine.propositions, growth)
