"""What formats without chance, and formats in which episodes end, ask of a machine."""

from __future__ import annotations

from collections.abc import Iterable

from praemia.errors import ModelError
from praemia.models.machine import NOTHING, Outcome, RewardMachine, Rule


def is_over(machine: RewardMachine, state: str) -> bool:
    """Tell whether a machine never leaves a state and is never paid in it: for other tools, the episode has ended."""
    outcomes = [out for rule in machine.rules_from(state) for out in rule.outcomes]
    return all(out.target == state and out.reward == NOTHING for out in outcomes)


def without_stays(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Drop the rules that stay and pay nothing: so does a machine without a rule."""
    return tuple(rule for rule in rules if rule.outcomes != (Outcome(rule.source),))


def sure_outcome(rule: Rule) -> tuple[str, float]:
    """Return the one target and the one reward of a rule, or say that chance cannot be carried over."""
    if len(rule.outcomes) > 1:
        raise ModelError(f"{rule.where}: it leads to several states by chance; this format has no probabilities")
    outcome = rule.outcomes[0]
    if not outcome.reward.is_constant:
        raise ModelError(f"{rule.where}: it pays {outcome.reward}; this format has no random rewards")
    return outcome.target, outcome.reward.values[0]
