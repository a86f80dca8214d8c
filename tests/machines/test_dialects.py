"""Formulas as other tools write them: common symbols everywhere, words and meanings that differ by dialect."""

from __future__ import annotations

import json
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import pytest

import praemia
from praemia import MachineBuilder, PraemiaError, RewardMachine
from praemia.cli import main

LABELS = [set(names) for names in chain.from_iterable(combinations("ab", size) for size in range(3))]
WORDS = [list(word) for length in (1, 2, 3) for word in product(LABELS, repeat=length)]
SYMBOLS = {
    "a && b": "a & b",
    "a || b": "a | b",
    "~a": "!a",
    "a => b": "a -> b",
    "a <=> b": "a <-> b",
    "[] a": "G a",
    "<> a": "F a",
    "[](a => <> b)": "G(a -> F b)",
    "X[!] a": "X a",
    "~(a && X[!] b) || [] a": "!(a & X b) | G a",
}
SPOT = {
    "GFa": "G F a",
    "Ga & Fb": "G a & F b",
    "1 U a": "true U a",
    "a & !0": "a",
    "a xor b": "!(a <-> b)",
    "a M b": "b U (a & b)",
    "G(a => X[!] b)": "G(a -> X b)",
    "X a": "WX a",
    "!X!a": "X a",
    "XXa": "WX WX a",
    "a -> b <-> a": "a -> (b <-> a)",
    "a ^ b && TRUE": "!(a <-> b)",
    "a V b": "a R b",
    "a /\\ b \\/ a": "a & b | a",
}
LTLF2DFA = {
    "F(a & tt)": "F a",
    "a | ff": "a",
    "X a": "X a",
    "WX a": "WX a",
    "G(a -> Last)": "G(a -> last)",
    "a -> b -> a": "(a -> b) -> a",
    "TRUE U a": "F a",
    "GF(a)": "G F a",
    "O a": "O a",
}


def assert_same(first: RewardMachine, second: RewardMachine) -> None:
    """Check that two machines pay the same on all words of at most three labels over a and b."""
    one, two = first.over(["a", "b"]), second.over(["a", "b"])
    for word in WORDS:
        assert one.expected_rewards(word).tolist() == two.expected_rewards(word).tolist(), word


@pytest.mark.parametrize(("written", "plain"), SYMBOLS.items())
@pytest.mark.parametrize("syntax", [{}, {"syntax": "praemia"}, {"syntax": "spot"}, {"syntax": "ltlf2dfa"}])
def test_symbols_are_read_everywhere(written: str, plain: str, syntax: dict[str, Any]) -> None:
    assert_same(RewardMachine.from_ltlf(written, pay="each", **syntax), RewardMachine.from_ltlf(plain, pay="each"))


@pytest.mark.parametrize(
    ("syntax", "written", "plain"),
    [*(("spot", *pair) for pair in SPOT.items()), *(("ltlf2dfa", *pair) for pair in LTLF2DFA.items())],
)
def test_words_belong_to_a_dialect(syntax: str, written: str, plain: str) -> None:
    read = RewardMachine.from_ltlf(written, pay="each", syntax=syntax)
    assert_same(read, RewardMachine.from_ltlf(plain, pay="each"))


@pytest.mark.parametrize(
    ("syntax", "text"),
    [("ltlf2dfa", "F Goal"), ("ltlf2dfa", "Ga"), ("ltlf2dfa", "a xor b"), ("spot", "WX a"), ("spot", "Y a")],
)
def test_what_a_dialect_does_not_have_is_refused_at_its_place(syntax: str, text: str) -> None:
    with pytest.raises(PraemiaError, match=r"formula, column \d: found .*\n.*\n +\^"):
        RewardMachine.from_ltlf(text, syntax=syntax)


def test_names_of_spot_may_begin_with_an_operator_and_a_digit() -> None:
    assert RewardMachine.from_ltlf("F1 U G2x", syntax="spot").propositions == ("F1", "G2x")


def test_a_file_names_its_dialect(tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text('ltlf: "GFa"\nsyntax: spot\npay: each\n', encoding="utf-8")
    assert_same(praemia.load_machine(file), RewardMachine.from_ltlf("G F a", pay="each"))


def test_the_command_takes_a_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["machine", "GFa", "--syntax", "spot", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["propositions"] == ["a"]


@pytest.mark.parametrize("guard", ["M & tt", "F | X", "last & !ff", "xor", "TRUE & U"])
def test_guards_keep_their_few_reserved_words(guard: str) -> None:
    names = {part for part in guard.replace("!", " ").split() if part.isalpha()}
    machine = MachineBuilder("q").edge("q", guard, "q", reward=1.0).build()
    assert set(machine.propositions) == names
