"""Machines from formulas and from regular expressions: from one text, or from several with a reward each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

from praemia.errors import ModelError, ParameterError, PraemiaWarning, did_you_mean
from praemia.machines.algebra import add, state_names
from praemia.machines.automata import Automaton, Earning, Move, paid, require_pay
from praemia.machines.diagrams import Growth
from praemia.machines.labels import distinct_names
from praemia.machines.ltlf import formula_automaton
from praemia.machines.machine import RewardMachine
from praemia.machines.regex import regex_automaton
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome

MOST_NAMED = 1_000  # states of a machine; those of a larger one have indices for names

Pay: TypeAlias = float | Reward | Mapping[str, Any]


class Payment(NamedTuple):
    """The reward of a text, and its payment scheme."""

    reward: Reward
    pay: str

    @classmethod
    def of(cls, value: Pay, pay: str) -> Payment:
        """Read what stands beside a text: a reward, or a mapping with ``reward`` and ``pay`` (by default ``pay``)."""
        reward: Any = value
        if isinstance(value, Mapping):
            for key in value:
                if key not in ("reward", "pay"):
                    raise ParameterError(f"unknown key {key!r} beside a formula; expected 'reward' and 'pay'")
            reward, pay = value.get("reward", 1.0), value.get("pay", pay)
        require_pay(pay)
        given = Reward.from_data(reward)
        if pay == "end" and not given.is_constant:
            raise ParameterError(f"the reward {given} with pay='end', which may subtract it again; give a number")
        return cls(given, pay)


def machine_from(
    kind: str,
    text: str | Mapping[str, Pay],
    reward: float | Reward = 1.0,
    pay: str = "first",
    propositions: Iterable[str] | None = None,
    growth: Growth | None = None,
    syntax: str = "praemia",
) -> RewardMachine:
    """Return the machine of a text, or the sum of those of several texts with a reward each."""
    require_pay(pay)
    if kind == "regex" and syntax != "praemia":
        raise ParameterError(f"syntax={syntax!r} says how a formula is written; it has no meaning for a regex")
    if not isinstance(text, str | Mapping):
        raise ParameterError(f"a {kind} is {text!r}; expected text, or a mapping from texts to rewards")
    if not text and not isinstance(text, str):
        raise ParameterError(f"no {kind} is given; expected at least one")
    if not isinstance(text, str) and reward not in (1.0, Reward.of(1.0)):
        raise ParameterError("several formulas have rewards of their own; leave out reward=")
    texts = {text: reward} if isinstance(text, str) else text
    payments = {part: Payment.of(value, pay) for part, value in texts.items()}
    allowed = None if propositions is None else distinct_names("proposition", propositions)
    growth, machines = growth or Growth(), []
    for part, payment in payments.items():
        if not isinstance(part, str):
            raise ParameterError(f"a {kind} is {part!r}; expected text")
        accepting = regex_automaton(part, growth) if kind == "regex" else formula_automaton(part, growth, syntax)
        for name in accepting.propositions:
            if allowed is not None and name not in allowed:
                raise ModelError(f"unknown proposition {name!r}{did_you_mean(name, sorted(allowed))}")
        for warning in _odd_payments(kind, part, accepting, payment):
            warnings.warn(warning, PraemiaWarning, stacklevel=3)
        names = accepting.propositions if allowed is None else allowed
        machines.append(paying_machine(accepting, payment, names, growth))
    machine = reduce(lambda total, other: add(total, other, growth), machines)
    given: dict[str, Any] = {part: own.reward if own.pay == pay else own._asdict() for part, own in payments.items()}
    source: dict[str, Any] = {
        "ltlf" if kind == "formula" else kind: text if isinstance(text, str) else given,
        "pay": pay,
    }
    source |= {"reward": given[text]} if isinstance(text, str) else {}
    return machine.changed(source=source | ({} if syntax == "praemia" else {"syntax": syntax}))


def _odd_payments(kind: str, text: str, accepting: Automaton[Any], payment: Payment) -> Iterator[str]:
    """Point out a text that is decided from the start, and a cost that is charged at the first step and never again."""
    output = accepting.constant_output(0)
    if output is not None:
        yield f"{'every' if output else 'no'} trace satisfies the {kind} {text!r}"
    if payment.pay == "first" and payment.reward.mean < 0.0 and accepting.diagrams.at(0, frozenset()).output:
        yield (
            f"the {kind} {text!r} holds from the first step on, and its cost of {payment.reward} is charged once only; "
            "pay='each' charges every step"
        )


def paying_machine(
    accepting: Automaton[Any], payment: Payment, propositions: Sequence[str], growth: Growth
) -> RewardMachine:
    """Return the machine that rewards the traces which an automaton accepts."""
    paying = paid(accepting, payment.pay, growth)
    rewards = {0: ZERO, 1: payment.reward}
    if payment.pay == "end":
        rewards[-1] = Reward.of(-payment.reward.values[0])
    endings = [_ending(accepting, paying, state) for state in range(paying.num_states)]
    is_large = paying.num_states > MOST_NAMED
    texts = [f"s{state}" if is_large else paying.meaning(state) for state in range(paying.num_states)]
    named = [ending or text for ending, text in zip(endings, texts, strict=True)]
    states = state_names(["start", *named[1:]])

    def outcomes(step: Move) -> tuple[Outcome]:
        return (Outcome(states[step.target], 1.0, rewards[step.output]),)

    said = ("nothing more is paid" if end == "over" else text for end, text in zip(endings, texts, strict=True))
    meanings = dict(zip(states, said, strict=True))
    return RewardMachine.from_diagrams(states, propositions, paying.diagrams.map_values(outcomes), meanings)


def _ending(accepting: Automaton[Any], paying: Automaton[Earning], state: int) -> str | None:
    """Return how a trace has ended in a state in which nothing changes any more: None in any other.

    One that puts out nothing may be the end of success, of failure, or of both.
    """
    output = paying.constant_output(state)
    if output is None:
        return None
    succeeds = {
        number is None or (satisfied and accepting.constant_output(number) == 1)
        for number, satisfied in paying.members[state]
    }
    return "satisfied" if output else "over" if len(succeeds) > 1 else "done" if True in succeeds else "failed"
