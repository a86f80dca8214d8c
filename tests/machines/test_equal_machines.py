"""Two machines are equal when they do the same, whatever rules say so; and every machine can be copied and changed."""

import pickle
import random

import ltlf_oracle as oracle
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.errors import ModelError
from praemia.files.writing import dump
from praemia.machines.builder import MachineBuilder
from praemia.machines.guards import exactly
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

TO_R = (Outcome("r", 0.25), Outcome("q", 0.75, Reward.of(1)))


def machine(*rules, states=("q", "r"), initial="q", propositions=("a", "b"), **options):
    written = tuple(Rule(source, parse_guard(guard), outcomes) for source, guard, outcomes in rules)
    return RewardMachine(states, initial, propositions, written, **options)


def written_out(drawn, order):
    """Return the machine with a rule for each label, its propositions and rules in some order."""
    rules = [
        Rule(state, strategies.exactly(label), drawn.outcomes(state, label))
        for state in drawn.states
        for label in strategies.ALL_LABELS
    ]
    order.shuffle(rules)
    propositions = list(drawn.propositions)
    order.shuffle(propositions)
    return RewardMachine(drawn.states, drawn.initial, propositions, rules)


@settings(deadline=None)
@given(strategies.machines(), st.randoms(use_true_random=False))
def test_a_machine_equals_its_rules_for_single_labels_in_any_order(drawn, order):
    other = written_out(drawn, order)
    assert other == drawn
    assert hash(other) == hash(drawn)


@settings(deadline=None)
@given(strategies.machines(), strategies.machines())
def test_machines_are_equal_exactly_if_they_do_the_same_on_every_label(first, second):
    cases = [(state, label) for state in first.states for label in strategies.ALL_LABELS]
    same = (first.states, first.initial) == (second.states, second.initial) and all(
        first.outcomes(*case) == second.outcomes(*case) for case in cases
    )
    assert (first == second) == same


@pytest.mark.filterwarnings("ignore::praemia.errors.PraemiaWarning")
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9), st.randoms(use_true_random=False))
def test_a_machine_from_a_formula_equals_the_one_that_would_be_written_by_hand(seed, order):
    made = RewardMachine.from_ltlf(oracle.write(oracle.random_formula(random.Random(seed), 7, "abc")))
    rules = list(made.rules)
    order.shuffle(rules)
    by_hand = RewardMachine(made.states, made.initial, made.propositions[::-1], rules)
    assert by_hand == made
    assert made == by_hand
    assert hash(by_hand) == hash(made)
    assert {made: "found"}[by_hand] == "found"


@pytest.mark.parametrize(
    "other",
    [
        machine(("q", "a", TO_R[::-1])),  # the order of outcomes decides what a random number draws
        machine(("q", "a", (Outcome("r", 0.25, Reward.of(1)), Outcome("q", 0.75)))),
        machine(("q", "a & b", TO_R)),
        machine(("q", "a", TO_R), ("r", "b", (Outcome("r", 1.0, Reward.of(1)),))),
        machine(("q", "a", TO_R), initial="r"),
        machine(("q", "a", TO_R), states=("r", "q")),
        machine(("q", "a", TO_R), propositions=("a",)),
    ],
)
def test_whatever_a_machine_does_otherwise_makes_it_another(other):
    assert other != machine(("q", "a", TO_R))


def test_a_mapped_machine_equals_the_one_with_its_rewards_written_out():
    """One pays where no rule holds, the other by a rule."""
    mapped = machine(("q", "a", (Outcome("q", 1.0, Reward.of(-1)),)), states=("q",)).in_unit_range
    rules = [("q", "a", (Outcome("q"),)), ("q", "!a", (Outcome("q", 1.0, Reward.of(1)),))]
    by_hand = machine(*rules, states=("q",))
    assert mapped.outcomes("q", set()) == by_hand.outcomes("q", set())
    assert mapped == by_hand
    assert hash(mapped) == hash(by_hand)
    assert [str(rule.guard) for rule in mapped.rules] == ["a"]


def test_the_idle_reward_is_the_unit_ranges_alone_and_kept_by_copies_and_sums():
    """0 is what a step without a rule and an ended episode have; no argument changes it, and the unit range maps it."""
    for change in (machine, machine().replace):
        with pytest.raises(TypeError, match="idle_reward"):
            change(idle_reward=0.5)
    costly = machine(("q", "a", (Outcome("q", 1.0, Reward.of(-1)),)), states=("q",)).in_unit_range
    assert costly.idle_reward == Reward.of(1.0)
    total = costly + machine(("q", "b", (Outcome("q", 1.0, Reward.of(0.5)),)), states=("q",))
    for made in (costly, costly.replace(rules=()), total, total.replace()):
        assert made.idle_reward == Reward.of(1.0)
        assert made.expected_rewards([set()]).tolist() == [1.0]
    assert total.expected_rewards([{"a"}, {"b"}]).tolist() == [0.0, 1.5]


