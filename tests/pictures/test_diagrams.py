"""Diagrams show every state and every edge, whatever they are called."""

import os
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import strategies
from hypothesis import given, settings

from praemia import envs
from praemia.envs.flower import flower_machine
from praemia.envs.riverswim import patrol, probabilistic_patrol
from praemia.envs.warehouse import fetch_and_deliver
from praemia.errors import FileError, MissingExtraError, PraemiaError, SizeError
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.syntax import parse_guard
from praemia.pictures import machine_layout
from praemia.pictures.machine_graph import Annotated, edge_text, machine_graph, short_guards
from praemia.pictures.renderers import render_image, render_svg
from praemia.pictures.scene import Line, Scene, Text

AWKWARD = ('say "hi"', "<b>&amp;</b>", r"back\slash\N", "Größe → ∞", "a;b:c#d%e{}[*]", "--> x")


def awkward():
    builder = MachineBuilder(initial=AWKWARD[0])
    for i, (source, target) in enumerate(pairwise(AWKWARD)):
        builder.edge(source, "a | b & !c", target, probability=0.5, reward=Reward((0.2, 0.7), (0.5, 0.5)))
        builder.edge(source, "a | b & !c", source, probability=0.5)
        builder.edge(source, "c & !a", target, reward=0.25 + i)
    return builder.build()


