"""Machines whose guards are decision diagrams: one for each state, from a label to what happens.

A machine made from a formula can have half a million rules and yet only a few thousand diagram nodes. Its outcomes on a
label are found by walking down a diagram. Its rules are a view, written out on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from praemia.errors import SizeError
from praemia.machines.booleans import Booleans, Term, where_each
from praemia.machines.diagrams import Diagrams, Memo, copy, example_labels
from praemia.machines.guards import Constant, Else, Guard, Junction, Negation, Proposition
from praemia.machines.labels import ENDED
from praemia.machines.machine import RewardMachine
from praemia.machines.minimise import reachable
from praemia.machines.rewards import Reward
from praemia.machines.rules import NOTHING, Outcome, Rule

MAX_RULES = 1_000_000


class Branch(NamedTuple):
    """One thing that may happen: the number of a state, with which probability, paying what."""

    target: int
    probability: float
    reward: Reward


Branches: TypeAlias = tuple[Branch, ...]
Literals: TypeAlias = Mapping[int, tuple[Guard, Guard]]


class SymbolicMachine(RewardMachine):
    """A machine as diagrams.

    Parameters
    ----------
    variables : the variable of each proposition that diagrams decide; other propositions are not read.
    diagrams : a store whose values are ``Branches``; roots : the diagram of each state.
    meanings : for each state, in words or as a formula, what it stands for.
    source : the keys of a file that say the same in short, such as ``ltlf`` and ``pay``; None where there are none.
    """

    variables: Mapping[str, int]
    diagrams: Diagrams
    roots: tuple[int, ...]
    _meanings: Mapping[str, str]
    _source: Mapping[str, Any] | None

    def __init__(
        self,
        states: Sequence[str],
        initial: str,
        propositions: Sequence[str],
        variables: Mapping[str, int],
        diagrams: Diagrams,
        roots: Sequence[int],
        meanings: Sequence[str],
        idle_reward: Reward = NOTHING,
        source: Mapping[str, Any] | None = None,
    ) -> None:
        self._validate_names("state", tuple(states))
        self._validate_names("proposition", tuple(propositions))
        fields = {
            "states": tuple(states),
            "initial": initial,
            "propositions": tuple(propositions),
            "variables": dict(variables),
            "diagrams": diagrams,
            "roots": tuple(roots),
            "_meanings": dict(zip(states, meanings, strict=True)),
            "idle_reward": idle_reward,
            "_source": source,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RewardMachine):
            return NotImplemented
        names = ("states", "initial", "propositions", "rules")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash((self.states, self.initial, self.propositions))

    def __repr__(self) -> str:
        return f"SymbolicMachine({self.num_states} states, {len(self.diagrams)} diagram nodes, {self.propositions})"

    @property
    def meanings(self) -> Mapping[str, str]:
        """What each state stands for."""
        return self._meanings

    @property
    def source(self) -> Mapping[str, Any] | None:
        """The keys of a file that say the same in short."""
        return self._source

    @property
    def written_rules(self) -> tuple[Rule, ...]:
        """Empty: nobody wrote its rules."""
        return ()

    @property
    def sizes(self) -> dict[str, int]:
        """How large the machine is, by what is counted."""
        nodes = len(self.diagrams)
        return {"machine states": self.num_states, "diagram nodes": nodes, "propositions": len(self.propositions)}

    @cached_property
    def _names(self) -> dict[int, str]:
        return {variable: name for name, variable in self.variables.items()}

    @cached_property
    def _outcomes(self) -> dict[Branches, tuple[Outcome, ...]]:
        return {
            branches: tuple(Outcome(self.states[target], p, reward) for target, p, reward in branches)
            for branches in self.diagrams.values(self.roots)
        }

    def outcomes(self, state: str, label: Set[str]) -> tuple[Outcome, ...]:
        """Return where the machine may go from a state on a label; itself, paying 0, once an episode has ended."""
        if ENDED in label:
            return (Outcome(state, reward=self.idle_reward),)
        true = {self.variables[name] for name in label if name in self.variables}
        return self._outcomes[self.diagrams.at(self.roots[self.index[state]], true)]

    @property
    def is_deterministic(self) -> bool:
        return all(len(branches) == 1 for branches in self.diagrams.values(self.roots))

    @property
    def _rewards(self) -> list[Reward]:
        return [branch.reward for branches in self.diagrams.values(self.roots) for branch in branches]

    @cached_property
    def in_unit_range(self) -> SymbolicMachine:
        """The same machine with its rewards mapped into [0, 1]; itself, if they lie there."""
        known = self.reward_range
        if known.is_unit:
            return self

        def mapped(branches: Branches) -> Branches:
            return tuple(branch._replace(reward=known.to_unit(branch.reward)) for branch in branches)

        store, memo = Diagrams(), {}  # type: tuple[Diagrams, dict[int, int]]
        roots = [copy(self.diagrams, root, store, mapped, memo) for root in self.roots]
        unit = self.changed(self.propositions, self.variables, store, roots)
        object.__setattr__(unit, "idle_reward", known.to_unit(self.idle_reward))
        return unit

    @cached_property
    def reads(self) -> frozenset[str]:
        """The propositions that some state looks at."""
        return frozenset(self._names[variable] for variable in self.diagrams.support(self.roots))

    def over(self, propositions: Iterable[str]) -> SymbolicMachine:
        """Return the same machine over a larger set of propositions, which it does not read."""
        union = tuple(dict.fromkeys((*self.propositions, *propositions)))
        return self.changed(union, self.variables, self.diagrams, self.roots, self.source)

    def copied(self) -> tuple[Diagrams, list[int]]:
        """Return a new store with the diagrams of this machine, to add to."""
        store = Diagrams()
        memo: dict[int, int] = {}
        return store, [copy(self.diagrams, root, store, lambda branches: branches, memo) for root in self.roots]

    def changed(
        self,
        propositions: Sequence[str],
        variables: Mapping[str, int],
        diagrams: Diagrams,
        roots: Sequence[int],
        source: Mapping[str, Any] | None = None,
    ) -> SymbolicMachine:
        """Return a machine with the same states and other diagrams."""
        meanings = tuple(self.meanings.values())
        names = self.states, self.initial, propositions
        return SymbolicMachine(*names, variables, diagrams, roots, meanings, self.idle_reward, source)

    def possible_outcomes(self, state: str) -> list[tuple[Outcome, ...]]:
        """Return all that ``outcomes`` can be in a state, whatever the label."""
        return [self._outcomes[branches] for branches in self.diagrams.values([self.roots[self.index[state]]])]

    def highest(self, worth: Callable[[tuple[Outcome, ...]], float]) -> list[float]:
        """Return for each state the highest worth of what a label can bring about there."""
        diagrams = self.diagrams
        found: dict[int, float] = {}
        for diagram in self._upwards:
            if diagrams.is_leaf(diagram):
                found[diagram] = worth(self._outcomes[diagrams.value(diagram)])
            else:
                found[diagram] = max(found[diagrams.low[diagram]], found[diagrams.high[diagram]])
        return [found[root] for root in self.roots]

    def reachable_states(self) -> set[str]:
        """Return the states that some sequence of labels can lead to."""
        start = self.index[self.initial]
        found = reachable(self.diagrams, self.roots, lambda branches: (branch.target for branch in branches), start)
        return {self.states[number] for number in found}

    @cached_property
    def _upwards(self) -> list[int]:
        """All nodes, children before their parents."""
        return sorted(self.diagrams.below(self.roots))

    def exhaustive_labels(self) -> list[frozenset[str]]:
        """Return labels on which every state does all that it can do on any label."""
        memo: dict[int, dict[int, frozenset[int]]] = {}
        found = (label for root in self.roots for label in example_labels(self.diagrams, root, memo).values())
        return [frozenset(self._names[variable] for variable in label) for label in dict.fromkeys(found)]

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The machine written out: a rule for everything that can happen in a state, except staying there unpaid."""
        functions, known = Booleans(), literals(self._names)
        memo: dict[int, dict[int, int]] = {}
        found: list[Rule] = []
        for number, (state, root) in enumerate(zip(self.states, self.roots, strict=True)):
            guards = where_each(self.diagrams, root, functions, memo)
            for leaf in sorted(guards, key=lambda leaf: self._order(leaf, number)):
                if self.diagrams.value(leaf) != (Branch(number, 1.0, self.idle_reward),):
                    guard = as_guard(functions, guards[leaf], known)
                    found.append(Rule(state, guard, self._outcomes[self.diagrams.value(leaf)]))
            if len(found) > MAX_RULES:
                raise SizeError(f"the machine has more than {MAX_RULES:,} rules; they are not written out")
        return tuple(found)

    def _order(self, leaf: int, state: int) -> tuple[bool, list[int]]:
        targets = [branch.target for branch in self.diagrams.value(leaf)]
        return targets == [state], targets


