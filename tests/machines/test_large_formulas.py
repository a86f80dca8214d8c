"""Large formulas have machines of known size, and growth is refused while it happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from praemia import RewardMachine, save_machine
from praemia.errors import SizeError
from praemia.machines.diagrams import Growth
from praemia.machines.ltlf import formula_automaton


def nested_responses(size: int) -> str:
    text = f"F(p{size} & X c{size})"
    for i in range(size - 1, 0, -1):
        text = f"F(p{i} & X(c{i} & X {text}))"
    return text


def double_counter(size: int) -> str:
    """Return a formula on two binary counters, which is of the families that synthesis tools are measured by."""
    parts = [f"(c{i} <-> i{i})" for i in range(size)] + [f"!d{i}" for i in range(size)]
    for name, step in (("c", "up"), ("d", "down")):
        parts.append(f"G(k{name}0 <-> {step})")
        parts += [f"G(k{name}{i} <-> ({name}{i - 1} & k{name}{i - 1}))" for i in range(1, size)]
        for i in range(size):
            stays = f"({name}{i} <-> k{name}{i})"
            parts.append(f"G((X {name}{i} -> !{stays}) & (X !{name}{i} -> {stays}))")
    equal = " & ".join(f"(c{i} <-> d{i})" for i in range(size))
    return " & ".join(f"({part})" for part in [*parts, f"G(up -> !X up) -> F({equal})"])


@pytest.mark.parametrize(
    ("text", "num_states"),
    [
        (f"F(a & {'X ' * 9}b)", 2**9 + 1),  # which of the last nine steps had an a, and done
        (" & ".join(f"F a{i}" for i in range(9)), 2**9),
        (" & ".join(["G p", *(f"F a{i}" for i in range(9))]), 2**9 + 1),
        (" | ".join(f"G a{i}" for i in range(9)), 2**9),
        (" & ".join(f"G a{i}" for i in range(900)), 2),
        ("X(" + " & ".join(f"F a{i}" for i in range(8)) + ")", 2**8 + 1),
        (" & ".join(["F goal", *(f"(!d{i} U k{i})" for i in range(1, 6))]), 2**6 + 1),
        (nested_responses(10), 21),
        (" | ".join(["F b"] * 4000), 2),
    ],
)
def test_families_have_the_size_that_counting_gives(text: str, num_states: int) -> None:
    assert formula_automaton(text, Growth()).num_states == num_states


def test_a_guard_of_many_products_is_refused(tmp_path: Path) -> None:
    machine = RewardMachine.from_ltlf(f"F({' & '.join(f'(a{i} | b{i})' for i in range(20))})")
    with pytest.raises(SizeError, match="a guard of more than 100,000 products"):
        save_machine(machine.changed(source=None), tmp_path / "machine.yaml")


@pytest.mark.parametrize("text", [f"F(a & {'X ' * 40}b)", " & ".join(f"F a{i}" for i in range(40)), double_counter(8)])
def test_growth_is_refused_soon_after_the_limit(text: str) -> None:
    growth = Growth(max_states=500)
    with pytest.raises(SizeError, match="outgrew"):
        formula_automaton(text, growth)
    assert growth.num_states < 10_000


def test_building_can_be_interrupted() -> None:
    def interrupt(size: str) -> None:
        assert "leaves so far" in size
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        formula_automaton(f"F(a & {'X ' * 16}b)", Growth(tell=interrupt, _last=-100.0))


@pytest.mark.parametrize(
    ("text", "num_states"),
    [
        ("X " * 5000 + "a", 5003),
        ("F(p" + " & X F(p" * 100 + ")" * 101, 102),
        ("(" * 20_000 + "a" + ")" * 20_000, 3),
        ("! " * 20_001 + "a", 3),
    ],
    ids=["next", "eventually", "brackets", "negations"],
)
def test_depth_is_no_limit(text: str, num_states: int) -> None:
    assert formula_automaton(text, Growth()).num_states == num_states
