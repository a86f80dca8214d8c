"""Guards as decision diagrams, and diagrams as guards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from praemia.formulas.booleans import Booleans, Term
from praemia.formulas.diagrams import Diagrams
from praemia.models.guards import Constant, Guard, Junction, Negation, Proposition

Literals: TypeAlias = Mapping[int, tuple[Guard, Guard]]


def where_each(diagrams: Diagrams, root: int, functions: Booleans, memo: dict[int, dict[int, int]]) -> dict[int, int]:
    """Return for each leaf below a root the function that is true where it is met."""
    if root not in memo:
        if diagrams.is_leaf(root):
            memo[root] = {root: functions.true}
        else:
            low = where_each(diagrams, diagrams.low[root], functions, memo)
            high = where_each(diagrams, diagrams.high[root], functions, memo)
            no = functions.false
            memo[root] = {
                leaf: functions.node(diagrams.variable[root], low.get(leaf, no), high.get(leaf, no))
                for leaf in (*low, *(leaf for leaf in high if leaf not in low))
            }
    return memo[root]


def example_labels(
    diagrams: Diagrams, root: int, memo: dict[int, dict[int, frozenset[int]]]
) -> dict[int, frozenset[int]]:
    """Return for each leaf below a root the variables that are true on one label where it is met."""
    if root not in memo:
        if diagrams.is_leaf(root):
            memo[root] = {root: frozenset()}
        else:
            low = example_labels(diagrams, diagrams.low[root], memo)
            high = example_labels(diagrams, diagrams.high[root], memo)
            memo[root] = {leaf: label | {diagrams.variable[root]} for leaf, label in high.items()} | low
    return memo[root]


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
