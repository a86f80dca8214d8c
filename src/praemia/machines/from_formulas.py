"""Machines from formulas and from regular expressions: from one text, or from several, each with what it pays when.

A text becomes a machine that accepts it (``praemia.machines.algebra``), and that one a machine that pays:

each    1 at every step at which the trace so far satisfies
first   1 at the first such step, and nothing after it
end     the change in satisfaction (1 or 0; 0 before the first step): 1 where it begins, −1 where it is lost; so a trace
        has earned 1 when it ends if the whole of it satisfies, and 0 if not
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

from praemia.errors import ModelError, ParameterError, PraemiaWarning, did_you_mean
from praemia.limits import memory_limit
from praemia.machines.algebra import (
    ONE,
    Branch,
    add,
    constant_reward,
    shortest,
    smallest_machine,
    with_names,
    with_verdicts,
)
from praemia.machines.diagrams import MAX_NODES, MAX_STATES, Diagrams, Growth, copy, deep_recursion
from praemia.machines.dialects import likely_meanings, parse_formula
from praemia.machines.ltlf import formula_machine
from praemia.machines.machine import RewardMachine
from praemia.machines.regex import regex_machine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcomes

PAY_SCHEMES = ("first", "each", "end")
UNIT_REWARDS = {payment: Reward.of(payment) for payment in (-1, 0, 1)}
MOST_NAMED = 1_000  # states of a machine; those of a larger one are numbered
PAID = "nothing: it has paid"
SATISFIED = " (satisfied)"
FINISHED = (PAID, "true" + SATISFIED)
OVER = "nothing more is paid"
BYTES_PER_NODE = 500  # of a diagram, with its entries in tables

Pay: TypeAlias = float | Reward | Mapping[str, Any]


class Payment(NamedTuple):
    """What is paid for a text, and when."""

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
        is_number = isinstance(reward, int | float) and not isinstance(reward, bool) and math.isfinite(reward)
        if not is_number and not isinstance(reward, Reward):
            raise ParameterError(f"reward={reward!r}; expected a finite number or a Reward")
        law = Reward.of(reward)
        if pay == "end" and not law.is_constant:
            raise ParameterError(f"the reward {law} with pay='end', which may take back what it paid; give a number")
        return cls(law, pay)


def growth_limits(max_states: int = MAX_STATES, tell: Callable[[str], None] | None = None) -> Growth:
    """Return limits that fit this computer's memory."""
    if isinstance(max_states, bool) or not isinstance(max_states, int) or max_states < 1:
        raise ParameterError(f"max_states={max_states!r}; expected a whole number, at least 1")
    return Growth(max_states, min(MAX_NODES, memory_limit() // (4 * BYTES_PER_NODE)), tell)


def machine_from(
    kind: str,
    text: str | Mapping[str, Pay],
    reward: float | Reward = 1.0,
    pay: str = "first",
    propositions: Iterable[str] | None = None,
    growth: Growth | None = None,
    syntax: str = "praemia",
    names_are_checked: bool = False,
) -> RewardMachine:
    """Return the machine of a text, or the sum of those of several texts with rewards of their own.

    ``names_are_checked`` tells that the caller will refuse propositions that no label has: odd ones need no warning.
    """
    require_pay(pay)
    if isinstance(text, str):
        texts: Mapping[str, Pay] = {text: reward}
    elif not isinstance(text, Mapping):
        raise ParameterError(f"a {kind} is {text!r}; expected text, or a mapping from texts to rewards")
    elif not text:
        raise ParameterError(f"no {kind} is given; expected at least one")
    elif reward not in (1.0, Reward.of(1.0)):
        raise ParameterError("several formulas have rewards of their own; leave out reward=")
    else:
        texts = text
    allowed = None if propositions is None else tuple(propositions)
    growth = growth or growth_limits()
    machines = []
    for part, value in texts.items():
        payment = Payment.of(value, pay)
        accepting = _checked_accepting_machine(kind, part, growth, syntax, names_are_checked or allowed is not None)
        _warn_of_single_cost(accepting, kind, part, payment)
        machines.append(_paying_machine(accepting, payment, allowed, growth))
    machine = reduce(lambda total, other: add(total, other, growth), machines)
    return _with_source(machine, kind, text, pay, reward, syntax)


def _with_source(
    machine: RewardMachine,
    kind: str,
    text: str | Mapping[str, Pay],
    pay: str,
    reward: float | Reward,
    syntax: str = "praemia",
) -> RewardMachine:
    """Return a machine that knows the formula it was made from, to be written to files."""
    texts = text if isinstance(text, str) else {part: _pay_data(value) for part, value in text.items()}
    source: dict[str, object] = {"ltlf" if kind == "formula" else "regex": texts, "pay": pay}
    if isinstance(text, str):
        source["reward"] = Reward.of(reward).to_data()
    if syntax != "praemia":
        source["syntax"] = syntax
    return machine.changed(source=source)


def _pay_data(value: Pay) -> Any:
    if isinstance(value, Mapping):
        return {key: Reward.of(own).to_data() if key == "reward" else own for key, own in value.items()}
    return Reward.of(value).to_data()


def accepting_machine(kind: str, text: str, growth: Growth, syntax: str = "praemia") -> RewardMachine:
    """Return the smallest machine that pays 1 at every step at which the trace so far satisfies a text."""
    return with_verdicts(regex_machine(text, growth) if kind == "regex" else formula_machine(text, growth, syntax))


def _checked_accepting_machine(
    kind: str, text: str, growth: Growth, syntax: str = "praemia", names_are_checked: bool = False
) -> RewardMachine:
    """Return the machine that accepts a text; warn if nothing satisfies it, or everything, and of odd names."""
    if not isinstance(text, str):
        raise ParameterError(f"a {kind} is {text!r}; expected text")
    accepting = accepting_machine(kind, text, growth, syntax)
    if (kind, syntax) == ("formula", "praemia") and not names_are_checked:
        _warn_of_spellings(text)
    reward = constant_reward(accepting, 0)
    if reward is not None:
        verdict = "every trace satisfies" if reward == ONE else "no trace satisfies"
        warnings.warn(f"{verdict} the {kind} {text!r}", PraemiaWarning, stacklevel=4)
    return accepting


def _warn_of_spellings(text: str) -> None:
    for name, meaning in likely_meanings(parse_formula(text).bare_names).items():
        warnings.warn(
            f"the formula {text!r} reads a proposition {name!r}; if {meaning} is meant, write that or name the syntax; "
            f'if the name is meant, write it in quotes: "{name}"',
            PraemiaWarning,
            stacklevel=5,
        )


def _warn_of_single_cost(accepting: RewardMachine, kind: str, text: str, payment: Payment) -> None:
    """Point out a cost for something that holds from the start: it is charged at the first step, and never again."""
    holds_at_once = accepting.outcomes(accepting.initial, frozenset())[0].reward == ONE
    if payment.pay == "first" and payment.reward.mean < 0.0 and holds_at_once:
        warnings.warn(
            f"the {kind} {text!r} holds from the first step on, and its cost of {payment.reward} is paid once only; "
            "pay='each' charges every step",
            PraemiaWarning,
            stacklevel=4,
        )


def unknown_proposition(name: str, names: Collection[str]) -> str:
    """Say of a proposition that is not known what was probably meant."""
    meaning = likely_meanings([name], names).get(name)
    return f" (did you mean {meaning}?)" if meaning else did_you_mean(name, sorted(set(names)))


def _paying_machine(
    accepting: RewardMachine, payment: Payment, propositions: Iterable[str] | None, growth: Growth
) -> RewardMachine:
    """Return the machine that pays in some way for what a machine accepts."""
    allowed = accepting.propositions if propositions is None else tuple(propositions)
    for name in accepting.propositions:
        if name not in allowed:
            raise ModelError(f"unknown proposition {name!r}{unknown_proposition(name, allowed)}")
    built = paid(accepting, payment.pay, growth)
    laws = {0.0: ZERO, 1.0: payment.reward}
    if payment.pay == "end":
        laws[-1.0] = Reward.of(-payment.reward.values[0])
    named = with_names(built, state_names(built), lambda reward: laws[reward.values[0]])
    return named.changed(propositions=allowed)


def require_pay(pay: str) -> None:
    """Refuse an unknown way to pay."""
    if pay not in PAY_SCHEMES:
        raise ParameterError(f"pay={pay!r}; expected 'first', 'each' or 'end'")


class StepPayment(NamedTuple):
    """What a step pays, whether satisfaction has to be remembered, and whether nothing is paid after it."""

    payment: int
    satisfied: bool
    is_over: bool


def step_payment(pay: str, satisfied: bool, satisfied_before: bool) -> StepPayment:
    """Return what a step pays, given whether the trace up to it, and up to the step before, satisfies."""
    if pay == "end":
        return StepPayment(int(satisfied) - int(satisfied_before), satisfied, is_over=False)
    return StepPayment(int(satisfied), satisfied=False, is_over=satisfied and pay == "first")


def paid(accepting: RewardMachine, pay: str, growth: Growth) -> RewardMachine:
    """Return the smallest machine that pays in some way, from one that accepts.

    Its states are (state, satisfied before); None stands for the state in which it has paid for good.
    """
    if pay == "each":
        return accepting
    store, source = Diagrams(growth), accepting.diagrams
    memos: dict[bool, dict[int, int]] = {False: {}, True: {}}

    def moves(state: tuple[int | None, bool]) -> int:
        number, before = state

        def change(outcomes: Outcomes) -> tuple[Branch[tuple[int | None, bool]]]:
            payment, satisfied, is_over = step_payment(pay, outcomes[0].reward == ONE, before)
            target = None if is_over else int(outcomes[0].target)
            return (((target, satisfied), 1.0, UNIT_REWARDS[payment]),)

        if number is None:
            return store.leaf(((state, 1.0, UNIT_REWARDS[0]),))
        return copy(source.store, source.roots[number], store, change, memos[before])

    def meaning(state: tuple[int | None, bool]) -> str:
        number, satisfied = state
        return PAID if number is None else accepting.meanings[str(number)] + (SATISFIED if satisfied else "")

    start = (0, False)
    return smallest_machine(accepting.propositions, store, start, moves, meaning, growth, lambda value: value, _best)


def _best(meanings: Iterable[str]) -> str:
    """Return the shortest meaning; that nothing more is paid, where a state is the end of success and of failure."""
    texts = list(meanings)
    return shortest(texts) if len({text in FINISHED for text in texts}) == 1 else OVER


@deep_recursion
def state_names(machine: RewardMachine) -> list[str]:
    """Return names for states: start, done, failed, over, satisfied, or what is left to do."""
    return [_name(machine, number) for number in range(machine.num_states)]


def _name(machine: RewardMachine, number: int) -> str:
    reward = constant_reward(machine, number)
    if number == 0:
        return "start"
    if reward is None:
        return f"s{number}" if machine.num_states > MOST_NAMED else machine.meanings[str(number)]
    if not reward.is_zero:
        return "satisfied"
    meaning = machine.meanings[str(number)]
    return "done" if meaning in FINISHED else "over" if meaning == OVER else "failed"


class Verdict(NamedTuple):
    """Whether a trace satisfies after each step, and when that is final (0: from the start on; None: not yet)."""

    satisfied: list[bool]
    decided_at: int | None


def judge(accepting: RewardMachine, word: Iterable[Set[str]]) -> Verdict:
    """Return what a machine that accepts says of a word."""
    state, satisfied = accepting.initial, []
    decided = 0 if constant_reward(accepting, 0) is not None else None
    for number, label in enumerate(word, start=1):
        (outcome,) = accepting.outcomes(state, label)
        state = outcome.target
        satisfied.append(outcome.reward == ONE)
        if decided is None and constant_reward(accepting, accepting.index[state]) == outcome.reward:
            decided = number
    return Verdict(satisfied, decided)
