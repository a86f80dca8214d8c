"""Read and write automata in the HOA format as machines that pay.

The automaton is read on finite words: what was seen so far is accepted if the run ends in a state of the acceptance
set, or, where edges are marked, with an edge of it. A run that finds no edge is rejected from then on. Acceptance pays
as satisfaction does (``praemia.machines.automaton``); the empty word never pays. A machine is written with marked edges
and the header ``praemia-pay: each``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from praemia.errors import FileError, ModelError
from praemia.files.formats.common import sure_outcome
from praemia.files.formats.hoa_text import Hoa, parse_hoa
from praemia.machines.automaton import require_way, settle
from praemia.machines.diagrams import deep_recursion
from praemia.machines.formula import ELSE, TRUE, disjunction, in_quotes
from praemia.machines.guards import Guard, GuardFunctions, example_label
from praemia.machines.labels import format_label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule, by_source

_State: TypeAlias = tuple[int | None, bool]


@deep_recursion
def read_hoa(text: str, name: str, pay: str | None = None) -> RewardMachine:
    """Return the machine of a text; without ``pay``, as the file says, or at the first acceptance."""
    hoa = parse_hoa(text, name)
    chosen = pay or hoa.pay or "first"
    require_way(chosen)
    _validate(hoa)
    return _Paying(hoa, chosen).build()


def _validate(hoa: Hoa) -> None:
    """Refuse edges to states that there are not, two kinds of acceptance, and choice."""
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
    functions = GuardFunctions()
    taken = functions.false
    for number, edge in enumerate(hoa.edges[state]):
        function = functions.function(edge.guard)
        earlier = hoa.edges[state][:number] if functions.both(taken, function) != functions.false else []
        for other in earlier:
            both = functions.both(functions.function(other.guard), function)
            if both != functions.false and (other.target, other.accepts) != (edge.target, edge.accepts):
                raise FileError(
                    f"{hoa.name}:{edge.line}: from state {state} this edge and that of line {other.line} both hold on "
                    f"{format_label(functions.example(both))}; the automaton is not deterministic"
                )
        taken = functions.either(taken, function)


@dataclass(frozen=True)
class _Paying:
    """A deterministic automaton and how it pays.

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
            guards: dict[tuple[_State, float], list[Guard]] = {}  # those that overlap lead to the same
            for guard, target, reward in self._moves(*state):
                guards.setdefault((target, reward), []).append(guard)
            for (target, reward), alternatives in guards.items():
                if target not in names:
                    names[target] = self._name(target)
                    waiting.append(target)
                outcome = Outcome(names[target], 1.0, Reward.of(reward))
                rules.append(Rule(names[state], disjunction(alternatives), (outcome,)))
        return RewardMachine(tuple(names.values()), names[first], self.hoa.propositions, rules)

    def _moves(self, state: int | None, accepted: bool) -> Iterator[tuple[Guard, _State, float]]:
        if state is None:
            return
        functions = GuardFunctions()
        is_complete = functions.any(functions.function(edge.guard) for edge in self.hoa.edges[state]) == functions.true
        for edge in self.hoa.edges[state]:
            target, reward = self._step(edge.target, accepted, edge.accepts or self.hoa.accepting[edge.target])
            if not is_complete or (target, reward) != ((state, accepted), 0.0):  # to stay unpaid needs no rule
                yield edge.guard, target, reward
        if not is_complete:
            yield ELSE, *self._step(None, accepted, accepts=False)

    def _step(self, target: int | None, accepted: bool, accepts: bool) -> tuple[_State, float]:
        payment, satisfied, is_over = settle(self.pay, accepts, accepted)
        return (None, True) if is_over else (target, satisfied), float(payment)

    def _name(self, state: _State) -> str:
        number, accepted = state
        given = self.hoa.names
        own = given if len(given) == len(self.hoa.edges) == len(set(given.values())) else {}
        if number is None:
            name = "paid" if accepted else "rejected"
        else:
            name = own.get(number, str(number)) + (", accepted" if accepted else "")
        while number is None and name in own.values():
            name += "'"
        return name


def write_hoa(machine: RewardMachine) -> str:
    """Return the text of a machine that pays 1 or nothing, without chance: the edges that pay are the set."""
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
        rest: Guard = TRUE
        for rule in rules:
            target, reward = sure_outcome(rule)
            if reward not in (0.0, 1.0):
                raise ModelError(f"{rule.where}: it pays {reward:g}; an automaton accepts or not: 1 or 0")
            mark = " {0}" if reward else ""
            lines.append(f"[{_label(rule.guard, names)}] {machine.index[target]}{mark}")
            rest = rest & ~rule.guard
        if example_label(rest) is not None:
            lines.append(f"[{_label(rest, names)}] {machine.index[state]}")
    return "\n".join([*lines, "--END--"]) + "\n"


def _label(guard: Guard, names: tuple[str, ...]) -> str:
    match guard.operator:
        case "name":
            return str(names.index(guard.name))
        case "true" | "false":
            return guard.operator[0]
        case "else":
            return _label(guard.parts[0], names)
    parts = [f"({_label(part, names)})" if part.operator in "&|" else _label(part, names) for part in guard.parts]
    return f"!{parts[0]}" if guard.operator == "!" else guard.operator.join(parts)
