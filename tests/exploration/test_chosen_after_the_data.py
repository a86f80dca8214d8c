"""What is chosen after looking at the data, what was fixed before it, and what their certificates are worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers_exploration import random_kernel, tiny_task
from machine_families import machine_family

from praemia.envs import riverswim, warehouse
from praemia.errors import ModelError, ParameterError
from praemia.exploration import CoverageReward, Dataset, explore, plan_from
from praemia.exploration.certificate import Scope
from praemia.exploration.confidence import confidence
from praemia.exploration.estimate import machine_digest
from praemia.exploration.plan_from import joint_failure_prob, machine_reports
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Labelling, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

SIZE, VISITS, RHO = 100, 1_000, 0.05
Chosen = tuple[RewardMachine, list[LabelRule]]


def sampled_counts(seed: int) -> np.ndarray:
    """Return how often each successor followed the two actions of observation 0; each is as likely as any other."""
    return np.random.default_rng(seed).multinomial(VISITS, np.full(SIZE, 1.0 / SIZE), size=2)


def data_of(counts: np.ndarray) -> Dataset:
    """Return a dataset of one step from observation 0; the other observations are never left."""
    pairs, successors = np.nonzero(counts)
    first = np.zeros(SIZE, dtype=np.int64)
    first[0] = counts.sum()
    seen = (pairs, successors, np.zeros(len(pairs), dtype=bool), counts[pairs, successors], first)
    return Dataset(SIZE, 2, *seen, 1, Labelling(()), True, reachability=np.ones(SIZE))


def flattering(counts: np.ndarray) -> list[np.ndarray]:
    """Return the successors to pay for after each action, so that p̂ likes the worse one better.

    For action 0, those that were seen more often than they are likely; for action 1 as many of the rarest as stay below
    in p̂. All successors are equally likely, so the more of them are paid for, the better an action truly is.
    """
    often = np.flatnonzero(counts[0] > VISITS / SIZE)
    rarest = np.argsort(counts[1], kind="stable")
    below = np.cumsum(counts[1][rarest]) < counts[0][often].sum()
    return [often, rarest[below]]


def chosen_labels(paid: list[np.ndarray]) -> Chosen:
    """Pay for one proposition, and choose where it holds."""
    rules = [LabelRule("pay", 0, a, int(z)) for a in range(2) for z in paid[a]]
    return MachineBuilder("on").edge("on", "pay", "on", reward=1).build(), rules


def chosen_machine(paid: list[np.ndarray]) -> Chosen:
    """Let labels tell all transitions apart, and choose what the machine pays for."""
    rules = [LabelRule((f"to-{z}", f"by-{a}"), 0, a, z) for a in range(2) for z in range(SIZE)]
    builder = MachineBuilder("on", propositions=sorted({name for rule in rules for name in rule.propositions}))
    for a in range(2):
        builder.edge(
            "on", f"by-{a} & !by-{1 - a} & (" + " | ".join(f"to-{z}" for z in paid[a]) + ")", f"paid-{a}", reward=1
        )
    return builder.build(), rules


def broken_certificates(choose: Callable[[list[np.ndarray]], Chosen], trials: int, *, fixed: bool) -> int:
    """Return in how many trials an adversary makes the plan lose more than its certificate says."""
    broken = 0
    for seed in range(trials):
        counts = sampled_counts(seed)
        paid = flattering(counts)
        machine, rules = choose(paid)
        plan = plan_from(data_of(counts), machine, labels=rules, failure_prob=RHO, fixed_in_advance=fixed)
        true = [len(part) / SIZE for part in paid]
        broken += max(true) - true[int(plan.policy[0, 0, 0])] > plan.certificate.bound
    return broken


def test_the_default_withstands_labels_chosen_from_the_data_where_the_bound_around_the_optimum_does_not() -> None:
    assert broken_certificates(chosen_labels, 60, fixed=True) >= 30  # so the adversary is one
    assert broken_certificates(chosen_labels, 60, fixed=False) <= RHO * 60


def test_the_default_withstands_a_machine_chosen_from_the_data() -> None:
    assert broken_certificates(chosen_machine, 5, fixed=True) >= 2
    assert broken_certificates(chosen_machine, 5, fixed=False) == 0


@pytest.mark.slow
@pytest.mark.parametrize("choose", [chosen_labels, chosen_machine])
def test_the_default_withstands_300_adversaries(choose: Callable[[list[np.ndarray]], Chosen]) -> None:
    assert broken_certificates(choose, 300, fixed=True) >= 150
    assert broken_certificates(choose, 300, fixed=False) <= RHO * 300


def wide_task() -> Task:
    """Return a task with many successors, of which every second pays: there an L1 ball is far wider than a mean."""
    kernel = random_kernel(np.random.default_rng(0), SIZE, 2, SIZE)
    machine = MachineBuilder("on").edge("on", "even", "on", reward=1).build()
    return Task(LabeledMDP.from_dense(kernel, [LabelRule("even", target=z) for z in range(0, SIZE, 2)]), machine, 1)


def test_a_recorded_machine_gets_the_tighter_certificate_and_others_do_not() -> None:
    task = wide_task()
    machine, other = task.machine, MachineBuilder("on").edge("on", "!even", "on", reward=1).build()
    data, plain = (explore(task, episodes=20_000, method="uncertainty", machines=fixed) for fixed in ([machine], []))
    np.testing.assert_array_equal(data.counts, plain.counts)  # what is played does not depend on them
    recorded, vouched, default, unknown = (
        plan_from(data, machine).certificate,
        plan_from(plain, machine, fixed_in_advance=True).certificate,
        plan_from(plain, machine).certificate,
        plan_from(data, other).certificate,
    )
    found = [item.scope for item in (recorded, vouched, default, unknown)]
    assert found == [Scope.RECORDED, Scope.VOUCHED, Scope.ANY_MACHINE, Scope.ANY_MACHINE]
    assert recorded.bound == vouched.bound < 0.8 * default.bound
    assert recorded.bound < 0.8 * unknown.bound
    again = plan_from(data, machine, fixed_in_advance=True).certificate
    assert (again.scope, again.bound) == (Scope.RECORDED, recorded.bound)  # a record needs no voucher


@pytest.fixture(scope="module")
def machines() -> list[RewardMachine]:
    return list(machine_family(riverswim(5).machine.propositions, 3).values())


def explored(machines: list[RewardMachine], seed: int = 0) -> Dataset:
    return explore(riverswim(5), episodes=500, method="uncertainty", seed=seed, machines=machines)


def test_another_horizon_and_other_labels_are_not_what_was_recorded(machines: list[RewardMachine]) -> None:
    data, machine = explored(machines), machines[0]
    rules = data.labelling.rules

    assert plan_from(data, machine, labels=rules[::-1]).certificate.scope == Scope.RECORDED
    assert plan_from(data, machine, horizon=3).certificate.scope == Scope.ANY_MACHINE
    more = (*rules, LabelRule(rules[0].propositions, source=3))
    assert plan_from(data, machine, labels=more).certificate.scope == Scope.ANY_MACHINE
    assert plan_from(replace(data, labelling=Labelling(more)), machine).certificate.scope == Scope.ANY_MACHINE


def test_a_digest_is_that_of_what_a_machine_means() -> None:
    def machine(reward: float = 1.0, guard: str = "x", *, reverse: bool = False) -> RewardMachine:
        edges = [("a", guard, "b", reward), ("b", "y", "a", 0.5)]
        builder = MachineBuilder("a", propositions=("x", "y", "z") if reverse else ("x", "y"))
        for source, when, target, pays in edges[::-1] if reverse else edges:
            builder.edge(source, when, target, reward=pays)
        return builder.build()

    rules = (LabelRule("x", 0), LabelRule("y", target=1))
    own = machine_digest(machine(), 4, 1.0, rules)
    assert own == machine_digest(machine(reverse=True), 4, 1.0, rules[::-1])
    with_costs = machine(-1.0)
    others = [
        machine_digest(machine(0.9), 4, 1.0, rules),
        machine_digest(machine(guard="x & !y"), 4, 1.0, rules),
        machine_digest(machine(), 5, 1.0, rules),
        machine_digest(machine(), 4, 0.9, rules),
        machine_digest(machine(), 4, 1.0, rules[:1]),
        machine_digest(machine(), 4, 1.0, None),
        machine_digest(with_costs.in_unit_range, 4, 1.0, rules),
    ]
    assert len({own, *others}) == 8


def test_the_parts_of_the_failure_probability(machines: list[RewardMachine]) -> None:
    rows = 5 * 2 + 1
    plain, data = explored([]), explored(machines)
    alone = confidence(plain, 0.06)
    assert (alone.kl_level * rows, alone.distance_level * rows) == pytest.approx((0.054, 0.006))
    assert alone.function_part == 0.0
    vouched = confidence(plain, 0.06, shares=1)
    assert (vouched.kl_level * rows, vouched.function_part) == pytest.approx((0.027, 0.027))
    shared = confidence(data, 0.06, shares=data.fixed_shares)
    assert (shared.kl_level * rows, 3 * shared.function_part) == pytest.approx((0.027, 0.027))
    # Certificates for other machines from this data hold together with those for recorded ones.
    assert confidence(data, 0.06).kl_level == shared.kl_level


def test_merged_data_records_what_all_parts_record(machines: list[RewardMachine], tmp_path: Path) -> None:
    both, one, none = explored(machines[:2]), explored(machines[1:2], seed=1), explored([], seed=2)
    merged = both.merge(one)
    assert merged.fixed_machines == one.fixed_machines == one.merge(both).fixed_machines
    # Which of the two was recorded again may depend on the first part's data: both still share ρ₃.
    assert merged.fixed_shares == one.merge(both).fixed_shares == 2
    assert plan_from(merged, machines[0]).certificate.scope == Scope.ANY_MACHINE
    assert plan_from(merged, machines[1]).certificate.scope == Scope.RECORDED
    assert (merged.merge(none).fixed_machines, merged.merge(none).fixed_shares) == ((), 0)
    merged.save(tmp_path / "data.npz")
    again = Dataset.load(tmp_path / "data.npz")
    assert (again.fixed_machines, again.fixed_shares) == (merged.fixed_machines, 2)
    assert again.append([0, 1], [1]).fixed_machines == merged.fixed_machines


def test_labels_found_by_playing_are_fixed_in_one_exploration_but_not_across_several() -> None:
    from test_exploring import corridor_box

    machine = corridor_box().machine
    first, second = (
        explore(corridor_box(), episodes=30, policy_episodes=5, seed=s, machines=[machine]) for s in (0, 1)
    )
    assert not first.labels_known
    assert plan_from(first, machine).certificate.scope == Scope.RECORDED
    assert plan_from(first.merge(second), machine).certificate.scope == Scope.ANY_MACHINE
    episode = (
        np.array([first.pairs[0] // first.num_actions, first.successors[0]]),
        first.pairs[:1] % first.num_actions,
    )
    assert plan_from(first.append(*episode), machine).certificate.scope == Scope.RECORDED


def test_the_text_says_what_a_certificate_holds_for(machines: list[RewardMachine]) -> None:
    data = explored(machines[:1])
    for machine, vouch, text in (
        (machines[0], False, "it holds for a machine fixed before the data\n"),
        (machines[1], True, "it holds for a machine fixed before the data, as you say\n"),
        (machines[1], False, "it holds for any machine, also one chosen after looking at the data\n"),
    ):
        assert text in plan_from(data, machine, fixed_in_advance=vouch).certificate.text(data)
    certificate = plan_from(data, CoverageReward(np.ones(5)), horizon=3).certificate
    assert certificate.scope == Scope.ANY_REWARD
    assert "for any reward, also one chosen after looking at the data" in certificate.text(data)


def test_only_among_machines_that_are_vouched_for_is_rho_divided(machines: list[RewardMachine]) -> None:
    data = explored(machines[:1])
    family = dict(zip("abc", machines, strict=True))
    default = machine_reports(data, family, None, failure_prob=0.06)
    assert [row.plan.certificate.failure_prob for row in default] == [0.06] * 3
    assert joint_failure_prob(default) == 0.06
    vouched = machine_reports(data, family, None, failure_prob=0.06, fixed_in_advance=True)
    assert [row.plan.certificate.failure_prob for row in vouched] == pytest.approx([0.02] * 3)
    assert [row.plan.certificate.scope for row in vouched] == [Scope.RECORDED, Scope.VOUCHED, Scope.VOUCHED]
    assert joint_failure_prob(vouched) == pytest.approx(0.06)


def test_machines_that_cannot_be_recorded_are_refused_before_anything_is_played() -> None:
    task = warehouse(3)

    def play(machines: object) -> None:
        explore(task, episodes=10**9, machines=machines, on_progress=lambda *_: pytest.fail("it was played"))  # type: ignore[arg-type]

    wrong = MachineBuilder("a").edge("a", "deliver", "b", reward=1).build()
    with pytest.raises(ModelError, match=r"'deliver'.*did you mean 'delivery'"):
        play([wrong])
    with pytest.raises(ParameterError, match=r"machines\[1\] is str"):
        play([task.machine, "other.yaml"])
    with pytest.raises(ParameterError, match="expected a list"):
        play(task.machine)
    with pytest.raises(ModelError, match="1 machines fixed in advance and 0 shares"):
        replace(explore(tiny_task(0), episodes=5, method="uncertainty"), fixed_machines=("x",))
