"""Decision diagrams are the functions that they are made from, and are one number for one function."""

from itertools import product

import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.machines.diagrams import Diagrams
from praemia.machines.guards import Booleans
from praemia.machines.syntax import parse_guard


def value_at(store, diagram, true):
    """Return the value of a diagram where some variables are true and all others false."""
    while not store.is_leaf(diagram):
        diagram = store.high[diagram] if store.variable[diagram] in true else store.low[diagram]
    return store.value(diagram)


def true_on(guard):
    return frozenset(label for label in strategies.ALL_LABELS if guard.holds(label))


@settings(deadline=None)
@given(strategies.formulas, strategies.formulas)
def test_two_guards_are_one_diagram_exactly_if_they_hold_on_the_same_labels(first, second):
    functions = Booleans(strategies.PROPOSITIONS)
    guards = [parse_guard(strategies.write(formula)) for formula in (first, second)]
    numbers = [functions.function(guard) for guard in guards]
    assert (numbers[0] == numbers[1]) == (true_on(guards[0]) == true_on(guards[1]))
    for guard, number in zip(guards, numbers, strict=True):
        for label in strategies.ALL_LABELS:
            assert value_at(functions, number, {functions.names.index(name) for name in label}) == guard.holds(label)
        assert functions.negate(functions.negate(number)) == number
        assert functions.support([number]) <= set(range(len(functions.atoms)))


@settings(deadline=None)
@given(strategies.formulas)
def test_a_diagram_is_written_as_an_irredundant_guard_that_reads_back(formula):
    functions = Booleans(strategies.PROPOSITIONS)
    number = functions.function(parse_guard(strategies.write(formula)))
    guard = functions.formula(number)
    assert parse_guard(str(guard)) == guard
    assert functions.function(guard) == number
    terms = functions.terms(number)
    for left_out in range(len(terms)):
        rest = [term for i, term in enumerate(terms) if i != left_out]
        literals = [[(functions.literal(variable), is_true) for variable, is_true in term.items()] for term in rest]
        signed = [[f if is_true else functions.negate(f) for f, is_true in term] for term in literals]
        products = [functions.join("&", term) for term in signed]
        assert functions.join("|", products) != number


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=8), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_diagrams_join_and_choose_value_by_value(first, second):
    store = Diagrams()
    cases = list(product((False, True), repeat=3))
    f, g = table(store, first, 0), table(store, second, 0)
    total = store.combine(f, g, lambda a, b: a + b, {})
    for variable in range(3):
        chosen = store.choose(variable, f, g)
        for case, a, b in zip(cases, first, second, strict=True):
            true = {v for v in range(3) if case[v]}
            assert value_at(store, total, true) == a + b
            assert value_at(store, chosen, true) == (b if case[variable] else a)


def table(store, values, variable):
    """Return the diagram of a table of values, the first variable changing slowest."""
    if len(values) == 1:
        return store.leaf(values[0])
    half = len(values) // 2
    return store.node(variable, table(store, values[:half], variable + 1), table(store, values[half:], variable + 1))
