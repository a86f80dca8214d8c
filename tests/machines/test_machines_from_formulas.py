"""Machines made from formulas are machines like others: they step, plan, add up, are written and drawn."""

import itertools
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import ltlf_oracle as oracle
import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import praemia
from praemia import Reward, RewardMachine
from praemia.errors import ModelError
from praemia.files.load_save import save_machine
from praemia.machines.builder import MachineBuilder

SHORT_WORDS = [word for length in range(4) for word in itertools.product(strategies.ALL_LABELS[:5], repeat=length)]


def fetch():
    return RewardMachine.from_ltlf("F(item & X F delivery)")


def test_a_machine_from_a_formula_is_the_one_that_would_be_written_by_hand():
    by_hand = (
        MachineBuilder(initial="start", propositions=["item", "delivery"])
        .edge("start", "item", "F delivery")
        .edge("F delivery", "delivery", "done", reward=1)
        .build()
    )
    assert fetch() == by_hand
    assert by_hand == fetch()
    assert fetch().meanings == {
        "start": "F(item & X F delivery)",
        "F delivery": "F delivery",
        "done": "done: reward already paid",
    }


def law_of_word(machine, word):
    """Return the law of the tuple of rewards that a word earns, by following every branch."""
    paths = {((), machine.initial): 1.0}
    for label in word:
        after = {}
        for (paid, state), chance in paths.items():
            for out in machine.outcomes(state, label):
                for value, p in zip(out.reward.values, out.reward.probabilities, strict=True):
                    key = ((*paid, round(value, 9)), out.target)
                    after[key] = after.get(key, 0.0) + chance * out.probability * p
        paths = after
    law = {}
    for (paid, _), chance in paths.items():
        law[paid] = law.get(paid, 0.0) + chance
    return law


def halved(machine):
    """Return the machine that pays half of it, so that sums of two stay within [0, 1]."""

    def half(out):
        return replace(out, reward=praemia.Reward(tuple(v / 2 for v in out.reward.values), out.reward.probabilities))

    rules = tuple(replace(rule, outcomes=tuple(map(half, rule.outcomes))) for rule in machine.rules)
    return machine.replace(rules=rules, first_match=False)


@settings(max_examples=30, deadline=None)
@given(strategies.machines(), strategies.machines(), st.sampled_from(SHORT_WORDS))
def test_a_sum_pays_the_sum_of_two_independent_machines(first, second, word):
    first, second = halved(first), halved(second.replace(propositions=second.propositions[::-1]))
    expected = {}
    for (paid, p), (other, q) in itertools.product(law_of_word(first, word).items(), law_of_word(second, word).items()):
        key = tuple(round(a + b, 9) for a, b in zip(paid, other, strict=True))
        expected[key] = expected.get(key, 0.0) + p * q
    assert law_of_word(first + second, word) == pytest.approx(expected)


def test_formulas_with_rewards_of_their_own_add_up_to_the_smallest_machine():
    texts = {"F a": 0.5, "F(b & X F a)": 0.25, "F b": 0.25}
    together = RewardMachine.from_ltlf(texts, propositions=["a", "b"])
    parts = [RewardMachine.from_ltlf(text, reward, propositions=["a", "b"]) for text, reward in texts.items()]
    for word in oracle.words(4):
        total = sum(part.expected_rewards(word) for part in parts)
        np.testing.assert_allclose(together.expected_rewards(word), total, atol=1e-12)

    def step(state, label):
        (out,) = together.outcomes(state, label)
        return out.target, out.reward

    assert oracle.num_distinguishable(together.initial, step, oracle.LABELS) == together.num_states == 5


@settings(max_examples=30, deadline=None)
@given(strategies.machines(), st.sampled_from(SHORT_WORDS), st.sampled_from([0.0, 0.25, 1.0]))
def test_a_missed_event_is_taken_out_of_the_label_for_the_whole_machine(machine, word, chance):
    noticed = {"a": chance, "c": 0.5}
    expected = 0.0
    seen = machine.with_chance(noticed)
    for missing in itertools.product(*(missing_subsets(label & noticed.keys()) for label in word)):
        weight = np.prod(
            [
                1.0 - noticed[name] if name in gone else noticed[name]
                for label, gone in zip(word, missing, strict=True)
                for name in label & noticed.keys()
            ]
        )
        left = [label - gone for label, gone in zip(word, missing, strict=True)]
        expected = expected + weight * machine.expected_rewards(left)
    np.testing.assert_allclose(seen.expected_rewards(word), expected, atol=1e-12)


def missing_subsets(label):
    return [
        frozenset(chosen) for size in range(len(label) + 1) for chosen in itertools.combinations(sorted(label), size)
    ]


def test_expected_rewards_of_the_warehouse_by_hand():
    machine = praemia.envs.warehouse(size=3).machine  # an item is picked up with 0.8, delivered with 0.9
    assert machine.expected_rewards([{"item"}, {"item"}, {"delivery"}]).tolist() == pytest.approx([0, 0, 0.96 * 0.9])


@pytest.mark.parametrize(
    ("text", "pay", "names"),
    [
        ("F a", "first", ("start", "done")),
        ("F a", "each", ("start", "satisfied")),
        ("G a", "each", ("start", "failed")),
        ("G a", "first", ("start", "over")),
        ("!a U b", "first", ("start", "over")),
        ("!a U b", "each", ("start", "satisfied", "failed")),
        ("!a U b", "end", ("start", "over")),
    ],
)
def test_states_that_are_decided_have_names_that_say_so(text, pay, names):
    assert RewardMachine.from_ltlf(text, pay=pay).states == names


