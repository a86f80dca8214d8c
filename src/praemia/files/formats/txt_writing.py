"""Write a machine as one of Toro Icarte's text files.

There are one guard and one reward for two states, and the episode ends unpaid where no line holds. A state with such
ends gets lines for all other labels; any other state gets a last line on ``True``, for the labels on which it stays.
States are numbers there: what they were called stands in a comment.
"""

from __future__ import annotations

from dataclasses import dataclass

from praemia.errors import ModelError
from praemia.files.formats.lines import write_number
from praemia.files.formats.outcomes import is_over, sure_outcome
from praemia.files.formats.txt_guards import write_dnf
from praemia.models.guards import Constant, Else, Guard, overlap
from praemia.models.machine import RewardMachine


@dataclass
class _Entry:
    """What stands on the line of two states."""

    guard: Guard
    reward: float
    is_last: bool = False


def write_txt(machine: RewardMachine) -> str:
    """Return the text of a machine, or raise a ModelError that names what the format cannot say."""
    numbers = _numbers(machine)
    ended = [state for state in machine.states if is_over(machine, state)]
    first = ended[0] if ended else ""
    names = ", ".join(f"{number} = {state!r}" for state, number in numbers.items() if number != state)
    lines = [f"{numbers[machine.initial]}{f'  # {names}' if names else ''}"]
    lines.append(f"[{', '.join(numbers[state] for state in ended)}]")
    for state in machine.states:
        if state not in ended:
            entries = _entries(machine, state, dict.fromkeys(ended, first))
            for target, entry in sorted(entries.items(), key=lambda item: item[1].is_last):
                guard = "True" if entry.is_last else write_dnf(entry.guard)
                reward = f"ConstantRewardFunction({write_number(entry.reward)})"
                lines.append(f"({numbers[state]},{numbers[target]},'{guard}',{reward})")
    return "\n".join(lines) + "\n"


def _numbers(machine: RewardMachine) -> dict[str, str]:
    """Return the number of each state: its name, if all names are numbers already."""
    if all(state.isascii() and state.isdecimal() and str(int(state)) == state for state in machine.states):
        return {state: state for state in machine.states}
    return {state: str(number) for number, state in enumerate(machine.states)}


def _entries(machine: RewardMachine, state: str, ended: dict[str, str]) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    rest: Guard = Constant(True)
    falls = False
    for rule in machine.rules_from(state):
        target, reward = sure_outcome(rule)
        rest = rest & ~rule.guard
        if target in ended and reward == 0.0:
            falls = True
        else:
            _join(entries, state, ended.get(target, target), rule.guard, reward)
    if overlap(rest, rest) is not None:
        _join(entries, state, state, Else(rest), 0.0)
    for entry in entries.values():
        entry.is_last = entry.is_last and not falls
    return entries


def _join(entries: dict[str, _Entry], state: str, target: str, guard: Guard, reward: float) -> None:
    if overlap(guard, guard) is None:
        return
    entry = entries.setdefault(target, _Entry(Constant(False), reward))
    if entry.reward != reward:
        raise ModelError(
            f"from {state!r} to {target!r} the machine pays {entry.reward:g} or {reward:g}; "
            "in this format two states have one reward"
        )
    entry.guard = entry.guard | guard
    entry.is_last = entry.is_last or isinstance(guard, Else)
