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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"q0", "event"', '"q9", "event"', "m.json:8: state 'q9' on"),
        ('"event": "at(B)"', '"event": "at(C)"', "m.json:9: unknown event 'at(C)'"),
        ('"initial_state": "q0"', '"initial_state": "q7"', "m.json:4: unknown machine state 'q7'"),
        ('["q2"]', '["q3"]', "m.json:5: unknown machine state 'q3'"),
        (
            '"q1", "event": "at(B)"',
            '"q0", "event": "at(A)"',
            "at(B)\"': probabilities sum to 2",
        ),
        ('"reward": 0.25', '"reward": "r1"', "m.json:8:72: transitions[0].reward: it should be a valid number"),
        (
            '"to_state"',
            '"two_state"',
            "m.json:8:44: transitions[0]: unknown key 'two_state' (did you mean 'to_state'?)",
        ),
        ('"states": ["q0", "q1", "q2"],', "", "m.json:1:1: the key 'states' is missing"),
        ('"q1", "q2"]', '"q1", "q1", "q2"]', "m.json:3: state 'q1' is listed twice"),
    ],
)
def test_mistakes_in_multiagent_files_have_their_place(old: str, new: str, message: str) -> None:
    with pytest.raises(PraemiaError) as caught:
        read_spec(SPEC.replace(old, new, 1))
    assert message in str(caught.value)


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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("item/0:0.8", "item/ok:0.8", "m.dot:3: the output, which is the reward, is 'ok'; expected a number"),
        ("item/0:0.8", "item/0:lots", "m.dot:3: the probability is 'lots'; expected a number"),
        ("item/0:0.8", "item", "m.dot:3: an edge with the label 'item'; expected input/reward"),
        ("item/0:0.8", "item/0:0.7", "m.dot:3: state 's0' on 'item & !delivery': probabilities sum to 0.9"),
        ("item/0:0.2", "item/0", "m.dot:3: state 's0' on 'item & !delivery': probabilities sum to 1.8"),
        ("item/0:0.8", "item/nan:0.8", "m.dot:3: the output, which is the reward, is 'nan'"),
        ("__start0 -> s0\n", "", "m.dot: 0 edges from __start0; expected one"),
        ("__start0 -> s0\n", "__start0 -> s0\n__start1 -> s1\n", "m.dot: 2 edges from __start0"),
        ("digraph g {", "graph g {", "m.dot:1:1: stopped at 'graph g {'; expected a graph"),
        ("__start0 -> s0\n}", "__start0 -> s0\n", "m.dot:10:1: it ends too early"),
    ],
)
def test_mistakes_in_graphs_have_their_line(old: str, new: str, message: str) -> None:
    with pytest.raises(PraemiaError) as caught:
        read_dot(STOCHASTIC.replace(old, new, 1), "m.dot")
    assert message in str(caught.value)
    with pytest.raises(PraemiaError, match=r"m\.dot: .* where is the reward"):
        read_dot(MOORE.replace("|", "") + START, "m.dot")


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
