"""Random formulas, machines, labelled MDPs and tasks: so small that slow oracles can follow.

A formula is one of ``ltlf_oracle``: a name of ``PROPOSITIONS``, "true", "false", ("!", f), ("&", f, g) or ("|", f, g).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from praemia.machines.formula import Formula
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

PROPOSITIONS = ("a", "b", "c")
STATES = ("q0", "q1", "q2")


def subsets(names: Sequence[str]) -> list[frozenset[str]]:
    """Return all labels over some propositions."""
    return [frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)]


ALL_LABELS = subsets(PROPOSITIONS)


def _grow(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just("!"), parts) | st.tuples(st.sampled_from("&|"), parts, parts)


formulas = st.recursive(st.sampled_from((*PROPOSITIONS, "true", "false")), _grow, max_leaves=8)
small_formulas = st.recursive(st.sampled_from(PROPOSITIONS), _grow, max_leaves=3)


def write(formula: Any, tightness: int = 0) -> str:
    """Write a formula with no more brackets than the precedence of ! over & over | asks for."""
    if isinstance(formula, str):
        return formula
    kind, *parts = formula
    own = "|&!".index(kind)
    written = [write(part, own) for part in parts]
    text = f" {kind} ".join(written) if len(parts) > 1 else kind + written[0]
    return f"({text})" if own < tightness else text


# Strategies are kept: Hypothesis takes longer to make one than to draw from it.
@cache
def weights(size: int) -> st.SearchStrategy[tuple[float, ...]]:
    """Draw the positive probabilities of ``size`` things."""
    parts = st.lists(st.integers(1, 8), min_size=size, max_size=size)
    return parts.map(lambda drawn: tuple(part / sum(drawn) for part in drawn))


_unit = st.integers(0, 20).map(lambda n: n / 20)


def _with_weights(values: list[float]) -> st.SearchStrategy[Reward]:
    return weights(len(values)).map(lambda probs: Reward(tuple(values), probs))


@cache
def rewards() -> st.SearchStrategy[Reward]:
    """Draw a constant, a Bernoulli law or one over a few values."""
    return st.lists(_unit, min_size=1, max_size=3, unique=True).flatmap(_with_weights)


@cache
def _chosen_states(num_states: int, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(STATES[:num_states]), min_size=1, max_size=most)


@cache
def _paying(values: tuple[float, ...]) -> st.SearchStrategy[Reward]:
    return st.sampled_from(values).map(lambda value: Reward((value,), (1.0,)))


_few = st.integers(1, 3)
_guards = st.lists(small_formulas.map(write).map(parse_guard), max_size=3)


@st.composite
def machines(draw: st.DrawFn, sure_rewards: tuple[float, ...] = ()) -> RewardMachine:
    """Draw a machine of up to three states over ``PROPOSITIONS``.

    Each guard of a state excludes those before it, so they share propositions. With ``sure_rewards``, nothing is left
    to chance: a rule has one target and pays one of these.
    """
    states = STATES[: draw(_few)]
    found = []
    for source in states:
        earlier = parse_guard("false")
        for guard in draw(_guards):
            targets = draw(_chosen_states(len(states), 1 if sure_rewards else 3))
            laws = _paying(sure_rewards) if sure_rewards else rewards()
            probs = draw(weights(len(targets)))
            outcomes = tuple(Outcome(z, p, draw(laws)) for z, p in zip(targets, probs, strict=True))
            found.append(Rule(source, guard & ~earlier, outcomes))
            earlier = earlier | guard
    return RewardMachine(states, draw(_chosen_states(len(states), 1))[0], PROPOSITIONS, tuple(found))


@cache
def random_machine(num_states: int, most_targets: int, seed: int) -> RewardMachine:
    """Return a machine that moves on about half of all labels, to ``most_targets`` states or fewer, and mostly pays."""
    rng = np.random.default_rng(seed)
    states = tuple(f"q{m}" for m in range(num_states))
    found = []
    for state, label in product(states, ALL_LABELS):
        if rng.random() < 0.5:
            size = rng.integers(1, most_targets, endpoint=True)
            targets = rng.choice(states, size=size, replace=False)
            parts = rng.integers(1, 9, size=size)
            laws = [Reward.bernoulli(float(rng.integers(0, 21)) / 20) for _ in targets]
            outcomes = zip(targets.tolist(), (parts / parts.sum()).tolist(), laws, strict=True)
            found.append(Rule(state, exactly(label), tuple(Outcome(*outcome) for outcome in outcomes)))
    return RewardMachine(states, states[rng.integers(num_states)], PROPOSITIONS, tuple(found))


def exactly(label: frozenset[str], propositions: Sequence[str] = PROPOSITIONS) -> Formula:
    """Return the guard that holds on one label alone."""
    return parse_guard(" & ".join(name if name in label else f"!{name}" for name in propositions))


def with_rewards(machine: RewardMachine, low: float, high: float) -> RewardMachine:
    """Return a machine whose rewards are x ↦ low + (high − low)·x of another's; what no rule matches still pays 0."""

    def stretched(law: Reward) -> Reward:
        values = tuple(low + (high - low) * value for value in law.values)
        return Reward(values, law.probabilities, tuple((high - low) * width for width in law.widths))

    found = tuple(
        replace(rule, outcomes=tuple(replace(out, reward=stretched(out.reward)) for out in rule.outcomes))
        for rule in machine.rules
    )
    return machine.replace(rules=found)


@st.composite
def tasks_with_any_rewards(draw: st.DrawFn) -> Task:
    """Draw a task of any width whose rewards lie in a range of any sign and size."""
    task = draw(tasks_of_any_width())
    low = draw(st.sampled_from([-1000.0, -3.0, -0.25, 0.0, 2.0]))
    return Task(task.mdp, with_rewards(task.machine, low, low + draw(st.sampled_from([0.5, 1.0, 7.0]))), task.horizon)