def test_labels_of_a_machine_let_every_state_do_all_that_it_can():
    machine = RewardMachine.from_ltlf("F a & (!b U c) & F(b & X a)")
    labels = machine.diagrams.example_labels()
    for state in machine.states:
        on_any_label = {machine.outcomes(state, label) for label in strategies.ALL_LABELS}
        assert {machine.outcomes(state, label) for label in labels} == on_any_label


def test_machines_can_be_summed_as_a_list():
    parts = [RewardMachine.from_ltlf(f"F {name}", reward=reward) for name, reward in (("a", 1.0), ("b", 0.5))]
    assert sum(parts) == parts[0] + parts[1]
    with pytest.raises(TypeError):
        sum(parts, 1)


@given(strategies.machines())
@settings(deadline=None, max_examples=50)
def test_what_can_happen_and_the_highest_worth_agree_with_all_labels(machine):
    sizes = range(len(machine.propositions) + 1)
    labels = [frozenset(c) for n in sizes for c in itertools.combinations(machine.propositions, n)]
    found = machine.diagrams.highest(lambda outcomes: sum(out.probability * out.reward.mean for out in outcomes))
    for state, highest in zip(machine.states, found, strict=True):
        happens = [machine.outcomes(state, label) for label in labels]
        assert set(map(frozenset, machine.possible_outcomes(state))) == set(map(frozenset, happens))
        assert highest == max(sum(out.probability * out.reward.mean for out in outcomes) for outcomes in happens)


def test_a_proposition_that_is_called_like_a_numbered_state_takes_no_name_away():
    long = "b" * 39
    machine = RewardMachine.from_ltlf(f"(!a & X s2) | (a & X {long})")
    assert len(machine.states) == len(set(machine.states)) == machine.num_states
    assert {"s2", "s2'"} <= set(machine.states)
    assert machine.expected_rewards([{"a"}, {long}]).tolist() == [0.0, 1.0]
    assert machine.expected_rewards([set(), {"s2"}]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("text", ["F a", {"F a": Reward((0.0, 5.0), (0.5, 0.5), (1.0, 1.0))}])
def test_a_reward_that_no_file_can_hold_is_refused_only_by_files(tmp_path: Path, text: Any) -> None:
    law = Reward((0.0, 5.0), (0.5, 0.5), (1.0, 1.0))
    machine = RewardMachine.from_ltlf(text, **({"reward": law} if isinstance(text, str) else {}))
    assert machine.outcomes("start", {"a"})[0].reward == law
    with pytest.raises(ModelError, match="mixes uniform distributions"):
        save_machine(machine, tmp_path / "machine.yaml")
    assert not (tmp_path / "machine.yaml").exists()


WORD = [set(), set(), {"goal"}, set(), {"goal"}]
STEP = -0.0625
FULL = {"F goal": {"reward": 1.0, "pay": "first"}, "!F goal": {"reward": STEP, "pay": "each"}}
PAID = [STEP, STEP, 1.0, 0.0, 0.0]  # a cost until the goal is reached, and 1 there


@pytest.mark.parametrize(
    "machine",
    [
        RewardMachine.from_ltlf(FULL),
        RewardMachine.from_ltlf({"F goal": {"reward": 1.0, "pay": "first"}, "!F goal": STEP}, pay="each"),
        RewardMachine.from_regex({"(!goal)* goal": {"reward": 1.0}, "(!goal)+": {"reward": STEP, "pay": "each"}}),
    ],
    ids=["each with its pay", "one pay for those without", "expressions"],
)
def test_each_formula_pays_in_its_own_way(machine: RewardMachine) -> None:
    assert machine.expected_rewards(WORD).tolist() == PAID


def test_a_formula_may_pay_by_a_law() -> None:
    machine = RewardMachine.from_ltlf({"F goal": {"reward": Reward.bernoulli(0.25)}, "F(goal & X F goal)": 2.0})
    assert machine.expected_rewards(WORD).tolist() == [0.0, 0.0, 0.25, 0.0, 2.0]


FILE = """
ltlf:
  "F goal": {{reward: {reward}, pay: first}}
  "!F goal": {{reward: {step}}}
pay: each
"""


@pytest.mark.parametrize(("reward", "mean"), [("1", 1.0), ("{bernoulli: 0.25}", 0.25), ("{uniform: [1, 2]}", 1.5)])
def test_a_file_says_the_same(reward: str, mean: float, tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text(FILE.format(reward=reward, step=STEP), encoding="utf-8")
    machine = praemia.load_machine(file)
    assert machine.expected_rewards(WORD).tolist() == [STEP, STEP, mean, 0.0, 0.0]
    praemia.save_machine(machine, tmp_path / "again.yaml")
    assert "F goal" in (tmp_path / "again.yaml").read_text(encoding="utf-8")
    again = praemia.load_machine(tmp_path / "again.yaml")
    assert again.expected_rewards(WORD).tolist() == machine.expected_rewards(WORD).tolist()


def test_a_cost_that_is_paid_once_only_is_pointed_out() -> None:
    with pytest.warns(UserWarning, match="once"):
        RewardMachine.from_ltlf({"F goal": 1.0, "!F goal": STEP})


def test_a_penalty_for_an_event_is_meant_to_be_paid_once() -> None:
    """F alarm becomes true by an event: paying for it once is what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RewardMachine.from_ltlf({"F goal": 1.0, "F alarm": -1.0})
