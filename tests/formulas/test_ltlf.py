"""An automaton made from a formula pays exactly where the definition of LTL on finite traces says."""

import random

import ltlf_oracle as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.errors import ModelError, ParameterError, PraemiaWarning, SizeError
from praemia.formulas.growth import Growth
from praemia.formulas.ltlf import accept_formula
from praemia.formulas.paying import WAYS, paid, state_names
from praemia.models.machine import RewardMachine

ALL_WORDS = oracle.words(5)


def accepting(text):
    return accept_formula(text, Growth())


def check_random_formula(rng, names="ab"):
    formula = oracle.random_formula(rng, rng.randint(1, 12), names, past=rng.random() < 0.25)
    automaton = accepting(oracle.write(formula))
    chosen = rng.sample(ALL_WORDS, 40) + [oracle.random_word(rng, names, 12) for _ in range(4)]
    paying = {pay: paid(automaton, pay, Growth()) for pay in WAYS}
    for word in chosen:
        satisfied = oracle.satisfaction(formula, word)
        for pay, machine in paying.items():
            assert machine.payments(word) == oracle.payments(satisfied, pay), (oracle.write(formula), word, pay)
    for pay, machine in paying.items():
        labels = oracle.LABELS if names == "ab" else [frozenset(x) for x in ("", "a", "b", "c", "ab", "ac", "bc", "abc")]
        assert oracle.num_distinguishable(0, machine.step, labels) == machine.num_states, (oracle.write(formula), pay)
        assert len(set(state_names(machine))) == machine.num_states


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_random_formulas_pay_as_defined_and_have_no_state_too_many(seed):
    check_random_formula(random.Random(seed), "abc" if seed % 3 == 0 else "ab")


@pytest.mark.slow
def test_three_thousand_random_formulas_on_all_words_up_to_length_five():
    rng = random.Random(7)
    for _ in range(3000):
        formula = oracle.random_formula(rng, rng.randint(1, 12), "ab", past=rng.random() < 0.25)
        automaton = accepting(oracle.write(formula))
        paying = {pay: paid(automaton, pay, Growth()) for pay in WAYS}
        for word in ALL_WORDS:
            satisfied = oracle.satisfaction(formula, word)
            for pay, machine in paying.items():
                assert machine.payments(word) == oracle.payments(satisfied, pay), (oracle.write(formula), word, pay)


def conjoined(parts):
    return " & ".join(f"({part})" for part in parts)


def nested_responses(count):
    text = f"F(p{count} & X c{count})"
    for i in range(count - 1, 0, -1):
        text = f"F(p{i} & X(c{i} & X {text}))"
    return text


@pytest.mark.parametrize(
    ("text", "num_states", "first"),
    [
        (conjoined(["F goal", *(f"!d{i} U k{i}" for i in range(1, 6))]), 65, 64),  # first: done and failed are one
        (nested_responses(10), 21, 21),
        (conjoined(f"F a{i}" for i in range(8)), 256, 256),
    ],
)
def test_formulas_that_other_tools_choke_on_have_their_known_sizes(text, num_states, first):
    automaton = accepting(text)
    assert automaton.num_states == num_states
    assert paid(automaton, "first", Growth()).num_states == first


# The usual templates of Declare with the number of states of their minimal complete automata, the one that is stuck counted.
# An automaton here pays on its edges: "response" needs two states, which accept or not; "chain response" a third, stuck one.
DECLARE = {
    "existence": ("F a", 2),
    "absence": ("!F a", 2),
    "existence 2": ("F(a & X F a)", 3),
    "absence 2": ("!F(a & X F a)", 3),
    "exactly 1": ("F a & !F(a & X F a)", 3),
    "choice": ("F a | F b", 2),
    "exclusive choice": ("(F a | F b) & !(F a & F b)", 4),
    "responded existence": ("F a -> F b", 3),
    "co-existence": ("F a <-> F b", 4),
    "response": ("G(a -> F b)", 2),
    "precedence": ("!b W a", 3),
    "succession": ("G(a -> F b) & (!b W a)", 4),
    "alternate response": ("G(a -> X(!a U b))", 3),
    "alternate precedence": ("(!b W a) & G(b -> WX(!b W a))", 3),
    "chain response": ("G(a -> X b)", 3),
    "chain precedence": ("G(X b -> a) & !b", 3),
    "not co-existence": ("!(F a & F b)", 4),
    "not succession": ("G(a -> !F b)", 3),
    "not chain succession": ("G(a -> !X b)", 3),
}


@pytest.mark.parametrize("name", DECLARE)
def test_the_templates_of_declare_have_their_known_sizes(name):
    text, num_states = DECLARE[name]
    assert accepting(text).num_states == num_states
