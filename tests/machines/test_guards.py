"""Guards mean what their text says, and cost nothing that grows with 2^propositions."""

import ltlf_oracle as oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from praemia.errors import ModelError, SizeError
from praemia.machines import guards
from praemia.machines.formula import proposition
from praemia.machines.guards import Booleans, example_label
from praemia.machines.syntax import parse_guard


@given(strategies.formulas)
def test_a_guard_holds_where_its_formula_does(formula):
    guard = parse_guard(strategies.write(formula))
    for label in strategies.ALL_LABELS:
        assert guard.holds(label) == oracle.holds(formula, [label], 0)


@given(strategies.formulas)
def test_what_is_written_is_read_back_as_the_same_guard(formula):
    guard = parse_guard(strategies.write(formula))
    assert parse_guard(str(guard)) == guard


@given(strategies.formulas, strategies.formulas)
def test_two_guards_overlap_when_some_label_satisfies_both(first, second):
    one, other = parse_guard(strategies.write(first)), parse_guard(strategies.write(second))
    common = [label for label in strategies.ALL_LABELS if one.holds(label) and other.holds(label)]
    label = example_label(one & other)
    assert label in common if common else label is None


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a | b & c", "a | (b & c)"),
        ("a & b | c", "(a & b) | c"),
        ("!a & b", "(!a) & b"),
        ("!a | b", "(!a) | b"),
        ("!(a | b)", "!(b | a)"),
        ("!!a", "a"),
        ("  a&b ", "a & b"),
        ("true & a", "a"),
        ("a | true", "true"),
        ("a & false", "false"),
    ],
)
def test_negation_binds_tighter_than_and_and_tighter_than_or(text, same):
    for label in strategies.ALL_LABELS:
        assert parse_guard(text).holds(label) == parse_guard(same).holds(label)


@pytest.mark.parametrize("name", ["trueish", "false-alarm", "left-end", "_x1", "Öl", "true_"])
def test_a_name_is_read_whole(name):
    guard = parse_guard(name)
    assert guard.propositions() == (name,)
    assert guard.holds({name})
    assert not guard.holds({name[:-1]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unexpected end of expression"),
        ("a &", "unexpected end of expression"),
        ("(a | b", "unexpected end of expression"),
        ("a b", "stopped at 'b'"),
        ("a && b", "stopped at '& b'"),
        ("a)", r"stopped at '\)'"),
        ("a # b", "stopped at '# b'"),
        ("1a", "stopped at '1a'"),
        ("a or b", "stopped at 'or b'"),
        ("__import__('os')", r"stopped at \"\('os'\)"),
    ],
)
def test_what_is_not_a_guard_is_refused_where_reading_stopped(text, message):
    with pytest.raises(ModelError, match=message):
        parse_guard(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a" * 20_000, "a" * 20_000),
        ("(" * 3000 + "a" + ")" * 3000, "a"),
        ("!" * 3001 + "a", "!a"),
        ("!(b & !(" * 1000 + "a" + "))" * 1000, None),
    ],
    ids=["long", "brackets", "negations", "nested"],
)
def test_a_guard_may_be_as_long_and_as_deep_as_one_likes(text, same):
    guard = parse_guard(text)
    assert parse_guard(str(guard)) == guard
    assert same is None or guard == parse_guard(same)
    assert guard.holds({"a" * 20_000, "a"}) != guard.holds({"b"})
    assert example_label(guard) is not None


def test_hundreds_of_choices_do_not_exhaust_the_stack():
    every = parse_guard(" & ".join(f"p{i}" for i in range(1200)))
    assert len(example_label(every)) == 1200
    assert example_label(~every) == set()
    assert len(example_label(every & ~parse_guard(" & ".join(f"q{i}" for i in range(1200))))) == 1200
    pairs = parse_guard(" & ".join(f"(p{i} | q{i})" for i in range(200)))
    assert len(example_label(pairs)) == 200


def test_guards_with_many_cases_are_decided():
    holes = range(7)  # eight pigeons do not fit in seven holes
    parts = ["(" + " | ".join(f"x{i}{j}" for j in holes) + ")" for i in range(8)]
    parts += [f"(!x{i}{j} | !x{k}{j})" for j in holes for i in range(8) for k in range(i)]
    assert example_label(parse_guard(" & ".join(parts))) is None


def test_variables_stand_in_the_order_of_first_occurrence():
    functions = Booleans()
    pairs = parse_guard(" & ".join(f"(a{i} | b{i})" for i in range(14)))
    assert len(list(functions.below([functions.function(pairs)]))) == 2 * 14 + 2
    assert list(functions.names) == [f"{letter}{i}" for i in range(14) for letter in "ab"]


def test_guards_whose_diagrams_outgrow_their_limit_are_refused(monkeypatch):
    monkeypatch.setattr(guards, "MAX_GUARD_NODES", 1000)
    names = " | ".join(f"a{i}" for i in range(17))  # in an order that keeps each apart from its partner
    pairs = " & ".join(f"(a{i} | b{i})" for i in range(17))
    with pytest.raises(SizeError, match=r"outgrew their limit of 1,000 diagram nodes"):
        example_label(parse_guard(f"({names}) & {pairs}"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"at(A)"', "at(A)"),
        ('"a->b"', "a->b"),
        ('"else"', "else"),
        ('"true"', "true"),
        ('"F"', "F"),
        ('"two words"', "two words"),
        (r'"a \"b\" \\"', 'a "b" \\'),
        ('"plain"', "plain"),
        ("elsewhere", "elsewhere"),
    ],
)
def test_a_name_in_quotes_is_a_proposition(text, name):
    assert parse_guard(text) == proposition(name)
    assert parse_guard(f"!{text} & (b|{text})") == ~proposition(name) & (proposition("b") | proposition(name))


@given(st.text(st.characters(exclude_characters="\n"), min_size=1))
def test_any_name_of_one_line_is_read_back(name):
    assert parse_guard(str(proposition(name))) == proposition(name)


@pytest.mark.parametrize("text", ['"', '""', '"a', '"a\nb"', '"\\a"'])
def test_quotes_that_do_not_close_or_hold_no_name_are_refused(text):
    with pytest.raises(ModelError, match="guard"):
        parse_guard(text)
