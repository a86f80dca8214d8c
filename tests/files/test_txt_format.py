"""Toro Icarte's text files step as in the original; what cannot be carried over is named with its line."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from txt_machines import PLAIN, SAMPLES, Original

from praemia.errors import PraemiaError
from praemia.files.formats.txt import read_txt
from praemia.machines.builder import MachineBuilder

LENGTH = 4


def steps_as_the_original(text: str) -> None:
    machine, original = read_txt(text, "m.txt"), Original(text)
    letters = machine.propositions
    labels = ["".join(chosen) for size in range(len(letters) + 1) for chosen in combinations(letters, size)]
    for word in product(labels, repeat=LENGTH):
        state, other = machine.initial, original.initial
        for label in word:
            (outcome,) = machine.outcomes(state, frozenset(label))
            state = outcome.target
            other, reward = original.step(other, label)
            assert outcome.reward.mean == pytest.approx(reward, abs=1e-12), (word, label)
            assert other is None or state == str(other)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_machine_steps_as_in_the_original_on_all_words(name: str) -> None:
    steps_as_the_original(SAMPLES[name])


def test_the_machine_of_a_text_by_hand() -> None:
    expected = (
        MachineBuilder("0", ["f", "n", "g"])
        .edge("0", "!f & !n", "0")
        .edge("0", "f & !n", "1")
        .edge("0", "else", "2")
        .edge("1", "!g & !n", "1")
        .edge("1", "g & !n", "2", reward=1)
        .edge("1", "else", "2")
        .build()
    )
    machine = read_txt(PLAIN, "m.txt")
    assert machine.states == ("0", "1", "2")
    assert machine.rules == expected.rules


@pytest.mark.parametrize("text", ["", "0\n", "# nothing\n0"])
def test_a_text_without_its_first_lines_is_refused(text: str) -> None:
    with pytest.raises(PraemiaError, match=r"m\.txt:.*: it ends too early; expected the initial state"):
        read_txt(text, "m.txt")


def edge(source: int, target: int, guard: str, reward: float) -> str:
    return f"({source},{target},'{guard}',ConstantRewardFunction({reward}))\n"


STAY, GO = edge(0, 0, "!a", 0), edge(0, 1, "a", 1)
UNLISTED = {
    "a state without lines is terminal": (STAY + GO, ["", "a", "a", ""], [0, 1, 0, 0]),
    "so is one with a line to itself on True": (STAY + GO + edge(1, 1, "True", 5), ["a", "", "a"], [1, 0, 0]),
    "not with a line to itself on a letter": (STAY + GO + edge(1, 1, "b", 2), ["a", "b", "b"], [1, 2, 2]),
    "not if it can be left": (STAY + GO + edge(1, 0, "b", 3) + edge(1, 1, "True", 0), ["a", "b", "a"], [1, 3, 1]),
    "no line holds: the end": (GO + edge(1, 0, "b", 2), ["", "a", "b"], [0, 0, 0]),
    "a line holds: it goes on": (GO + edge(1, 0, "b", 2), ["a", "b", "a"], [1, 2, 1]),
    "several terminal states": (GO + edge(0, 2, "b&!a", 2) + edge(2, 2, "True", 0), ["b", "a"], [2, 0]),
    "listed after all": ("[1]\n" + STAY + GO + edge(1, 0, "True", 5), ["a", ""], [1, 0]),
}


@pytest.mark.parametrize("name", UNLISTED)
def test_terminal_states_that_are_not_listed_are_told_by_their_lines(name: str) -> None:
    lines, word, rewards = UNLISTED[name]
    assert read_txt(f"0\n{lines}", "m.txt").expected_rewards(map(set, word)).tolist() == rewards
