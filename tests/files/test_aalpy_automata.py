"""AALpy's Moore machines, DFAs and MDPs pay their outputs step by step; symbolic outputs pay what a table says."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import praemia
from praemia import PraemiaError
from praemia.cli import main

START = '__start0 [shape=none, label=""];\n__start0 -> s0 [label=""];\n'
MOORE = """\
digraph moore {
s0 [label="s0|0", shape=record, style=rounded];
s1 [label="{s1|0.25}", shape=record, style=rounded];
s2 [label="s2 | 1", shape=record, style=rounded];
s0 -> s1 [label="a"]; s0 -> s0 [label="b"];
s1 -> s1 [label="a"]; s1 -> s2 [label="b"];
s2 -> s2 [label="a"]; s2 -> s0 [label="b"];
"""
DFA = """\
digraph dfa {
s0 [label="s0"];
s1 [label="s1", shape=doublecircle];
s0 -> s1 [label="a"]; s0 -> s0 [label="b"];
s1 -> s1 [label="b"]; s1 -> s0 [label="a"];
"""
MDP = """\
digraph mdp {
s0 [label="floor"];
s1 [label="goal"];
s2 [label="floor"];
s0 -> s1 [label="a:0.75"]; s0 -> s2 [label="a : 0.25"]; s0 -> s0 [label="b:1.0"];
s1 -> s1 [label="a:1.0"]; s1 -> s1 [label="b:1.0"];
s2 -> s2 [label="a:1.0"]; s2 -> s1 [label="b:1.0"];
"""
MEALY = 'digraph m {\ns0 [label=s0];\ns0 -> s0 [label="a/coffee"]; s0 -> s0 [label="b/nothing"];\n'


def load(folder: Path, text: str, rewards: dict[str, float] | None = None) -> praemia.RewardMachine:
    file = folder / "machine.dot"
    file.write_text(text + START + "}\n", encoding="utf-8")
    return praemia.load_machine(file, rewards=rewards)


@pytest.mark.parametrize(
    ("text", "targets", "outputs"),
    [
        (MOORE, {("s0", "a"): "s1", ("s1", "b"): "s2", ("s2", "b"): "s0"}, {"s0": 0.0, "s1": 0.25, "s2": 1.0}),
        (DFA, {("s0", "a"): "s1", ("s1", "a"): "s0"}, {"s0": 0.0, "s1": 1.0}),
    ],
    ids=["Moore", "DFA"],
)
def test_a_step_pays_the_output_of_the_state_that_it_leads_to(
    text: str, targets: dict[tuple[str, str], str], outputs: dict[str, float], tmp_path: Path
) -> None:
    machine = load(tmp_path, text)
    assert machine.states == tuple(outputs)
    for word in product("ab", repeat=5):
        state, paid = "s0", []
        for letter in word:
            state = targets.get((state, letter), state)
            paid.append(outputs[state])
        assert machine.expected_rewards([{letter} for letter in word]).tolist() == paid


def test_an_mdp_pays_its_outputs_by_chance(tmp_path: Path) -> None:
    machine = load(tmp_path, MDP, {"goal": 2.0})
    assert machine.states == ("s0", "s1", "s2")
    assert machine.expected_rewards([{"b"}, {"a"}, {"a"}, {"b"}]).tolist() == [0.0, 1.5, 1.5, 2.0]


def test_outputs_that_are_no_numbers_need_a_table(tmp_path: Path) -> None:
    with pytest.raises(PraemiaError, match=r"machine\.dot:3: .*'coffee'.*rewards="):
        load(tmp_path, MEALY)
    machine = load(tmp_path, MEALY, {"coffee": 0.5})
    assert machine.expected_rewards([{"a"}, {"b"}, {"a"}]).tolist() == [0.5, 0.0, 0.5]


def test_a_table_with_an_output_that_does_not_occur_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PraemiaError, match=r"'cofee'.*did you mean 'coffee'"):
        load(tmp_path, MEALY, {"cofee": 0.5})


def test_an_automaton_that_pays_nothing_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PraemiaError, match="what does it pay"):
        load(tmp_path, DFA.replace(", shape=doublecircle", ""))


def test_a_table_is_for_this_format_alone(tmp_path: Path) -> None:
    praemia.save_machine(praemia.RewardMachine.from_ltlf("F a"), tmp_path / "m.yaml")
    with pytest.raises(PraemiaError, match=r"rewards=.* is for files in the format dot"):
        praemia.load_machine(tmp_path / "m.yaml", rewards={"a": 1.0})


@pytest.mark.parametrize(("reward", "status"), [("coffee=0.5", 0), ("coffee", 2), ("coffee=nan", 2)])
def test_the_command_takes_the_table(reward: str, status: int, tmp_path: Path) -> None:
    file, out = tmp_path / "machine.dot", tmp_path / "out.yaml"
    file.write_text(MEALY + START + "}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(file), str(out), "--reward", reward])
    assert (ended.value.code or 0) == status
    assert out.exists() == (status == 0)
    if status == 0:
        assert praemia.load_machine(out) == praemia.load_machine(file, rewards={"coffee": 0.5})
