"""Machines are equal when they do the same; every machine can be copied with a change; guards may be large."""

from __future__ import annotations

from typing import Any

import pytest

import praemia
from praemia import MachineBuilder, RewardMachine

PAIRS = " & ".join(f"(a{i} | b{i})" for i in range(14))


def pay(*edges: tuple[str, str, str, float], propositions: tuple[str, ...] | None = None) -> RewardMachine:
    """Make a machine from edges (source, guard, target, reward)."""
    builder = MachineBuilder(edges[0][0], propositions)
    for source, when, target, reward in edges:
        builder.edge(source, when, target, reward=reward)
    return builder.build()


def changed(machine: RewardMachine, **parts: Any) -> RewardMachine:
    """Return a copy of a machine with some parts changed."""
    return machine.replace(**parts)


BY_HAND = pay(("start", "a", "done", 1.0))
KINDS = {
    "by hand": BY_HAND,
    "formula": RewardMachine.from_ltlf("F a"),
    "regex": RewardMachine.from_regex("(!a)* a"),
    "sum": RewardMachine.from_ltlf("F a") + RewardMachine.from_ltlf("F b"),
    "with chance": BY_HAND.with_chance({"a": 0.5}),
    "built-in": praemia.envs.warehouse(size=3).machine,
    "inferred": praemia.infer([[({"a"}, 0.0), ({"b"}, 1.0)], [({"b"}, 0.0), ({"a"}, 0.0), ({"b"}, 1.0)]]).machine,
}
SAME = {
    "guards written otherwise": (pay(("q", "a | b", "q", 1.0)), pay(("q", "!(!b & !a)", "q", 1.0))),
    "rules split in two": (pay(("q", "a", "q", 1.0)), pay(("q", "a & b", "q", 1.0), ("q", "a & !b", "q", 1.0))),
    "a rule that says what happens anyway": (
        pay(("q", "a", "q", 1.0)),
        pay(("q", "a", "q", 1.0), ("q", "!a", "q", 0.0)),
    ),
    "rules in another order": (
        pay(("q", "a", "q", 1.0), ("q", "!a", "q", 0.5)),
        pay(("q", "!a", "q", 0.5), ("q", "a", "q", 1.0)),
    ),
    "a formula and rules": (RewardMachine.from_ltlf("F a"), BY_HAND),
}
OTHER = {
    "initial state": (BY_HAND, changed(BY_HAND, initial="done")),
    "reward": (BY_HAND, pay(("start", "a", "done", 2.0))),
    "names": (BY_HAND, pay(("begin", "a", "done", 1.0))),
    "proposition": (BY_HAND, BY_HAND.over(["b"])),
}


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_machines_that_do_the_same_are_equal_and_have_one_hash(first: RewardMachine, second: RewardMachine) -> None:
    propositions = sorted({*first.propositions, *second.propositions})
    first, second = first.over(propositions), second.over(propositions)
    assert first == second
    assert second == first
    assert hash(first) == hash(second)
    assert len({first, second}) == 1


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_the_order_of_propositions_means_nothing(order: tuple[str, ...]) -> None:
    edges = (("q", "a & b | c", "r", 1.0), ("r", "!b", "q", 0.25))
    first, second = pay(*edges, propositions=("a", "b", "c")), pay(*edges, propositions=order)
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize(("first", "second"), OTHER.values(), ids=OTHER)
def test_machines_that_differ_in_what_they_do_are_not_equal(first: RewardMachine, second: RewardMachine) -> None:
    assert first != second


def test_the_order_of_outcomes_tells_machines_apart() -> None:
    """It decides what a random number draws."""
    one = MachineBuilder("q").edge("q", "a", "r", probability=0.5).edge("q", "a", "q", probability=0.5).build()
    two = MachineBuilder("q").edge("q", "a", "q", probability=0.5).edge("q", "a", "r", probability=0.5).build()
    assert [out.target for out in one.outcomes("q", {"a"})] != [out.target for out in two.outcomes("q", {"a"})]
    assert one != two


@pytest.mark.parametrize("machine", KINDS.values(), ids=KINDS)
def test_a_changed_copy_can_be_made_of_every_machine(machine: RewardMachine) -> None:
    assert changed(machine) == machine
    last = machine.states[-1]
    moved = changed(machine, initial=last)
    assert moved.initial == last
    for label in (set(), {machine.propositions[0]}):
        assert moved.outcomes(last, label) == machine.outcomes(last, label)


def test_a_large_guard_and_its_negation_exclude_each_other() -> None:
    machine = pay(("q", PAIRS, "all", 1.0), ("q", f"!({PAIRS})", "q", 0.25))
    every = {f"a{i}" for i in range(7)} | {f"b{i}" for i in range(7, 14)}
    assert [out.target for out in machine.outcomes("q", every)] == ["all"]
    assert machine.expected_rewards([every - {"a3"}]).tolist() == [0.25]


def test_two_large_guards_that_overlap_are_still_refused() -> None:
    """Both hold where all a's do."""
    other = " & ".join(f"(a{i} | c{i})" for i in range(14))
    with pytest.raises(praemia.PraemiaError, match="both match"):
        pay(("q", PAIRS, "all", 1.0), ("q", other, "q", 0.25))
