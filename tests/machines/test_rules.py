"""Rules in an order: the first that holds is taken, and ``else`` takes what is left."""

import strategies
from hypothesis import given
from hypothesis import strategies as st

from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import ELSE
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

STATES = tuple("0123456789")


def rules(guards):
    """Return a rule of state 0 for each guard, the i-th leading to state i."""
    return tuple(Rule("0", guard, (Outcome(STATES[i], 1.0, Reward((i / 10,))),)) for i, guard in enumerate(guards))


def machine(guards, first_match=False):
    return RewardMachine(STATES, "0", strategies.PROPOSITIONS, rules(guards), first_match=first_match)


@given(st.lists(strategies.formulas.map(strategies.write), min_size=1, max_size=5), st.integers(-1, 5))
def test_the_first_rule_that_holds_is_taken_and_else_last_wherever_it_stands(texts, place):
    if place >= 0:
        texts = [*texts[:place], "else", *texts[place:]]
    guards = [parse_guard(text) for text in texts]
    built = machine(guards, first_match=True)
    for label in strategies.ALL_LABELS:
        matching = [i for i, guard in enumerate(guards) if guard is not ELSE and guard.holds(label)]
        matching += [i for i, text in enumerate(texts) if text == "else"]
        expected = Outcome(STATES[matching[0]], 1.0, Reward((matching[0] / 10,))) if matching else Outcome("0")
        assert built.outcomes("0", label) == (expected,)
        assert [rule.guard.holds(label) for rule in built.rules].count(True) == len(matching[:1])


@given(strategies.machines())
def test_else_takes_what_the_other_rules_leave(drawn):
    more = tuple(Rule(state, ELSE, (Outcome(state, 1.0, Reward((1.0,))),)) for state in drawn.states)
    larger = RewardMachine(drawn.states, drawn.initial, drawn.propositions, more + drawn.rules)
    for state in drawn.states:
        for label in strategies.ALL_LABELS:
            taken = any(rule.guard.holds(label) for rule in drawn.rules if rule.source == state)
            expected = drawn.outcomes(state, label) if taken else (Outcome(state, 1.0, Reward((1.0,))),)
            assert larger.outcomes(state, label) == expected
    assert larger.over(["d"]).rules == larger.rules


def test_rules_are_kept_as_written_and_made_exclusive_where_they_overlap():
    texts = ["a & !b", "!(!b)", "c", "else"]
    built = machine([parse_guard(text) for text in texts], first_match=True)
    assert [str(rule.guard) for rule in built.written_rules] == ["a & !b", "b", "c", "else"]
    assert [str(rule.guard) for rule in built.rules] == ["a & !b", "b", "!a & !b & c", "else"]
    assert str(built.rules[-1].guard.parts[0]) == "!(a & !b | b | c)"


def test_exclusive_guards_stay_short_where_their_products_are_many():
    pairs = " | ".join(f"a{i} & b{i}" for i in range(12))  # without it a guard would have 2^12 products
    built = (
        MachineBuilder("q", first_match=True).edge("q", pairs, "r").edge("q", "c", "s").edge("q", "else", "q").build()
    )
    guard = built.rules[1].guard
    assert len(str(guard)) < 2 * len(pairs)
    assert guard.holds({"c"})
    assert not guard.holds({"c", "a5", "b5"})
