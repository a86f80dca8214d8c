"""When a machine pays for a text, derived from the machine that accepts it.

each    1 at every step at which the trace so far satisfies
first   1 at the first such step, and nothing after it
end     the change in satisfaction (1 or 0; 0 before the first step): 1 where it begins, −1 where it is lost; so a trace
        has earned 1 when it ends if the whole of it satisfies, and 0 if not
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from praemia.errors import ParameterError
from praemia.machines.algebra import ONE, Branch, constant_reward, shortest, smallest_machine
from praemia.machines.diagrams import Diagrams, Growth, copy, deep_recursion
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcomes

PAY_SCHEMES = ("first", "each", "end")
UNIT_REWARDS = {payment: Reward.of(payment) for payment in (-1, 0, 1)}
MOST_NAMED = 1_000  # states of a machine; those of a larger one are numbered
PAID = "nothing: it has paid"
SATISFIED = " (satisfied)"
FINISHED = (PAID, "true" + SATISFIED)
OVER = "nothing more is paid"


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
    if not reward.is_nothing:
        return "satisfied"
    meaning = machine.meanings[str(number)]
    return "done" if meaning in FINISHED else "over" if meaning == OVER else "failed"
