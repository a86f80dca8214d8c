"""Ready patterns pay when their words say, judged by plain loops over a trace."""

import random
from pathlib import Path

import ltlf_oracle as oracle
import pytest

from praemia import patterns
from praemia.errors import ParameterError

DOCUMENT = Path(__file__).parents[1] / "docs" / "how-to" / "machines-from-formulas.md"


def in_order(word, events):
    """Return the steps at which rounds of events are completed, each event at a step after the one before."""
    waiting, ends = 0, []
    for step, label in enumerate(word):
        if events[waiting] in label:
            waiting += 1
            if waiting == len(events):
                ends.append(step)
                waiting = 0
    return ends


def visit_in_order(word):
    ends = in_order(word, "abc")
    return [float(step == ends[0]) if ends else 0.0 for step in range(len(word))]


def visit_all(word):
    done = [set("abc") <= set().union(*word[: step + 1]) for step in range(len(word))]
    return [float(now and not any(done[:step])) for step, now in enumerate(done)]


def patrol(word):
    ends = in_order(word, "abc")
    return [float(step in ends) for step in range(len(word))]


def avoid_while(word):
    return [float(not any({"a", "b"} <= label for label in word[: step + 1])) for step in range(len(word))]


def respond_within(word):
    """Every request so far has a response at the same step or at one of the two that follow."""
    paid = []
    for end in range(1, len(word) + 1):
        asked = [step for step in range(end) if "a" in word[step]]
        paid.append(float(all(any("b" in label for label in word[step : min(end, step + 3)]) for step in asked)))
    return paid


def at_most(word):
    return [float(sum("a" in label for label in word[: step + 1]) <= 2) for step in range(len(word))]


CASES = {
    "visit in order": (patterns.visit_in_order("a", "b", "c"), visit_in_order, 4),
    "visit all": (patterns.visit_all("a", "b", "c"), visit_all, 8),
    "patrol": (patterns.patrol("a", "b", "c"), patrol, 3),
    "avoid while": (patterns.avoid_while("a", "b"), avoid_while, 2),
    "respond within": (patterns.respond_within("a", "b", 2), respond_within, 4),
    "at most": (patterns.at_most("a", 2), at_most, 4),
}


@pytest.mark.parametrize("name", CASES)
def test_a_pattern_pays_when_it_says(name):
    pattern, expected, num_states = CASES[name]
    machine = pattern.machine()
    assert machine.num_states == num_states
    rng = random.Random(1)
    for _ in range(300):
        word = oracle.random_word(rng, "".join(machine.propositions), 10)
        assert machine.expected_rewards(word).tolist() == expected(word), word


def test_names_are_quoted_where_needed():
    assert patterns.visit_all("F", "at(A)").text == 'F "F" & F "at(A)"'
    assert patterns.visit_all("F", "at(A)").machine().propositions == ("F", "at(A)")


@pytest.mark.parametrize(
    "make",
    [
        patterns.visit_all,
        patterns.patrol,
        lambda: patterns.at_most("a", -1),
        lambda: patterns.at_most("a", 10**30),
        lambda: patterns.visit_all("a", None),
        lambda: patterns.respond_within("a", "b", 0.5),
        lambda: patterns.Pattern("F a", kind="formula"),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(ParameterError, match="expected"):
        make()


def test_each_pattern_is_documented():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in patterns.__all__ if name != "Pattern" and f"`praemia.patterns.{name}(" not in text] == []


@pytest.mark.parametrize(
    ("make", "num_states"),
    [
        (lambda n: patterns.visit_in_order(*(f"a{i}" for i in range(n))), 61),
        (lambda n: patterns.at_most("a", n), 62),
        (lambda n: patterns.respond_within("a", "b", n), 62),
    ],
)
def test_a_long_pattern_has_a_state_for_each_step(make, num_states):
    assert make(60).machine().num_states == num_states