def symbolic(machine: RewardMachine) -> SymbolicMachine:
    """Return a machine as one whose guards are diagrams."""
    if isinstance(machine, SymbolicMachine):
        return machine
    functions, diagrams = Booleans(), Diagrams()
    variables = {name: variable for variable, name in enumerate(machine.propositions)}
    roots = []
    for number, state in enumerate(machine.states):
        root = diagrams.leaf((Branch(number, 1.0, machine.idle_reward),))
        for rule in reversed(machine.rules_from(state)):
            branches = tuple(Branch(machine.index[out.target], out.probability, out.reward) for out in rule.outcomes)
            where = copy(functions, as_function(rule.guard, functions, variables), diagrams, bool, {})
            root = _where(diagrams, where, branches, root)
        roots.append(root)
    names = machine.states
    parts = names, machine.initial, machine.propositions, variables, diagrams, roots, names
    return SymbolicMachine(*parts, machine.idle_reward)


def _where(diagrams: Diagrams, condition: int, branches: Branches, otherwise: int) -> int:
    memo: Memo = {}
    return diagrams.combine(condition, otherwise, lambda holds, rest: branches if holds else rest, memo)


def literals(names: Mapping[int, str]) -> Literals:
    """Return, for each variable, the guards that it is false and that it is true."""
    return {variable: (Negation(Proposition(name)), Proposition(name)) for variable, name in names.items()}