def test_a_machine_is_never_changed():
    with pytest.raises(AttributeError, match=r"machine\.replace"):
        machine().initial = "r"


def test_a_rule_that_stays_unpaid_and_one_that_is_hidden_change_nothing():
    stays = ("r", "a", (Outcome("r"),))
    hidden = ("q", "a & b", (Outcome("r", 1.0, Reward.of(5)),))
    other = machine(("q", "a", TO_R), hidden, stays, first_match=True)
    assert other == machine(("q", "a", TO_R))
    assert other.reward_range == machine(("q", "a", TO_R)).reward_range


@pytest.mark.parametrize(
    "made",
    [
        RewardMachine.from_ltlf("F(a & X F b)"),
        RewardMachine.from_regex("a* b"),
        RewardMachine.from_ltlf({"F a": 0.5, "F b": 0.25}),
        RewardMachine.from_ltlf("F a").with_chance({"a": 0.5}),
        RewardMachine.from_ltlf("F a", reward=-3).in_unit_range,
        RewardMachine.from_ltlf("F a") + RewardMachine.from_regex("(!b)* b"),
        machine(("q", "a", TO_R), ("q", "a | b", TO_R), ("q", "else", (Outcome("q"),)), first_match=True),
    ],
)
def test_a_changed_copy_can_be_made_of_every_machine(made):
    assert made.replace() == made
    assert made.replace().idle_reward == made.idle_reward
    assert made.replace().terminal_states == made.over(["z"]).terminal_states == made.terminal_states
    last = made.states[-1]
    moved = made.replace(initial=last)
    assert (moved.initial, made.initial) == (last, made.states[0])
    for label in (set(), {"a"}, {"b"}, {"a", "b"}):
        assert moved.outcomes(last, label) == made.outcomes(last, label)
    assert moved.replace(initial=made.initial) == made
    assert made.replace(rules=()).reward_range.is_unit
    other = made.replace(rules=made.rules[:-1])
    assert len(other.rules) == len(made.rules) - 1
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_changed_copy_is_not_written_as_the_formula_it_was_made_from():
    made = RewardMachine.from_ltlf("F a")
    assert "ltlf" in dump(made)
    assert "ltlf" not in dump(made.replace(initial=made.states[-1]))


def test_guards_of_many_pairs_and_their_negation_are_told_apart():
    pairs = " & ".join(f"(a{i} | b{i})" for i in range(14))
    names = sorted(f"{letter}{i}" for letter in "ab" for i in range(14))
    built = MachineBuilder("q", names).edge("q", pairs, "r", reward=1).edge("q", f"!({pairs})", "q", reward=0.5).build()
    assert built.outcomes("q", {f"a{i}" for i in range(14)}) == (Outcome("r", 1.0, Reward.of(1)),)
    assert built.outcomes("q", {f"b{i}" for i in range(13)}) == (Outcome("q", 1.0, Reward.of(0.5)),)
    with pytest.raises(ModelError, match="both match the label"):
        MachineBuilder("q", names).edge("q", pairs, "r").edge("q", f"!({pairs}) | a0 & b0", "q").build()


def test_a_state_may_read_more_propositions_than_python_recurses():
    names = [f"p{i}" for i in range(1500)]
    every = exactly(frozenset(names), names)
    built = MachineBuilder("q", names).edge("q", every, "r").edge("q", ~every, "q", reward=1).build()
    assert built.outcomes("q", set(names)) == (Outcome("r"),)
    assert built.outcomes("q", set(names[1:])) == (Outcome("q", 1.0, Reward.of(1)),)
    other = MachineBuilder("q", names[::-1]).edge("q", ~every, "q", reward=1).edge("q", every, "r").build()
    assert other == built


@settings(deadline=None)
@given(strategies.machines())
def test_rules_written_or_derived_exclude_each_other_and_say_what_the_diagrams_say(drawn):
    for made in (drawn, drawn.changed(written_rules=None)):
        for label in strategies.ALL_LABELS:
            for state in drawn.states:
                outcomes = made.outcomes(state, label)
                assert sum(outcome.probability for outcome in outcomes) == pytest.approx(1.0)
                assert len({outcome.target for outcome in outcomes}) == len(outcomes)
                taken = [rule.outcomes for rule in made.rules if rule.source == state and rule.guard.holds(label)]
                stays = outcomes == (Outcome(state),)
                assert taken == [outcomes] or (stays and not taken)
                assert made is drawn or stays != bool(taken)
