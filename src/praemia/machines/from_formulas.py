"""Machines from formulas and from regular expressions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping

from praemia.errors import ModelError, ParameterError, PraemiaWarning, did_you_mean
from praemia.limits import memory_limit
from praemia.machines.automaton import Automaton, Step
from praemia.machines.diagrams import MAX_NODES, MAX_STATES, Growth
from praemia.machines.ltlf import accept_formula
from praemia.machines.machine import RewardMachine
from praemia.machines.paying import paid, require_way, state_names
from praemia.machines.regex import accept_regex
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Outcomes

BYTES_PER_NODE = 500  # of a diagram, with its entries in tables

ACCEPT: dict[str, Callable[[str, Growth], Automaton]] = {"formula": accept_formula, "regex": accept_regex}


def growth_limits(max_states: int = MAX_STATES, tell: Callable[[str], None] | None = None) -> Growth:
    """Return limits that fit this machine's memory."""
    if isinstance(max_states, bool) or not isinstance(max_states, int) or max_states < 1:
        raise ParameterError(f"max_states={max_states!r}; expected a whole number, at least 1")
    return Growth(max_states, min(MAX_NODES, memory_limit() // (4 * BYTES_PER_NODE)), tell)


def machine_from(
    kind: str,
    text: str | Mapping[str, float],
    reward: float = 1.0,
    pay: str = "first",
    propositions: Iterable[str] | None = None,
    max_states: int = MAX_STATES,
) -> RewardMachine:
    """Return the machine of a text, or the sum of those of several texts with rewards of their own."""
    require_way(pay)
    growth = growth_limits(max_states)
    if isinstance(text, str):
        machine = paying_machine(accept(kind, text, growth), pay, reward, propositions, growth)
        return with_source(machine, kind, text, pay, reward)
    if not isinstance(text, Mapping):
        raise ParameterError(f"a {kind} is {text!r}; expected text, or a mapping from texts to rewards")
    from praemia.machines.algebra import add

    if not text:
        raise ParameterError(f"no {kind} is given; expected at least one")
    if reward != 1.0:
        raise ParameterError("several formulas have rewards of their own; leave out reward=")
    machines = [
        paying_machine(accept(kind, part, growth), pay, own, propositions, growth) for part, own in text.items()
    ]
    total = machines[0]
    for machine in machines[1:]:
        total = add(total, machine, growth)
    return with_source(total, kind, text, pay)


def with_source(
    machine: RewardMachine, kind: str, text: str | Mapping[str, float], pay: str, reward: float | None = None
) -> RewardMachine:
    """Return a machine that knows the formula it was made from, to be written to files."""
    texts = text if isinstance(text, str) else {part: float(own) for part, own in text.items()}
    source: dict[str, object] = {"ltlf" if kind == "formula" else "regex": texts, "pay": pay}
    if reward is not None:
        source["reward"] = float(reward)
    return machine.changed(source=source)


def accept(kind: str, text: str, growth: Growth) -> Automaton:
    """Return the smallest automaton that accepts what satisfies a text; warn if nothing does, or everything."""
    if not isinstance(text, str):
        raise ParameterError(f"a {kind} is {text!r}; expected text")
    automaton = ACCEPT[kind](text, growth)
    payment = automaton.constant_payment(0)
    if payment is not None:
        verdict = "every trace satisfies" if payment else "no trace satisfies"
        warnings.warn(f"{verdict} the {kind} {text!r}", PraemiaWarning, stacklevel=4)
    return automaton


def paying_machine(
    automaton: Automaton, pay: str, reward: float, propositions: Iterable[str] | None, growth: Growth
) -> RewardMachine:
    """Return the machine that pays in some way for what an automaton accepts."""
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
        raise ParameterError(f"reward={reward!r}; expected a finite number")
    allowed = automaton.names if propositions is None else tuple(propositions)
    for name in automaton.names:
        if name not in allowed:
            raise ModelError(f"unknown proposition {name!r}{did_you_mean(name, allowed)}")
    built = paid(automaton, pay, growth)
    laws = {payment: Reward.of(payment * float(reward) if payment else 0.0) for payment in (-1, 0, 1)}
    names = state_names(built)

    def outcomes(step: Step) -> Outcomes:
        return (Outcome(names[step.target], 1.0, laws[step.payment]),)

    return RewardMachine.from_diagrams(names, "start", allowed, built.diagrams.changed(outcomes), built.meanings)
