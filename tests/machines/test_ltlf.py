"""A machine made from a formula pays exactly where the definition of LTL on finite traces says."""

import random
from functools import reduce

import ltlf_oracle as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.errors import PraemiaWarning, SizeError
from praemia.machines.automata import PAY_SCHEMES, paid
from praemia.machines.diagrams import Growth
from praemia.machines.entailment import entails
from praemia.machines.formula import write
from praemia.machines.ltlf import formula_automaton, parse_formula
from praemia.machines.machine import RewardMachine

ALL_WORDS = oracle.words(5)


def accepting(text):
    return formula_automaton(text, Growth())


def check_random_formula(rng, names="ab"):
    formula = oracle.random_formula(rng, rng.randint(1, 12), names, past=rng.random() < 0.25)
    machine = accepting(oracle.write(formula))
    words = rng.sample(ALL_WORDS, 40) + [oracle.random_word(rng, names, 12) for _ in range(4)]
    paying = {pay: paid(machine, pay, Growth()) for pay in PAY_SCHEMES}
    for word in words:
        satisfied = oracle.satisfaction(formula, word)
        for pay, machine in paying.items():
            assert oracle.paid_by(machine, word) == oracle.payments(satisfied, pay), (oracle.write(formula), word, pay)
    for pay, machine in paying.items():
        labels = (
            oracle.LABELS if names == "ab" else [frozenset(x) for x in ("", "a", "b", "c", "ab", "ac", "bc", "abc")]
        )
        step = machine.diagrams.at
        assert oracle.num_distinguishable(0, step, labels) == machine.num_states, (oracle.write(formula), pay)
        named = RewardMachine.from_ltlf(oracle.write(formula), pay=pay)
        assert len(set(named.states)) == machine.num_states


@pytest.mark.filterwarnings("ignore::praemia.errors.PraemiaWarning")
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_random_formulas_pay_as_defined_and_have_no_state_too_many(seed):
    check_random_formula(random.Random(seed), "abc" if seed % 3 == 0 else "ab")


@pytest.mark.slow
def test_three_thousand_random_formulas_on_all_words_up_to_length_five():
    rng = random.Random(7)
    beginnings = sorted({word[:end] for word in ALL_WORDS for end in range(1, 6)}, key=len)
    for _ in range(3000):
        formula = oracle.random_formula(rng, rng.randint(1, 12), "ab", past=rng.random() < 0.25)
        past = oracle.is_past(formula)
        holds = {word: oracle.holds(formula, word, len(word) - 1 if past else 0) for word in beginnings}
        satisfied = {word: [holds[word[:end]] for end in range(1, len(word) + 1)] for word in beginnings}
        each = accepting(oracle.write(formula))
        for pay in PAY_SCHEMES:
            step, states = paid(each, pay, Growth()).diagrams.at, {(): 0}
            for word in beginnings:
                states[word], payment = step(states[word[:-1]], word[-1])
                assert payment == oracle.payments(satisfied[word], pay)[-1], (oracle.write(formula), word, pay)


def conjoined(parts):
    return " & ".join(f"({part})" for part in parts)


# The usual templates of Declare with the sizes of their minimal complete automata, a state that is stuck counted.
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


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_what_is_seen_to_follow_does_follow(seed):
    rng = random.Random(seed)
    f, g = (oracle.random_formula(rng, rng.randint(1, 5), "ab") for _ in range(2))
    if entails(parse_formula(oracle.write(f))[0], parse_formula(oracle.write(g))[0], {}):
        for word in oracle.words(4):
            for end in range(1, 5):
                assert oracle.holds(g, word[:end], 0) or not oracle.holds(f, word[:end], 0), (f, g, word[:end])


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**9))
def test_a_formula_that_is_written_out_reads_back_to_the_same(seed):
    rng = random.Random(seed)
    formula = oracle.random_formula(rng, rng.randint(1, 10), "ab", past=rng.random() < 0.3)
    read = parse_formula(oracle.write(formula))[0]
    again = parse_formula(write(read))[0]
    assert accepts_same(read, again) or read == again


def accepts_same(first, second):
    """Tell whether two formulas hold on the same words, by the definition."""
    return all(
        oracle.holds(plain(first), word[:end], 0) == oracle.holds(plain(second), word[:end], 0)
        for word in oracle.words(3)
        for end in range(1, 4)
    )


def plain(formula):
    if formula.operator == "name":
        return formula.name
    if not formula.parts:
        return formula.operator
    parts = [plain(part) for part in formula.parts]
    if formula.operator in "&|":
        return reduce(lambda f, g: (formula.operator, f, g), parts)
    return (formula.operator, *parts)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("a -> b -> c", "a -> (b -> c)"),
        ("a | b & c U a", "a | (b & (c U a))"),
        ("a U b U c", "a U (b U c)"),
        ("!a U b", "(!a) U b"),
        ("F a & b", "(F a) & b"),
        ("a->b<->c", "(a -> b) <-> c"),
        ("N a", "WX a"),
        ("last", "!X true"),
        ('"a" & b', "a & b"),
    ],
)
def test_operators_bind_as_documented(text, means):
    assert parse_formula(text)[0] == parse_formula(means)[0]


def test_names_that_are_operators_or_hold_other_characters_are_quoted():
    machine = accepting(r'F("F" & "at(A)" & "a->b" & "say \"x\"" & Fa)')
    assert machine.propositions == ("F", "at(A)", "a->b", 'say "x"', "Fa")
    assert oracle.paid_by(machine, [{"F", "at(A)", "a->b", 'say "x"', "Fa"}]) == [1]


def test_growth_is_refused_with_the_size_so_far():
    text = conjoined(f"F a{i}" for i in range(12))
    size = r"\([\d,]+ states, [\d,]+ diagram nodes and [\d,]+ different leaves so far\)"
    with pytest.raises(SizeError, match=rf"its limit of 100 states {size}; raise max_states"):
        RewardMachine.from_ltlf(text, max_states=100)
    with pytest.raises(SizeError, match=r"outgrew their limit of 200 diagram nodes.* 256 diagram nodes"):
        formula_automaton(text, Growth(max_nodes=200))
    with pytest.raises(SizeError, match=r"outgrew their limit of 10,000 different leaves \(\d states"):
        RewardMachine.from_ltlf(f"F(b & {conjoined(f'F a{i}' for i in range(40))})", max_states=50)


@pytest.mark.parametrize(
    ("text", "verdict"), [("F a & G !a", "no trace"), ("F a | G !a", "every trace"), ("false", "no trace")]
)
def test_a_formula_that_decides_nothing_is_warned_of(text, verdict):
    with pytest.warns(PraemiaWarning, match=verdict):
        RewardMachine.from_ltlf(text)
