"""Diagrams show every state and every edge, whatever they are called."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import strategies
from hypothesis import given, settings

from praemia.envs.riverswim import patrol, probabilistic_patrol
from praemia.envs.warehouse import fetch_and_deliver
from praemia.errors import FileError, MissingExtraError, PraemiaError, SizeError
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.pictures import diagrams
from praemia.pictures.diagrams import draw_machine, edge_text, machine_svg, mermaid

AWKWARD = ('say "hi"', "<b>&amp;</b>", r"back\slash\N", "Größe → ∞", "a;b:c#d%e{}[*]", "--> x")


def awkward():
    builder = MachineBuilder(initial=AWKWARD[0])
    for source, target in pairwise(AWKWARD):
        builder.edge(source, "a | b & !c", target, probability=0.5, reward=Reward((0.2, 0.7), (0.5, 0.5)))
        builder.edge(source, "a | b & !c", source, probability=0.5)
        builder.edge(source, "c & !a", target, reward=0.25)
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


@pytest.mark.parametrize("make", [patrol, probabilistic_patrol, fetch_and_deliver, awkward])
def test_every_state_and_every_edge_stands_in_the_svg(make):
    machine = make()
    assert words(texts(machine_svg(machine))) == words([*machine.states, *edge_texts(machine)])


@settings(max_examples=25)
@given(strategies.machines())
def test_any_machine_can_be_drawn(machine):
    assert words(texts(machine_svg(machine))) == words([*machine.states, *edge_texts(machine)])
    assert mermaid(machine).count(" : ") == len(edge_texts(machine))


def test_a_machine_from_a_formula_is_drawn_with_it_and_with_what_is_left_and_long_guards_wrapped(tmp_path):
    machine = RewardMachine.from_ltlf("F(an-event & a-second-event & X F(a-third-event & a-fourth-event))")
    drawn = texts(draw_machine(machine, tmp_path / "x.svg", title="first & then").read_text(encoding="utf-8"))
    shown = " ".join(drawn)
    assert "first & then" in drawn
    assert {"an-event & a-second-event | 0", "a-third-event & a-fourth-event |", "1"} <= set(drawn)
    assert "start F(an-event & a-second-event & X F(a-third-event & a-fourth-event))" in shown
    assert (
        draw_machine(machine, tmp_path / "x.mmd", title='say "x"').read_text().startswith('---\ntitle: "say \\"x\\""')
    )


def test_an_edge_says_guard_probability_and_reward():
    assert edge_texts(patrol()) == ["right-end | 1", "left-end | 0"]
    assert edge_texts(fetch_and_deliver())[:2] == ["item | 0.8, 0", "item | 0.2, 0"]
    assert edge_texts(awkward())[0] == "(a | b & !c) | 0.5, (0.2 w.p. 0.5, 0.7 w.p. 0.5)"


def test_an_inline_svg_has_no_header():
    assert machine_svg(patrol()).startswith("<svg")


def test_mermaid_text_is_what_it_should_be():
    assert mermaid(fetch_and_deliver()) == (
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
        "    s2 --> [*]\n"
    )


def test_mermaid_text_holds_no_syntax_from_names():
    lines = mermaid(awkward()).splitlines()
    states = [line for line in lines if line.startswith("    state ")]
    assert len(states) == len(AWKWARD)
    assert all(line.count('"') == 2 for line in lines if "state " in line)
    assert states[1] == '    state "#60;b#62;#38;amp#59;#60;/b#62;" as s1'
    assert "    s0 --> s1 : c & !a | 0.25" in lines


@pytest.mark.parametrize(
    ("suffix", "beginning"),
    [
        (".svg", b"<?xml"),
        (".png", b"\x89PNG"),
        (".pdf", b"%PDF"),
        (".dot", b"digraph"),
        (".mmd", b"stateDiagram"),
    ],
)
def test_the_suffix_says_how_a_machine_is_drawn(tmp_path, suffix, beginning):
    path = draw_machine(awkward(), tmp_path / f"machine{suffix.upper()}")
    assert path.read_bytes().startswith(beginning)
    assert os.listdir(tmp_path) == [path.name]


def test_an_unknown_suffix_is_refused_with_those_known(tmp_path):
    for name in ("machine.bmp", "machine"):
        with pytest.raises(PraemiaError, match=r"\.svg, \.png, \.pdf, \.dot, \.mmd"):
            draw_machine(patrol(), tmp_path / name)
    assert not os.listdir(tmp_path)


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileError, match=r"nowhere.*No such file or directory"):
        draw_machine(patrol(), tmp_path / "nowhere" / "machine.mmd")
    (tmp_path / "taken.mmd").mkdir()
    with pytest.raises(FileError, match="taken"):
        draw_machine(patrol(), tmp_path / "taken.mmd")
    assert os.listdir(tmp_path) == ["taken.mmd"]


def test_without_the_extra_the_remedy_is_named_and_mermaid_still_works(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pygraphviz>="):
        draw_machine(patrol(), tmp_path / "machine.svg")
    assert not os.listdir(tmp_path)
    assert draw_machine(patrol(), tmp_path / "machine.mmd").exists()


def test_a_machine_too_large_to_draw_is_refused(tmp_path):
    machine = RewardMachine.from_ltlf(" & ".join(f"F a{i}" for i in range(9)))
    with pytest.raises(SizeError, match="512 states is too large to draw"):
        draw_machine(machine, tmp_path / "large.svg")


def test_nothing_but_the_file_is_told_when_a_machine_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    code = "from praemia.cli import main; main()"
    command = [sys.executable, "-c", code, "draw", "warehouse-3", "--out", "machine.svg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "wrote machine.svg\n")


def test_what_graphviz_says_of_a_graph_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with diagrams._fontconfig_muted():
        os.write(2, b'Fontconfig warning: "05.conf", line 6: unknown element "reset-dirs"\nError: no layout\n')
    assert capfd.readouterr().err == "Error: no layout\n"