def as_guard(functions: Booleans, function: int, known: Literals) -> Guard:
    """Write a boolean function of propositions as a guard: few terms, each of few literals."""
    products = [_product(term, known) for term in functions.terms(function)]
    if len(products) < 2:
        return products[0] if products else Constant(False)
    return Junction("|", tuple(products))


def _product(term: Term, known: Literals) -> Guard:
    parts = [known[variable][term[variable]] for variable in sorted(term)]
    if len(parts) < 2:
        return parts[0] if parts else Constant(True)
    return Junction("&", tuple(parts))


def as_function(guard: Guard, functions: Booleans, variables: Mapping[str, int]) -> int:
    """Return a guard as a boolean function."""
    match guard:
        case Constant(value):
            return functions.true if value else functions.false
        case Else(rest):
            return as_function(rest, functions, variables)
        case Proposition(name):
            return functions.literal(variables[name])
        case Negation(part):
            return functions.negate(as_function(part, functions, variables))
        case Junction(operator, parts):
            join = functions.all if operator == "&" else functions.any
            return join(as_function(part, functions, variables) for part in parts)
        case _:  # any other kind of guard, one proposition at a time
            if not guard.propositions():
                return functions.true if guard.holds(frozenset()) else functions.false
            name = min(guard.propositions())
            low, high = (as_function(guard.given({name: way}), functions, variables) for way in (False, True))
            return functions.choose(variables[name], low, high)
