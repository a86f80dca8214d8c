"""Guards: boolean formulas over propositions, read from text and compared as decision diagrams.

    guard  :=  guard "|" guard  |  guard "&" guard  |  "!" guard  |  "(" guard ")"  |  name  |  "true"  |  "false"

``!`` binds tightest, then ``&``, then ``|``. ``else`` alone stands for all labels that no other rule of the state
takes. A guard is decided on a label (a set of propositions) in time linear in its length, so a machine over 40
propositions never meets 2^40 labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

from praemia.errors import ModelError
from praemia.machines.booleans import Booleans, Term
from praemia.machines.diagrams import Growth, deep_recursion
from praemia.machines.formula import ELSE, FALSE, TRUE, Formula, conjunction, disjunction, fold, proposition
from praemia.machines.labels import Label
from praemia.machines.syntax import GUARD, Node, parse, read_name

Guard: TypeAlias = Formula

MAX_NODES = 1_000_000  # of the diagrams of one state's guards; this takes seconds


def parse_guard(text: str) -> Guard:
    """Parse a guard such as ``item & !(delivery | busy)``."""
    nodes = parse(GUARD, text)
    operands: list[Guard] = []
    for node in nodes:
        begin = len(operands) - node.arity
        operands[begin:] = [_guard(node, operands[begin:])]
    if len(nodes) > 1 and any(node.text == "else" for node in nodes):
        raise ModelError(f"guard {text!r}: 'else' stands alone; a proposition of that name is \"else\", in quotes")
    return operands[0]


def _guard(node: Node, parts: list[Guard]) -> Guard:
    match node.kind:
        case "!":
            return ~parts[0]
        case "&" | "|":
            return conjunction(parts) if node.kind == "&" else disjunction(parts)
        case "constant":
            return {"true": TRUE, "false": FALSE, "else": ELSE}[node.text]
        case _:
            return proposition(read_name(node.text))


def reads_back(guard: Guard) -> bool:
    """Tell whether ``parse_guard`` makes the same guard of a guard's text: not if a name is empty or of two lines."""
    return all(name and "\n" not in name for name in guard.propositions())


def exactly(label: Label, propositions: Iterable[str]) -> Guard:
    """Return the guard that holds on one label alone."""
    return conjunction(proposition(name) if name in label else ~proposition(name) for name in propositions)


def only(name: str, among: Iterable[str]) -> Guard:
    """Return the guard that holds when a proposition is true and the others are not.

    Rules of one machine state must exclude each other also on labels that never occur.
    """
    return proposition(name) & conjunction(~proposition(other) for other in among if other != name)


class GuardFunctions(Booleans):
    """Guards as boolean functions. Propositions are variables, in the order in which they are first met."""

    def __init__(self, variables: Iterable[str] = (), growth: Growth | None = None) -> None:
        super().__init__(growth or Growth(max_nodes=MAX_NODES))
        self.variables = {name: variable for variable, name in enumerate(variables)}
        self._functions: dict[Guard, int] = {TRUE: self.true, FALSE: self.false}
        self._literals: list[tuple[Guard, Guard]] = []  # for each variable, that it is false and that it is true

    def function(self, guard: Guard) -> int:
        """Return the function that is true where a guard holds."""
        return fold(guard, self._function, self._functions)

    def _function(self, guard: Guard, parts: list[int]) -> int:
        match guard.operator:
            case "name":
                return self.literal(self.variables.setdefault(guard.name, len(self.variables)))
            case "!":
                return self.negate(parts[0])
            case "&":
                return self.all(parts)
            case "|":
                return self.any(parts)
            case _:
                return parts[0]

    def guard(self, function: int, most: float = math.inf) -> Guard:
        """Write a function as a guard: few products, each of few literals; more products than ``most`` are refused."""
        for name in list(self.variables)[len(self._literals) :]:
            self._literals.append((~proposition(name), proposition(name)))
        products = [self._product(term) for term in self.terms(function, most)]
        if len(products) < 2:
            return products[0] if products else FALSE
        return Formula("|", tuple(products))

    def _product(self, term: Term) -> Guard:
        literals = [self._literals[variable][term[variable]] for variable in sorted(term)]
        if len(literals) < 2:
            return literals[0] if literals else TRUE
        return Formula("&", tuple(literals))

    def example(self, function: int) -> Label:
        """Return a label on which a function, which is not false everywhere, is true."""
        names, true = list(self.variables), set()
        while not self.is_leaf(function):
            if self.low[function] == self.false:
                true.add(names[self.variable[function]])
                function = self.high[function]
            else:
                function = self.low[function]
        return frozenset(true)


@deep_recursion
def example_label(guard: Guard) -> Label | None:
    """Return a label on which a guard holds, or None where it never does."""
    functions = GuardFunctions()
    function = functions.function(guard)
    return None if function == functions.false else functions.example(function)