@st.composite
def large_machines(draw: st.DrawFn) -> RewardMachine:
    """Draw one of some machines of 4 to 40 states with a sparse or a dense τ.

    Kernels work on 4, 8 or 16 machine states at a time: sizes just below, at and above these are among them.
    """
    num_states = draw(st.sampled_from([4, 5, 7, 8, 9, 13, 16, 17, 25, 40]))
    most_targets = draw(st.sampled_from([1, 2, num_states]))
    return random_machine(num_states, most_targets, draw(st.integers(0, 3)))


@cache
def label_rules(num_observations: int, num_actions: int) -> st.SearchStrategy[LabelRule]:
    """Draw a label rule of any of the eight patterns."""
    observation = st.none() | st.integers(0, num_observations - 1)
    names = st.frozensets(st.sampled_from(PROPOSITIONS), max_size=2)
    return st.builds(LabelRule, names, observation, st.none() | st.integers(0, num_actions - 1), observation)


@cache
def _successors(num_observations: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, num_observations - 1), min_size=1, max_size=3, unique=True)


@st.composite
def starts(draw: st.DrawFn, num_observations: int) -> Any:
    """Draw a start: an observation, a mapping or an array."""
    chosen = draw(_successors(num_observations))
    mapping = dict(zip(chosen, draw(weights(len(chosen))), strict=True))
    array = np.zeros(num_observations)
    array[chosen] = list(mapping.values())
    return draw(st.sampled_from((chosen[0], mapping, array)))


@st.composite
def mdps(draw: st.DrawFn) -> LabeledMDP:
    """Draw a labelled MDP of up to four observations and three actions."""
    num_observations, num_actions = draw(st.integers(1, 4)), draw(_few)
    rows = {}
    for pair in np.ndindex(num_observations, num_actions):
        successors = draw(_successors(num_observations))
        rows[pair] = dict(zip(successors, draw(weights(len(successors))), strict=True))
    labels = draw(st.lists(label_rules(num_observations, num_actions), max_size=6))
    return LabeledMDP.from_rows(num_observations, num_actions, rows, labels, draw(starts(num_observations)))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """Draw a task with up to three machine states and a horizon of up to five steps."""
    return Task(draw(mdps()), draw(machines()), draw(st.integers(1, 5)))


def with_ends(mdp: LabeledMDP, ends: Any) -> LabeledMDP:
    """Return an MDP in which some of the transitions, a boolean for each, end the episode."""
    targets = mdp.successors + mdp.num_observations * np.asarray(ends)
    order = np.lexsort((targets, mdp.edge_pairs))
    return replace(mdp, targets=targets[order].astype(np.int32), probs=mdp.probs[order])


@cache
def full_task(num_states: int, horizon: int = 3, most_targets: int = 3) -> Task:
    """Return a task in which everything matters, so that no mistake can hide.

    There are two starts of unequal probability, every pair leads everywhere, and most (o, o') have a label of their
    own, on which about half of the machine states move and pay at random.
    """
    rng = np.random.default_rng([num_states, most_targets])
    kernel = rng.dirichlet(np.ones(4), size=(4, 3))
    chosen = [ALL_LABELS[i] for i in rng.permutation(np.arange(16) % len(ALL_LABELS))]
    labels = [LabelRule(label, o, None, z) for label, (o, z) in zip(chosen, np.ndindex(4, 4), strict=True) if label]
    mdp = LabeledMDP.from_dense(kernel, labels, start={1: 0.25, 3: 0.75})
    return Task(mdp, random_machine(num_states, min(most_targets, num_states), num_states), horizon)


@st.composite
def wide_tasks(draw: st.DrawFn) -> Task:
    """Draw a task with 4 to 40 machine states and a horizon of up to three steps: slow oracles have more to do."""
    return Task(draw(mdps()), draw(large_machines()), draw(st.integers(1, 3)))


def tasks_of_any_width() -> st.SearchStrategy[Task]:
    """Draw a task with 1 to 40 machine states."""
    return st.one_of(tasks(), wide_tasks())


def unit_tasks() -> st.SearchStrategy[Task]:
    """Draw a task as learners see it, with the range of its rewards mapped onto [0, 1]."""
    return tasks_of_any_width().map(lambda task: task.in_unit_range)


@st.composite
def deterministic_policies(draw: st.DrawFn, task: Task) -> np.ndarray:
    """Draw an int array [H, M, O]."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (task.horizon, task.num_machine_states, task.num_observations)
    return generator.integers(task.num_actions, size=shape)


@st.composite
def randomised_policies(draw: st.DrawFn, task: Task) -> np.ndarray:
    """Draw a float array [H, M, O, A]; some actions have probability 0."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (task.horizon, task.num_machine_states, task.num_observations, task.num_actions)
    weight = generator.random(shape) * (generator.random(shape) < 0.7)
    weight[..., 0] += 1e-3
    return weight / weight.sum(axis=-1, keepdims=True)


def halting(task: Task) -> Task:
    """Return the task without a discount whose machine halts with probability 1 − γ after each step."""
    machine, g = task.machine, task.discount
    rules = []
    for state in machine.states:
        for label in subsets(machine.propositions):
            outs = machine.outcomes(state, label)
            going_on = [Outcome(out.target, g * out.probability, out.reward) for out in outs]
            stopping = [Outcome("halted", (1.0 - g) * out.probability, out.reward) for out in outs]
            rules.append(Rule(state, exactly(label, machine.propositions), (*going_on, *stopping)))
    other = RewardMachine((*machine.states, "halted"), machine.initial, machine.propositions, tuple(rules))
    return replace(task, machine=other, discount=1.0)
