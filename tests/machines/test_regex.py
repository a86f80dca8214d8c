"""A machine made from a regular expression pays exactly where Python's ``re`` matches."""

import itertools
import random
import re

import ltlf_oracle as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.errors import PraemiaWarning
from praemia.machines.automata import PAY_SCHEMES, paid
from praemia.machines.diagrams import Growth
from praemia.machines.machine import RewardMachine
from praemia.machines.regex import regex_automaton

# Every label over two propositions is a letter of Python's: {} {a} {b} {a, b} are 0 1 2 3.
LETTERS = dict(zip(oracle.LABELS, "0123", strict=True))
GUARDS = {
    "a": "13",
    "b": "23",
    "!a": "02",
    "!b": "01",
    "a & b": "3",
    "a & !b": "1",
    "!(a | b)": "0",
    ".": "0123",
    "!(a & b)": "012",
}


def random_regex(rng, size, repetitions=2):
    """Draw an expression, in our words and in Python's, whose time grows fast with repetitions within repetitions."""
    if size == 1:
        guard = rng.choice(list(GUARDS))
        return (f"({guard})" if rng.random() < 0.3 else guard), f"[{GUARDS[guard]}]"
    kind = rng.choice("*+?|.." if repetitions else "|..")
    if kind in "*+?":
        ours, theirs = random_regex(rng, size - 1, repetitions - 1)
        return f"({ours}){kind}", f"(?:{theirs}){kind}"
    left = rng.randint(1, size - 1)
    (ours, theirs), (other, their_other) = (random_regex(rng, part, repetitions) for part in (left, size - left))
    if kind == "|":
        return f"({ours} | {other})", f"(?:{theirs}|{their_other})"
    return f"({ours}) ({other})", f"{theirs}{their_other}"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_random_expressions_match_as_in_python(seed):
    rng = random.Random(seed)
    ours, theirs = random_regex(rng, rng.randint(1, 7))
    accepting, pattern = regex_automaton(ours, Growth()), re.compile(theirs)
    paying = {pay: paid(accepting, pay, Growth()) for pay in PAY_SCHEMES}
    words = itertools.product(oracle.LABELS, repeat=4)
    for word in itertools.chain(words, (oracle.random_word(rng, "ab", 7) for _ in range(10))):
        text = "".join(LETTERS[label] for label in word)
        satisfied = [pattern.fullmatch(text[:end]) is not None for end in range(1, len(word) + 1)]
        for pay, machine in paying.items():
            assert oracle.paid_by(machine, word) == oracle.payments(satisfied, pay), (ours, text, pay)
    assert oracle.num_distinguishable(0, accepting.diagrams.at, oracle.LABELS) == accepting.num_states


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("!a* b", "((!a)*) b"),
        ("a & b+", "(a & b)+"),
        ("a b | b", "(a b) | b"),
        ("!(a | b)", "!a & !b"),
        ("a??", "a?"),
        ("a**", "a*"),
        (". true", ". ."),
        ('"a" b', "a b"),
    ],
)
def test_operators_bind_as_documented(text, means):
    first, second = regex_automaton(text, Growth()), regex_automaton(means, Growth())
    for word in oracle.words(4):
        assert oracle.paid_by(first, word) == oracle.paid_by(second, word)


def test_an_empty_trace_never_pays_and_an_expression_without_words_is_warned_of():
    assert RewardMachine.from_regex("a*").expected_rewards([]).tolist() == []
    with pytest.warns(PraemiaWarning, match="no trace satisfies the regex 'a & !a'"):
        RewardMachine.from_regex("a & !a")


def test_the_states_of_an_expression_say_what_is_left_to_match():
    machine = RewardMachine.from_regex("(!item)* item (!delivery)* delivery")
    assert machine.states == ("start", "(!delivery)* delivery", "done")


def test_expressions_do_not_double_with_every_plus() -> None:
    """Thirty marks made an expression of 2³⁰ parts, and a wait of minutes."""
    assert RewardMachine.from_regex("a" + "+" * 60) == RewardMachine.from_regex("a+")
    assert RewardMachine.from_regex("(a+)* b") == RewardMachine.from_regex("a* b")
    assert RewardMachine.from_regex("(a*)+ b") == RewardMachine.from_regex("a* b")
