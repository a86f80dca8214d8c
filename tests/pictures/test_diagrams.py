"""Diagrams show every state and every edge, whatever they are called, and every guard is true by itself."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import strategies
from hypothesis import given, settings
from PIL import Image

import praemia
from praemia import envs
from praemia.envs.classics import flower_machine
from praemia.errors import FileError, MissingExtraError, PraemiaError, SizeError
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard
from praemia.pictures import diagrams
from praemia.pictures.colours import LIT
from praemia.pictures.inferred import inference_drawing
from praemia.pictures.machine_graph import Annotated, edge_lines, edge_text, guard_text, machine_graph
from praemia.pictures.scene import Area, Text

AWKWARD = ('say "hi"', "<b>&amp;</b>", r"back\slash\N", "Größe → ∞", "a;b:c#d%e{}[*]", "--> x", "a\x01", "b\x1b[1m")
RED = "#d55e00"
PATROL, PROBABILISTIC, FETCH = (make().machine for make in (envs.riverswim, envs.riverswim_prm, envs.warehouse))


def awkward() -> RewardMachine:
    builder = MachineBuilder(initial=AWKWARD[0])
    for i, (source, target) in enumerate(pairwise(AWKWARD)):
        builder.edge(source, "a | b & !c", target, probability=0.5, reward=Reward((0.2, 0.7), (0.5, 0.5)))
        builder.edge(source, "a | b & !c", source, probability=0.5)
        builder.edge(source, "c & !a", target, reward=0.25 + i)
    return builder.build()


def first_match(*guards: str) -> RewardMachine:
    """Return a machine that pays 1, 2, … for the first of some guards that holds."""
    rules = [
        Rule("u", parse_guard(guard), (Outcome("u", reward=Reward((1.0 + i,))),)) for i, guard in enumerate(guards)
    ]
    return RewardMachine(("u",), "u", ("a", "b", "c"), rules, first_match=True)


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def words(lines: list[str]) -> list[str]:
    """Return the words of some lines; where a long one was wrapped does not matter."""
    printable = "".join(letter if letter.isprintable() else " " for letter in " ".join(lines))
    return sorted(printable.split())


def written(machine: RewardMachine) -> list[str]:
    """Return the texts beside the edges of a machine."""
    return [line.text for lines in edge_lines(Annotated(machine)).values() for line in lines]


@pytest.mark.parametrize("machine", [PATROL, PROBABILISTIC, FETCH, awkward()])
def test_every_state_and_every_edge_stands_in_the_svg(machine):
    assert words(texts(machine.draw().svg)) == words([*machine.states, *written(machine)])


@settings(max_examples=25)
@given(strategies.machines())
def test_any_machine_can_be_drawn(machine):
    graph = machine_graph(Annotated(machine))
    drawn = words(texts(machine.draw().svg))
    lines = [line.text for lines in graph.edges.values() for line in lines]
    assert set(words([*machine.states, *lines])) <= set(drawn)
    assert str(machine.draw()).count(" : ") == sum(len(rule.outcomes) for rule in machine.rules)


def holds(guard, label):
    """Tell whether the text of a guard holds on a label; ``else`` is not decided."""
    if guard == "nothing" or guard.startswith("only "):
        return label == frozenset(filter(None, guard.removeprefix("nothing").removeprefix("only ").split(", ")))
    return guard == "else" or parse_guard(guard).holds(label)


@given(strategies.machines())
def test_the_lines_that_hold_on_a_label_are_what_the_machine_does_in_whatever_order_they_are_read(machine):
    stretched = strategies.with_rewards(machine, -2.0, 3.0)
    ordered = machine.replace(first_match=True)
    for drawn in (machine, stretched.in_unit_range, ordered, first_match("a", "b", "a & c", "c | b")):
        for state, lines in edge_lines(Annotated(drawn)).items():
            split = [(*line.text.rsplit(" | ", 1), line.target) for line in lines]
            for label in strategies.ALL_LABELS:
                taken = [line for line in split if line[0] != "else" and holds(line[0], label)]
                taken = taken or [line for line in split if line[0] == "else"]
                outcomes = drawn.outcomes(state, label)
                expected = {(edge_text("x", out).removeprefix("x | "), out.target) for out in outcomes}
                assert ({line[1:] for line in taken} or {("0", state)}) == expected


def test_an_edge_says_its_guard_which_is_true_in_any_order_its_probability_and_its_reward():
    assert written(first_match("a", "b", "c")) == ["a | 1", "!a & b | 2", "!a & !b & c | 3"]
    assert guard_text(parse_guard("a & !b & !c & !d"), "abcd") == "only a"
    assert guard_text(parse_guard("a & !b & !c & !d"), "abcde") == "a & !b & !c & !d"
    assert guard_text(parse_guard("!b & !c & !d"), "bcd") == "nothing"
    assert written(PATROL) == ["right-end | 1", "left-end | 0"]
    assert written(FETCH)[:2] == ["item | 0.8, 0", "item | 0.2, 0"]
    assert written(awkward())[0] == "(a | b & !c) | 0.5, (P(0.2) = 0.5, P(0.7) = 0.5)"
    assert edge_text("a", Outcome("u", reward=Reward((0.1, 0.2, 0.3), (0.5, 0.25, 0.25)))) == "a | mean 0.175"
    builder = MachineBuilder("out", ("goal", "bad")).edge("out", "goal", "done", reward=1)
    machine = builder.edge("out", "bad & !goal", "done", reward=-1).build().in_unit_range
    assert sorted(written(machine)) == ["!goal & bad | 0", "else | 0.5", "goal | 1", "true | 0.5"]


def test_states_in_a_row_with_equal_steps_are_one_node():
    graph = machine_graph(Annotated(flower_machine(20)))
    assert [len(node) for node in graph.nodes] == [1, 3, 3, 3, 3, 20]
    assert "20 states, each step on only petal-5 | 0" in " ".join(texts(flower_machine(20).draw().svg))
    assert [[line.text for line in graph.edges[ends]] for ends in ((0, 5), (5, 0))] == [
        ["only petal-5 | 0"],
        ["only petal-5 | 1"],
    ]
    assert len(graph.edges) == 10

    def row(*more, length=5):
        builder = MachineBuilder("s0", propositions=("a", "b"))
        for i in range(length):
            builder.edge(f"s{i}", "a & !b", f"s{i + 1}")
        for edge in more:
            builder.edge(*edge, reward=1.0)
        return [len(node) for node in machine_graph(Annotated(builder.build())).nodes]

    assert row() == [1, 4, 1]  # the initial state and the terminal one stand alone
    assert row(("s3", "b", "s3"), length=7) == [1, 3, 3, 1]  # a step that differs
    assert row(("out", "b", "s4"), length=7) == [1, 3, 3, 1, 1]  # a way in from elsewhere


def test_a_machine_that_is_not_legible_as_a_graph_is_a_list_of_its_edges_no_wider_than_a_page():
    builder = MachineBuilder("s0", propositions=("a", "b"))
    for i in range(45):
        builder.edge(f"s{i}", "a & !b" if i % 2 else "b & !a", f"s{i + 1}", reward=1.0)
    long, dense = builder.build(), envs.make("random-20x4x8-0").machine
    for machine in (long, dense):
        scene = machine.draw().scene
        assert not [item for item in scene.items if isinstance(item, Area)]
        assert scene.width <= diagrams.PAGE_WIDTH + 2 * diagrams.MARGIN
        assert min(item.size for item in scene.items) >= diagrams.SMALL
        shown = words([item.text for item in scene.items])
        heads = [*(f"→ {line.target}" for lines in edge_lines(Annotated(machine)).values() for line in lines)]
        assert {*words([*machine.states[1:], *written(machine), *heads, f"{machine.initial}, initial"])} - {"s45"} <= {
            *shown
        }
    assert "s45, terminal" in [item.text for item in long.draw().scene.items]
    drawn = flower_machine(20).draw().scene  # a graph
    assert drawn.width <= diagrams.PAGE_WIDTH
    assert min(item.size for item in drawn.items if isinstance(item, Text)) >= diagrams.LEGIBLE * diagrams.SMALL


def test_what_follows_a_guard_stays_on_its_line():
    builder = MachineBuilder("out", ("left", "flag")).edge("out", "left & !flag", "in", probability=0.8)
    machine = builder.edge("out", "left & !flag", "out", probability=0.2).edge("in", "flag", "out", reward=1).build()
    assert {"left &", "!flag | 0.2, 0", "left & !flag | 0.8, 0"} <= {*texts(machine.draw().svg)}


def test_a_machine_from_a_formula_is_drawn_with_it_and_with_what_is_left_and_long_guards_wrapped():
    machine = RewardMachine.from_ltlf("F(an-event & a-second-event & X F(a-third-event & a-fourth-event))")
    drawn = texts(machine.draw(title="first & then").svg)
    assert {"first & then", "an-event & a-second-event | 0", "a-third-event &", "a-fourth-event | 1"} <= set(drawn)
    assert "start F(an-event & a-second-event & X F(a-third-event & a-fourth-event))" in " ".join(drawn)
    assert str(machine.draw(title='say "x"')).startswith('---\ntitle: "say \\"x\\""')


def test_a_state_that_is_lit_is_the_node_that_holds_it():
    machine = flower_machine(5)
    small = praemia.RewardMachine.from_ltlf("F(a & X F(b & X F c))")
    assert diagrams.machine_beside(machine, 2_000, 2_000) is None  # it has too many states
    assert diagrams.machine_beside(small, 100, 100) is None  # it would not be legible
    for state in small.states:
        items = diagrams.machine_beside(small, 2_000, 2_000, lit=state).items
        (node,) = [item for item in items if isinstance(item, Area) and item.fill == LIT]
        (name,) = [item for item in items if isinstance(item, Text) and item.text == state]
        assert math.dist((node.x, node.y), (name.x, name.y)) < node.height / 2


def test_what_differs_from_a_truth_of_ordered_rules_is_red_in_both():
    traces = [[({"a"}, 1.0), ({"a", "b"}, 1.0), ({"b"}, 5.0)]] * 30
    wrong = first_match("a", "b")
    five = replace(wrong.rules[1], outcomes=(Outcome("u", reward=Reward((5.0,))),))
    right = wrong.replace(rules=[wrong.rules[0], five])
    svgs = [inference_drawing(praemia.infer(traces), truth).svg for truth in (right, wrong)]
    assert [RED in svg for svg in svgs] == [False, True]
    root = ElementTree.fromstring(svgs[1])
    red = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text") if node.get("fill") == RED]
    assert sorted(red) == ["!a & b | 2", "!a | 5 · 30×"]


def test_mermaid_text_holds_no_syntax_from_names():
    lines = str(awkward().draw()).splitlines()
    states = [line for line in lines if line.startswith("    state ")]
    assert len(states) == len(AWKWARD)
    assert all(line.count('"') == 2 for line in lines if "state " in line)
    assert states[1] == '    state "#60;b#62;#38;amp#59;#60;/b#62;" as s1'
    assert "    s0 --> s1 : c & !a | 0.25" in lines


def test_the_suffix_says_how_a_machine_is_drawn_and_pixels_are_twice_as_fine_as_points(tmp_path):
    beginnings = {".svg": b"<svg", ".png": b"\x89PNG", ".mmd": b"stateDiagram"}
    for suffix, beginning in beginnings.items():
        path = tmp_path / f"machine{suffix.upper()}"
        awkward().draw().save(path)
        assert path.read_bytes().startswith(beginning)
    assert len(os.listdir(tmp_path)) == len(beginnings)
    drawing = FETCH.draw()
    drawing.save(tmp_path / "machine.png")
    width, height = (float(ElementTree.fromstring(drawing.svg).attrib[key]) for key in ("width", "height"))
    with Image.open(tmp_path / "machine.png") as image:
        assert image.size == (pytest.approx(2 * width, abs=2), pytest.approx(2 * height, abs=2))
        blue = [x for x in range(image.width) for y in range(image.height) if image.getpixel((x, y)) == (0, 0x72, 0xB2)]
    assert min(blue) > image.width / 2  # the edge with a reward is the last


def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path):
    (tmp_path / "taken.mmd").mkdir()
    for name, message in {
        "machine.bmp": r"\.svg, \.png or \.mmd",
        "machine": r"\.svg, \.png or \.mmd",
        "nowhere/machine.mmd": r"nowhere.*No such file or directory",
        "taken.mmd": "taken",
    }.items():
        with pytest.raises((FileError, PraemiaError), match=message):
            PATROL.draw().save(tmp_path / name)
    large = RewardMachine.from_ltlf(" & ".join(f"F a{i}" for i in range(9)))
    with pytest.raises(SizeError, match="512 states is too large to draw"):
        large.draw().save(tmp_path / "large.svg")
    assert os.listdir(tmp_path) == ["taken.mmd"]


def test_without_the_extra_the_remedy_is_named_and_mermaid_still_works(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    for drawing in (PATROL.draw(), praemia.show(envs.warehouse(2))):
        with pytest.raises(MissingExtraError, match=r"pip install .*'pygraphviz>="):
            drawing.save(tmp_path / "machine.svg")
    assert not os.listdir(tmp_path)
    PATROL.draw().save(tmp_path / "machine.mmd")
    assert os.listdir(tmp_path) == ["machine.mmd"]


def test_a_command_that_draws_says_nothing_but_the_file(tmp_path: Path) -> None:
    code = "import praemia; praemia.envs.warehouse(3).machine.draw().save('machine.svg')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
