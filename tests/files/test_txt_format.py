"""Toro Icarte's text files step as in the original, and what cannot be carried over is named with its line."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from machine_words import require_same_words
from strategies import machines
from txt_machines import OTHER_REWARDS, PLAIN, SAMPLES, Original

from praemia.errors import ModelError, PraemiaError
from praemia.files.formats.txt import read_txt, write_txt
from praemia.files.load_save import load_machine, save_machine
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.syntax import parse_guard

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


@pytest.mark.parametrize("name", OTHER_REWARDS)
def test_a_machine_with_other_rewards_steps_as_in_the_original(name: str) -> None:
    steps_as_the_original(OTHER_REWARDS[name])


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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0      #", "q      #", "m.txt:1:1: stopped at 'q      # initial sta'; expected the initial state"),
        ("[2]", "2", "m.txt:2:1: stopped at '2    # terminal stat'; expected the list of terminal states"),
        ("(0,1,'f&!n'", "(0,'f&!n'", "m.txt:4:4: stopped at"),
        ("(0,1,'f&!n'", "(0,1,f&!n", "m.txt:4:6: stopped at"),
        ("ConstantRewardFunction(1))", "ConstantRewardFunction(1)", "m.txt:6:38: it ends too early"),
        ("ConstantRewardFunction(1)", "RewardControl()", "m.txt:6: RewardControl depends on the environment's"),
        ("ConstantRewardFunction(1)", "ConstantRewardFunktion(1)", "(did you mean 'ConstantRewardFunction'?)"),
        ("ConstantRewardFunction(1)", "ConstantRewardFunction(1,2)", "m.txt:6: ConstantRewardFunction with other"),
        ("ConstantRewardFunction(1)", "LabelRewardFunction({'a': (1,2)})", "m.txt:6: LabelRewardFunction has (mean"),
        ("ConstantRewardFunction(1)", "__import__('os').system('ls')", "m.txt:6:"),
        ("ConstantRewardFunction(1)", "ConstantRewardFunction(len('a'))", "m.txt:6:"),
        ("'f&!n'", "'food&!n'", "m.txt:4: guard 'food&!n': the proposition 'food'; in this format"),
        ("'f&!n'", "'!(f|n)'", "m.txt:4: guard '!(f|n)': it has brackets"),
        ("(1,2,'g&!n',ConstantRewardFunction(1))\n", "(1,2", "m.txt:6:5: it ends too early"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, message: str) -> None:
    with pytest.raises(PraemiaError) as caught:
        read_txt(PLAIN.replace(old, new), "m.txt")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "0\n", "# nothing\n0"])
def test_a_text_without_its_first_lines_is_refused(text: str) -> None:
    with pytest.raises(PraemiaError, match=r"m\.txt: expected the initial state"):
        read_txt(text, "m.txt")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_written_and_read_back(name: str, tmp_path: Path) -> None:
    machine = read_txt(SAMPLES[name], "m.txt")
    if name == "rewards by label":
        with pytest.raises(ModelError, match="two states have one reward"):
            save_machine(machine, tmp_path / "m.txt")
        return
    save_machine(machine, tmp_path / "m.txt")
    require_same_words(machine, load_machine(tmp_path / "m.txt"))
    steps_as_the_original((tmp_path / "m.txt").read_text(encoding="utf-8"))


@given(machines(sure_rewards=(0.0, 0.25)))
def test_what_can_be_written_is_read_back(machine: RewardMachine) -> None:
    try:
        text = write_txt(machine)
    except ModelError:
        assume(False)
    require_same_words(machine, read_txt(text, "m.txt"))


def test_states_are_numbered_and_their_names_kept_in_a_comment() -> None:
    machine = MachineBuilder("go on").edge("go on", "a", "done", reward=1).edge("go on", "b & !a", "go on").build()
    assert write_txt(machine) == (
        "0  # 0 = 'go on', 1 = 'done'\n[1]\n"
        "(0,1,'a',ConstantRewardFunction(1))\n(0,0,'True',ConstantRewardFunction(0))\n"
    )


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("item", "r", 1.0, 1.0)], "the proposition 'item'; in this format it is a single letter"),
        ([("a", "r", 0.5, 1.0), ("a", "q", 0.5, 0.0)], "state 'q' on 'a': it leads to several states by chance"),
        ([("a", "r", 1.0, 1.0), ("b & !a", "r", 1.0, 0.5)], "from 'q' to 'r' the machine pays 1 or 0.5"),
        ([("a", "q", 1.0, 1.0)], "from 'q' to 'q' the machine pays 1 or 0"),
    ],
)
def test_what_the_format_cannot_say_is_refused(
    tmp_path: Path, edges: list[tuple[str, str, float, float]], message: str
) -> None:
    builder = MachineBuilder("q").edge("r", "a", "q")
    for when, target, probability, reward in edges:
        builder.edge("q", parse_guard(when), target, probability=probability, reward=reward)
    with pytest.raises(ModelError) as caught:
        save_machine(builder.build(), tmp_path / "m.txt")
    assert str(caught.value).startswith(f"{tmp_path / 'm.txt'}: ")
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


@settings(deadline=None)
@given(st.floats(-1000, 1000), st.floats(0, 1000), st.booleans())
def test_uniform_rewards_survive_a_round_trip(low: float, width: float, rounded: bool) -> None:
    ends = (round(low, 2), round(low + width, 2)) if rounded else (low, low + width)
    machine = MachineBuilder("0").edge("0", "a", "1", reward=Reward.uniform(*ends)).edge("1", "a", "0").build()
    text = write_txt(machine)
    assert ends[0] == ends[1] or "NoisyContRewardFunction" in text
    again = read_txt(text, "again.txt")
    assert again.outcomes("0", {"a"}) == machine.outcomes("0", {"a"})


def test_a_uniform_reward_is_written_as_its_mean_and_width() -> None:
    machine = MachineBuilder("0").edge("0", "a", "1", reward=Reward.uniform(-0.1, 4.7)).build()
    assert "NoisyContRewardFunction(2.3, 2.4)" in write_txt(machine)
