"""Build a machine from its part of a file, so that each mistake is shown with its line."""

from __future__ import annotations

from bisect import bisect_left

from praemia.errors import PraemiaError
from praemia.files.schema import FormulaPart, MachinePart, OutcomePart, RewardLaw, RulePart
from praemia.files.source import DataPath, Source
from praemia.formulas.paying import require_way
from praemia.models.guards import parse_guard
from praemia.models.machine import Outcome, RewardMachine, Rule
from praemia.models.rewards import Reward


def build_machine(source: Source, part: MachinePart | FormulaPart, path: DataPath = ()) -> RewardMachine:
    """Build the machine that stands at a path of a source."""
    return _from_text(source, part, path) if isinstance(part, FormulaPart) else _from_rules(source, part, path)


def _from_text(source: Source, part: FormulaPart, path: DataPath) -> RewardMachine:
    make = RewardMachine.from_ltlf if part.key == "ltlf" else RewardMachine.from_regex
    with source.at(*path, "pay"):
        require_way(part.pay)
    with source.at(*path, part.key):
        reward = 1.0 if part.reward is None else part.reward
        machine = make(part.text, reward, part.pay, propositions=part.propositions)
    with source.at(*path, "chance"):
        return machine.with_chance(part.chance) if part.chance else machine


def _from_rules(source: Source, part: MachinePart, path: DataPath) -> RewardMachine:
    rules = []
    for number, rule in enumerate(part.transitions):
        with source.at(*path, "transitions", number):
            rules.append(_rule(rule))

    def first_rules(count: int) -> RewardMachine:
        names = tuple(part.states), part.initial, tuple(part.propositions)
        return RewardMachine(*names, tuple(rules[:count]), first_match=part.first_match)

    def fails(count: int) -> bool:
        try:
            first_rules(count)
        except PraemiaError:
            return True
        return False

    with source.at(*path, "initial" if part.initial not in part.states else "states"):
        first_rules(0)
    if not fails(len(rules)):
        return first_rules(len(rules))
    # The shortest list of rules that is refused ends with the culprit.
    count = bisect_left(range(len(rules)), True, key=fails)
    with source.at(*path, "transitions", count - 1):
        return first_rules(count)


def _rule(part: RulePart) -> Rule:
    guard = parse_guard(part.when)
    if isinstance(part.to, str):
        return Rule(part.source, guard, (Outcome(part.to, 1.0, _reward(part.reward)),))
    outcomes = tuple(_outcome(target, outcome) for target, outcome in part.to.items())
    return Rule(part.source, guard, outcomes)


def _outcome(target: str, part: float | OutcomePart) -> Outcome:
    if isinstance(part, OutcomePart):
        return Outcome(target, float(part.probability), _reward(part.reward))
    return Outcome(target, float(part))


def _reward(part: float | RewardLaw | None) -> Reward:
    if not isinstance(part, RewardLaw):
        return Reward.of(part or 0.0)
    if part.bernoulli is not None:
        return Reward.bernoulli(part.bernoulli)
    if part.uniform is not None:
        return Reward.uniform(*part.uniform)
    return Reward(tuple(part.values or ()), tuple(part.probabilities or ()))
