"""Formats with one event a step: multiagent-rl-rm's JSON and AALpy's DOT."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from machine_words import require_same_words
from strategies import machines

from praemia.errors import ModelError, PraemiaError, SizeError
from praemia.files.formats.common import event_of, label_of
from praemia.files.formats.dot import read_dot, write_dot
from praemia.files.formats.multiagent import read_multiagent, write_multiagent
from praemia.files.load_save import load_machine, load_task, save_machine
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
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
    return read_multiagent(text, "m.json")


def pays(machine: RewardMachine, *word: str) -> list[float]:
    """Return what a deterministic machine pays on a word; a label is written with blanks between its propositions."""
    state, paid = machine.initial, []
    for label in word:
        (outcome,) = machine.outcomes(state, frozenset(label.split()))
        state = outcome.target
        paid.append(outcome.reward.mean)
    return paid


def test_events_of_multiagent_files_are_whole_labels() -> None:
    machine = read_spec(SPEC)
    assert machine.propositions == ("at(A)", "at(B)")
    assert pays(machine, "at(B)", "at(A)", "", "at(A)", "at(B)", "at(A)", "at(B)") == [0, 0.25, 0, 0, 1, 0, 0]
    assert pays(machine, "at(A) at(B)", "at(A)") == [0, 0.25], "two events at once are none of this file's"


def test_a_file_is_told_by_its_keys(tmp_path: Path) -> None:
    for name in ("m.json", "m.yaml", "m"):
        (tmp_path / name).write_text(SPEC)
        assert load_machine(tmp_path / name) == read_spec(SPEC)
    (tmp_path / "task.yaml").write_text("environment: {name: office}\nmachine: m.json\nhorizon: 5\n")
    assert load_task(tmp_path / "task.yaml").machine.rules == read_spec(SPEC).rules


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"q0", "event"', '"q9", "event"', "m.json:8: unknown machine state 'q9'"),
        ('"event": "at(B)"', '"event": "at(C)"', "m.json:9: unknown event 'at(C)'"),
        ('"initial_state": "q0"', '"initial_state": "q7"', "m.json:4: unknown machine state 'q7'"),
        ('["q2"]', '["q3"]', "m.json:5: unknown machine state 'q3'"),
        ('"q1", "event": "at(B)"', '"q0", "event": "at(A)"', "m.json:9: state 'q0' has a second transition on 'at(A)'"),
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
    require_same_words(machine, expected)


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
        ("item/0:0.8", "item/ok:0.8", "m.dot:3: the output, which is paid, is 'ok'; expected a number"),
        ("item/0:0.8", "item/0:lots", "m.dot:3: the probability is 'lots'; expected a number"),
        ("item/0:0.8", "item", "m.dot:3: an edge with the label 'item'; expected input/reward"),
        ("item/0:0.8", "item/0:0.7", "m.dot:3: state 's0' on 'item & !delivery': probabilities sum to 0.9"),
        ("item/0:0.2", "item/0", "m.dot:4: a second edge from 's0' on 'item'"),
        ("item/0:0.8", "item/nan:0.8", "m.dot:3: the output, which is paid, is 'nan'"),
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


@given(machines())
def test_every_machine_survives_as_a_graph(machine: RewardMachine) -> None:
    require_same_words(machine, read_dot(write_dot(machine), "m.dot"))


@given(machines(sure_rewards=(0.0, 0.25, 1.0)))
def test_what_can_be_written_as_a_multiagent_file_is_read_back(machine: RewardMachine) -> None:
    text = write_multiagent(machine)
    require_same_words(machine, read_spec(text))
    json.loads(text)


def test_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    chance, reward = 0.1 + 0.2, 1 / 3
    machine = (
        MachineBuilder("q")
        .edge("q", "a", "r", probability=chance, reward=reward)
        .edge("q", "a", "q", probability=1 - chance)
    )
    save_machine(machine.build(), tmp_path / "m.dot")
    outcomes = load_machine(tmp_path / "m.dot").outcomes("q", {"a"})
    assert outcomes[0] == Outcome("r", chance, Reward((reward,)))


def test_names_of_any_kind_survive(tmp_path: Path) -> None:
    states = ['two "words"', "back\\slash", "é", "digraph", "1"]
    builder = MachineBuilder(states[0], ["at(A)", "a/b", "x:y"])
    for source, target in zip(states, states[1:] + states[:1], strict=True):
        builder.edge(source, '"at(A)" & "a/b" | "x:y"', target, reward=1)
    for name, format in (("m.dot", None), ("m.json", "multiagent"), ("m.json", None), ("m.yaml", None)):
        save_machine(builder.build(), tmp_path / name, format)
        again = load_machine(tmp_path / name)
        assert set(again.states) == set(states)
        require_same_words(builder.build(), again)


def test_labels_that_would_read_differently_are_refused() -> None:
    assert label_of("{a, b}") == {"a", "b"}
    assert label_of("{}") == frozenset()
    assert event_of(frozenset({"b", "a"})) == "{a, b}"
    for label in ({"a,b", "c"}, {"{a}"}, {" a"}):
        with pytest.raises(ModelError, match="does not read back"):
            event_of(frozenset(label))


def test_a_machine_with_too_many_labels_is_refused(tmp_path: Path) -> None:
    machine = MachineBuilder("q", [f"p{i}" for i in range(40)]).build()
    with pytest.raises(SizeError, match=r"1 states on 2\^40 labels"):
        save_machine(machine, tmp_path / "m.dot")


@pytest.mark.slow
def test_aalpy_reads_what_is_written_and_writes_what_is_read(tmp_path: Path) -> None:
    utils = pytest.importorskip("aalpy.utils")
    for kind, text in (("mealy", MEALY), ("smm", STOCHASTIC)):
        machine = read_dot(text, "m.dot")
        save_machine(machine, tmp_path / "ours.dot")
        model = utils.load_automaton_from_file(str(tmp_path / "ours.dot"), kind)
        utils.save_automaton_to_file(model, str(tmp_path / "theirs"), file_type="dot")
        require_same_words(machine, load_machine(tmp_path / "theirs.dot"))


@pytest.mark.parametrize("name", ["{a}", "{a", "a}", "{{a}}", " a ", "a {b} c"])
def test_names_with_braces_read_back_from_dot(name: str) -> None:
    machine = MachineBuilder(name).edge(name, "go", "there", reward=1).build()
    assert read_dot(write_dot(machine), "m.dot") == machine