def texts(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def words(lines):
    """Return the words of some lines; where a long one was wrapped does not matter."""
    return sorted(word for line in lines for word in line.split())


def edge_texts(machine):
    return [edge_text(rule, outcome) for rule in machine.rules for outcome in rule.outcomes]


def drawn_texts(machine):
    """Return the names and the lines that a drawing must have, but for those of states drawn as one."""
    graph = machine_graph(Annotated(machine))
    return [state for node in graph.nodes for state in node.states] + [
        line.text for edge in graph.edges for line in edge.lines
    ]


@pytest.mark.parametrize("make", [patrol, probabilistic_patrol, fetch_and_deliver, awkward])
def test_every_state_and_every_edge_stands_in_the_svg(make):
    machine = make()
    assert words(texts(machine.draw().svg)) == words([*machine.states, *edge_texts(machine)])


@settings(max_examples=25)
@given(strategies.machines())
def test_any_machine_can_be_drawn(machine):
    drawn = words(texts(machine.draw().svg))
    assert all(drawn.count(word) >= 1 for word in words(drawn_texts(machine)))
    assert str(machine.draw()).count(" : ") == len(edge_texts(machine))


@given(strategies.machines())
def test_every_state_is_in_one_node_and_every_outcome_on_the_one_edge_between_its_nodes(machine):
    graph = machine_graph(Annotated(machine))
    assert sorted(state for node in graph.nodes for state in node.states) == sorted(machine.states)
    assert machine.initial in graph.nodes[graph.initial].states
    ends = [(edge.source, edge.target) for edge in graph.edges]
    assert len(set(ends)) == len(ends)
    number = {state: i for i, node in enumerate(graph.nodes) for state in node.states}
    for rule in machine.rules:
        for outcome in rule.outcomes:
            between = (number[rule.source], number[outcome.target])
            assert between in ends or between[0] == between[1]


@given(strategies.machines())
def test_short_guards_read_in_order_take_the_labels_of_the_full_ones(machine):
    labels = [
        frozenset(names)
        for size in range(len(machine.propositions) + 1)
        for names in combinations(machine.propositions, size)
    ]
    for state in machine.states:
        guards = [rule.guard for rule in machine.exclusive_rules if rule.source == state]
        shortened = list(short_guards(guards, machine.propositions))
        for label in labels:
            full = [guard.holds(label) for guard in guards]
            short = [reads(text, label) for text in shortened]
            assert any(full) == any(short)
            assert not any(full) or full.index(True) == short.index(True)


def reads(text, label):
    """Tell whether a short guard holds on a label."""
    if text == "else":
        return True
    if text == "nothing":
        return not label
    if text.startswith("only "):
        return label == frozenset(text.removeprefix("only ").split(", "))
    return parse_guard(text).holds(label)


def test_a_guard_is_as_short_as_the_other_rules_of_its_state_allow():
    guards = [*map(parse_guard, ("full", "!full & served", "!full & !served & late", "!full & !served & !late & !x"))]
    assert list(short_guards(guards, ("full", "served", "late", "x"))) == ["full", "served", "late", "!x"]
    assert list(short_guards([parse_guard("a & !b & !c & !d")], "abcd")) == ["only a"]
    assert list(short_guards([parse_guard("a & !b & !c & !d")], "abcde")) == ["a & !b & !c & !d"]
    assert list(short_guards([parse_guard("a"), parse_guard("!a")], "a")) == ["a", "else"]


def test_states_in_a_row_with_equal_steps_are_one_node():
    graph = machine_graph(Annotated(flower_machine(20)))
    assert [len(node.states) for node in graph.nodes] == [1, 3, 3, 3, 3, 20]
    assert graph.nodes[-1].step == "only petal-5 | 0"
    ways = {(edge.source, edge.target): [line.text for line in edge.lines] for edge in graph.edges}
    assert ways[0, 5] == ["only petal-5 | 0"]
    assert ways[5, 0] == ["only petal-5 | 1"]
    assert len(ways) == 10


def test_a_step_that_differs_or_a_way_in_from_elsewhere_ends_a_row():
    def sizes(builder):
        return [len(node.states) for node in machine_graph(Annotated(builder.build())).nodes]

    def row():
        builder = MachineBuilder("s0", propositions=("a", "b"))
        for i in range(5):
            builder.edge(f"s{i}", "a & !b", f"s{i + 1}")
        return builder

    assert sizes(row()) == [6]
    assert sizes(row().edge("s2", "b", "s2", reward=1.0)) == [3, 3]
    assert sizes(row().edge("out", "b", "s3")) == [3, 3, 1]


def test_a_machine_of_many_states_is_an_overview_without_guards_and_no_wider_than_a_page():
    builder = MachineBuilder("s0", propositions=("a", "b"))
    for i in range(40):
        builder.edge(f"s{i}", "a & !b" if i % 2 else "b & !a", f"s{i + 1}", reward=1.0)
    drawn = builder.build().draw().svg
    assert sorted(texts(drawn)) == sorted(f"s{i}" for i in range(41))
    for svg in (drawn, flower_machine(20).draw().svg):
        assert float(ElementTree.fromstring(svg).attrib["width"]) <= machine_layout.PAGE_WIDTH


def test_a_machine_from_a_formula_is_drawn_with_it_and_with_what_is_left_and_long_guards_wrapped():
    machine = RewardMachine.from_ltlf("F(an-event & a-second-event & X F(a-third-event & a-fourth-event))")
    drawn = texts(machine.draw(title="first & then").svg)
    written = " ".join(drawn)
    assert "first & then" in drawn
    assert {"an-event & a-second-event | 0", "a-third-event & a-fourth-event |", "1"} <= set(drawn)
    assert "start F(an-event & a-second-event & X F(a-third-event & a-fourth-event))" in written
    assert str(machine.draw(title='say "x"')).startswith('---\ntitle: "say \\"x\\""')


def test_an_edge_says_guard_probability_and_reward():
    assert edge_texts(patrol()) == ["right-end | 1", "left-end | 0"]
    assert edge_texts(fetch_and_deliver())[:2] == ["item | 0.8, 0", "item | 0.2, 0"]
    assert edge_texts(awkward())[0] == "(a | b & !c) | 0.5, (0.2 w.p. 0.5, 0.7 w.p. 0.5)"


def test_an_inline_svg_has_no_header():
    assert patrol().draw().svg.startswith("<svg")


def test_labels_are_painted_above_all_edges_with_a_rim():
    scene = envs.make("random-20x4x5-0").machine.draw().scene
    rims = [isinstance(item, Text) and item.has_rim for item in scene.items]
    assert any("Bernoulli" in item.text for item in scene.items if isinstance(item, Text))
    assert rims == sorted(rims)  # they come last
    names = [item for item in scene.items if isinstance(item, Text) and item.text[0] == "q"]
    assert len(names) == 5
    assert not any(item.has_rim for item in names)


def test_a_rim_keeps_lines_from_a_text():
    line = Line(((0.0, 8.0), (90.0, 8.0)), "#000000", 2.0)
    crossed = Scene(90, 16, (line, Text(45, 8, "x", 12, "#ffffff", anchor="middle", has_rim=True)))
    assert 'paint-order="stroke"' in render_svg(crossed)
    pixels = np.asarray(render_image(crossed))
    assert pixels[8, 20].max() < 50  # the line
    assert pixels[8, 43:48].min() > 200  # is not seen through the text


def test_mermaid_text_is_what_it_should_be():
    assert str(fetch_and_deliver().draw()) == (
        "stateDiagram-v2\n"
        "    direction LR\n"
        '    state "empty" as s0\n'
        '    state "loaded" as s1\n'
        '    state "done" as s2\n'
        "    [*] --> s0\n"
        "    s0 --> s1 : item | 0.8, 0\n"
        "    s0 --> s0 : item | 0.2, 0\n"
        "    s1 --> s2 : delivery | 0.9, 1\n"
        "    s1 --> s1 : delivery | 0.1, 0\n"
        "    s2 --> [*]"
    )


def test_mermaid_text_holds_no_syntax_from_names():
    lines = str(awkward().draw()).splitlines()
    states = [line for line in lines if line.startswith("    state ")]
    assert len(states) == len(AWKWARD)
    assert all(line.count('"') == 2 for line in lines if "state " in line)
    assert states[1] == '    state "#60;b#62;#38;amp#59;#60;/b#62;" as s1'
    assert "    s0 --> s1 : c & !a | 0.25" in lines


@pytest.mark.parametrize(
    ("suffix", "beginning"),
    [
        (".svg", b"<svg"),
        (".png", b"\x89PNG"),
        (".pdf", b"%PDF"),
        (".dot", b"digraph"),
        (".mmd", b"stateDiagram"),
    ],
)
def test_the_suffix_says_how_a_machine_is_drawn(tmp_path, suffix, beginning):
    path = tmp_path / f"machine{suffix.upper()}"
    awkward().draw().save(path)
    assert path.read_bytes().startswith(beginning)
    assert os.listdir(tmp_path) == [path.name]


def test_an_unknown_suffix_is_refused_with_those_known(tmp_path):
    for name in ("machine.bmp", "machine"):
        with pytest.raises(PraemiaError, match=r"\.svg, \.png, \.mmd, \.pdf or \.dot"):
            patrol().draw().save(tmp_path / name)
    assert not os.listdir(tmp_path)


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileError, match=r"nowhere.*No such file or directory"):
        patrol().draw().save(tmp_path / "nowhere" / "machine.mmd")
    (tmp_path / "taken.mmd").mkdir()
    with pytest.raises(FileError, match="taken"):
        patrol().draw().save(tmp_path / "taken.mmd")
    assert os.listdir(tmp_path) == ["taken.mmd"]


