"""Formats with one event a step: multiagent-rl-rm's JSON and AALpy's DOT."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import praemia
from praemia.errors import PraemiaError
from praemia.files.formats.dot import read_dot
from praemia.files.formats.events import build_multiagent
from praemia.files.load_save import load_machine, load_task
from praemia.files.source import parse_source
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome

SPEC = """\
{
  "name": "deliver", "env_id": "office", "version": "1.0", "notes": "coffee first",
  "states": ["q0", "q1", "q2"],
  "initial_state": "q0",
  "terminal_states": ["q2"],
  "event_vocabulary": ["at(A)", "at(B)"],
  "transitions": [
    {"from_state": "q0", "event": "at(A)", "to_state": "q1", "reward": 0.25},
    {"from_state": "q1", "event": "at(B)", "to_state": "q2", "reward": 1},
    {"from_state": "q2", "event": "at(A)", "to_state": "q0", "reward": 1}
  ]
}
"""

MEALY = """\
digraph learned { // by hand
s0 [label="empty"];
"s1" [label="loaded", shape=circle];
s0 -> s1 [label="item/0"];
s0 -> s0 [label="delivery/0"];
s1 -> s0  [label="delivery/1"];
s1 -> s1 [label="item/0"];
__start0 [shape=none, label=""];
__start0 -> s0 [label=""];
}
"""

STOCHASTIC = """\
digraph g {
s0 [label=s0]; s1 [label=s1]
s0 -> s1 [label="item/0:0.8"]
s0 -> s0 [label="item/0:0.2"]
s1 -> s1 [label="delivery/1:0.1"]
s1 -> s1 [label="delivery/0.5:0.15000000000000002"]
s1 -> s0 [label="delivery/0:0.75"]
__start0 -> s0
}
"""


def read_spec(text: str) -> RewardMachine:
    return build_multiagent(parse_source(text, "m.json", is_json=True))


def test_events_of_multiagent_files_are_whole_labels() -> None:
    machine = read_spec(SPEC)
    assert machine.propositions == ("at(A)", "at(B)")
    word = [{"at(B)"}, {"at(A)"}, set(), {"at(A)"}, {"at(B)"}, {"at(A)"}, {"at(B)"}]
    assert machine.expected_rewards(word).tolist() == [0, 0.25, 0, 0, 1, 0, 0]
    both_at_once = [{"at(A)", "at(B)"}, {"at(A)"}]  # none of this file's events
    assert machine.expected_rewards(both_at_once).tolist() == [0, 0.25]


def test_a_file_is_told_by_its_keys(tmp_path: Path) -> None:
    for name in ("m.json", "m.yaml", "m"):
        (tmp_path / name).write_text(SPEC)
        assert load_machine(tmp_path / name) == read_spec(SPEC)
    (tmp_path / "task.yaml").write_text("environment: {name: office}\nmachine: m.json\nhorizon: 5\n")
    assert load_task(tmp_path / "task.yaml").machine.rules == read_spec(SPEC).rules


def test_mealy_machines_pay_their_outputs() -> None:
    machine = read_dot(MEALY, "m.dot")
    expected = (
        MachineBuilder("empty", ["item", "delivery"])
        .edge("empty", "item & !delivery", "loaded")
        .edge("loaded", "!item & delivery", "empty", reward=1)
        .build()
    )
    assert machine.states == ("empty", "loaded")
    assert machine.difference(expected) is None


def test_stochastic_mealy_machines_keep_chances_and_outputs() -> None:
    machine = read_dot(STOCHASTIC, "m.dot")
    assert machine.outcomes("s0", {"item"}) == (Outcome("s1", 0.8), Outcome("s0", 0.2))
    loaded = {out.target: out for out in machine.outcomes("s1", {"delivery"})}
    assert loaded["s0"].probability == 0.75
    assert loaded["s1"].probability == pytest.approx(0.25)
    assert loaded["s1"].reward.values == (0.5, 1.0)
    assert loaded["s1"].reward.probabilities == pytest.approx((0.6, 0.4))


START = '__start0 [shape=none, label=""];\n__start0 -> s0 [label=""];\n}\n'
MOORE = """\
digraph moore {
s0 [label="s0|0", shape=record, style=rounded];
s1 [label="{s1|0.25}", shape=record, style=rounded];
s2 [label="s2 | 1", shape=record, style=rounded];
s0 -> s1 [label="a"]; s0 -> s0 [label="b"];
s1 -> s1 [label="a"]; s1 -> s2 [label="b"];
s2 -> s2 [label="a"]; s2 -> s0 [label="b"];
"""
MDP = """\
digraph mdp {
s0 [label="0"];
s1 [label="2.0"];
s2 [label="0"];
s0 -> s1 [label="a:0.75"]; s0 -> s2 [label="a : 0.25"]; s0 -> s0 [label="b:1.0"];
s1 -> s1 [label="a:1.0"]; s1 -> s1 [label="b:1.0"];
s2 -> s2 [label="a:1.0"]; s2 -> s1 [label="b:1.0"];
"""


def test_the_reward_of_a_step_is_the_output_of_the_state_that_it_leads_to() -> None:
    targets = {("s0", "a"): "s1", ("s1", "b"): "s2", ("s2", "b"): "s0"}
    outputs = {"s0": 0.0, "s1": 0.25, "s2": 1.0}
    machine = read_dot(MOORE + START, "m.dot")
    assert machine.states == tuple(outputs)
    for word in product("ab", repeat=5):
        state, rewards = "s0", []
        for letter in word:
            state = targets.get((state, letter), state)
            rewards.append(outputs[state])
        assert machine.expected_rewards([{letter} for letter in word]).tolist() == rewards


def test_the_outputs_of_an_mdp_are_rewards_by_chance() -> None:
    machine = read_dot(MDP + START, "m.dot")
    assert machine.states == ("s0", "s1", "s2")
    assert machine.expected_rewards([{"b"}, {"a"}, {"a"}, {"b"}]).tolist() == [0.0, 1.5, 1.5, 2.0]


def test_an_option_or_a_format_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    praemia.save_machine(RewardMachine.from_ltlf("F a"), tmp_path / "m.yaml")
    with pytest.raises(PraemiaError, match=r"pay='each' is for files in the format hoa"):
        load_machine(tmp_path / "m.yaml", pay="each")
    with pytest.raises(PraemiaError, match="unknown format 'hao'"):
        load_machine(tmp_path / "m.yaml", "hao")


@pytest.mark.slow
def test_what_aalpy_writes_is_read(tmp_path: Path) -> None:
    utils = pytest.importorskip("aalpy.utils")
    for kind, text in (("mealy", MEALY), ("smm", STOCHASTIC)):
        (tmp_path / "ours.dot").write_text(text)
        model = utils.load_automaton_from_file(str(tmp_path / "ours.dot"), kind)
        utils.save_automaton_to_file(model, str(tmp_path / "theirs"), file_type="dot")
        assert read_dot(text, "m.dot").difference(load_machine(tmp_path / "theirs.dot")) is None
