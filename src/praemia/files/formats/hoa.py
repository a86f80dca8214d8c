"""Read automata in the HOA format as reward machines.

The automaton is read on finite words: it accepts what ends in a state, or with an edge, of the acceptance set; a run
that finds no edge is rejected. What is not deterministic, or has other acceptance than one set, is no such automaton.
"""

from __future__ import annotations

from typing import Any

from praemia.errors import FileError, located
from praemia.files.formats.events import parsed
from praemia.files.source import Place, machine_of_rules, parse_integer
from praemia.machines.automata import smallest_automaton
from praemia.machines.diagrams import Growth
from praemia.machines.formula import ELSE, read_name
from praemia.machines.from_formulas import Payment, paying_machine
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

MAX_LABEL = 100_000  # characters of a label, after expanding aliases
REJECTED = "rejected"

# Other headers with a capital letter may change what an automaton means.
_GRAMMAR = r"""
    start: "HOA:" "v1" _header* "--BODY--" state* "--END--"
    _header: start_state | propositions | alias | acceptance | other
    start_state: "Start:" INT
    propositions: "AP:" INT STRING*
    alias: "Alias:" ALIAS expression
    acceptance: "Acceptance:" "1" "Inf" "(" "0" ")"
    other: ("States:" | HEADER) (INT | STRING | ID)*
    !expression: (ID | INT | ALIAS | "(" | ")" | "&" | "|" | "!")*
    state: "State:" INT [STRING] [sets] edge*
    edge: "[" expression "]" INT [sets]
    !sets: "{" "0"? "}"
    HEADER: /[a-z][\w.-]*:/
    ID: /(?![\w.-]*:)[A-Za-z_][\w-]*/
    ALIAS: /@[\w-]+/
    INT: /0|[1-9][0-9]*/
    STRING: /"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\*.*?\*\//s
"""
_EXPECTED = (
    "a deterministic automaton: HOA: v1, headers such as Start: 0 and Acceptance: 1 Inf(0), --BODY--, states with "
    "edges such as [0 & !1] 2, --END--"
)


def read_hoa(text: str, name: str, pay: str = "first") -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages, ``pay`` is the payment scheme."""
    payment, growth = Payment.of(1.0, pay), Growth()
    machine = _accepting_machine(parsed(_GRAMMAR, text, name, _EXPECTED), name)
    with located(name):  # what can still be wrong is its size
        moves = machine.diagrams.map_values(lambda outs: (machine.index[outs[0].target], outs[0].reward.mean))
        start, state_text = machine.index[machine.initial], machine.states.__getitem__
        accepting = smallest_automaton(moves.variables, moves.store, start, moves.roots.__getitem__, state_text, growth)
        return paying_machine(accepting, payment, machine.propositions, growth)


def _accepting_machine(tree: Any, name: str) -> RewardMachine:
    """Return the machine with reward 1 at every step at which an automaton accepts."""
    words = {word: word for word in "()&|!"} | {"t": "true", "f": "false"}  # of labels, as guards have them
    headers: dict[str, list[Any]] = {}
    for item in (item for item in tree.children if item.data != "state"):
        with located(f"{name}:{item.meta.line}"):
            if item.data in headers.keys() - {"alias", "other"}:
                raise FileError("this header is given twice")
            headers[item.data] = item.children
            if item.data == "alias":
                words[item.children[0]] = f"({_guard_text(item.children[1], words)})"
            elif item.data == "propositions":
                count, *quoted = item.children
                if parse_integer(count) != len(quoted):
                    raise FileError(f"{count} propositions are announced and {len(quoted)} named")
                words |= {str(index): text for index, text in enumerate(quoted)}
    states = [item.children for item in tree.children if item.data == "state"]
    names = _state_names(states, name)
    (initial,) = headers.get("start_state", [None])
    if initial not in names or "acceptance" not in headers:
        raise FileError(f"{name}: a header is missing: Start: with one of the states, or Acceptance:")
    accepting = {state for state, _, sets, *_ in states if _is_marked(sets)}
    rules: list[tuple[Place, Rule]] = []
    for state, _, _, *edges in states:
        for edge in edges:
            label, target, sets = edge.children
            with located(f"{name}:{edge.meta.line}"):
                guard = parse_guard(_guard_text(label, words))
            reward = Reward.of(_is_marked(sets) or target in accepting)
            outcome = Outcome(names.get(target, str(target)), 1.0, reward)
            rules.append((f"{name}:{edge.meta.line}", Rule(names[state], guard, (outcome,))))
        rules.append((name, Rule(names[state], ELSE, (Outcome(REJECTED),))))
    propositions = [read_name(text) for text in headers.get("propositions", [0])[1:]]
    return machine_of_rules(name, [*names.values(), REJECTED], names[initial], propositions, rules)


def _state_names(states: list[list[Any]], name: str) -> dict[Any, str]:
    """Return the name of each state, by its number: the file's names, if all differ."""
    own = [str(state) if text is None else read_name(text) for state, text, *_ in states]
    names = {state: text for (state, *_), text in zip(states, own, strict=True)}
    if len(names) < len(states):
        raise FileError(f"{name}: a state is given twice")
    return names if len({*own, REJECTED}) > len(states) else {state: str(state) for state in names}


def _guard_text(expression: Any, words: dict[str, str]) -> str:
    """Return a label, an expression over the indices of propositions, as the text of a guard."""
    for word in expression.children:
        if word not in words:
            raise FileError(f"{word} in a label: no alias, and no index of a proposition, counted from 0")
    text = " ".join(words[word] for word in expression.children)
    if len(text) > MAX_LABEL:
        raise FileError(f"a label of more than {MAX_LABEL:,} characters after expanding aliases")
    return text


def _is_marked(sets: Any) -> bool:
    return sets is not None and len(sets.children) > len("{}")