def test_without_the_extra_the_remedy_is_named_and_mermaid_still_works(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*'pygraphviz>="):
        patrol().draw().save(tmp_path / "machine.svg")
    assert not os.listdir(tmp_path)
    patrol().draw().save(tmp_path / "machine.mmd")
    assert os.listdir(tmp_path) == ["machine.mmd"]


def test_a_machine_too_large_to_draw_is_refused(tmp_path):
    machine = RewardMachine.from_ltlf(" & ".join(f"F a{i}" for i in range(9)))
    with pytest.raises(SizeError, match="512 states is too large to draw"):
        machine.draw().save(tmp_path / "large.svg")


def test_nothing_but_the_file_is_told_when_a_machine_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    code = "from praemia.cli import main; main()"
    command = [sys.executable, "-c", code, "draw", "warehouse-3", "--out", "machine.svg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "wrote machine.svg\n")


def test_what_graphviz_says_of_a_graph_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with machine_layout._fontconfig_muted():
        os.write(2, b'Fontconfig warning: "05.conf", line 6: unknown element "reset-dirs"\nError: no layout\n')
    assert capfd.readouterr().err == "Error: no layout\n"


@pytest.mark.parametrize("name", ["a\x01", "b\x1b[1m"])
def test_a_name_with_a_control_character_is_drawn(name: str) -> None:
    machine = MachineBuilder(name).edge(name, "item", "done", reward=1).build()
    ElementTree.fromstring(machine.draw().svg)
