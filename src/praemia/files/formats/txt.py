"""Read the text files of Toro Icarte's reward machines, and of the tools that took over their format.

    0                                               the initial state
    [2]                                             the terminal states; see ``_implied_ends`` where this is missing
    (0, 1, 'f&!n', ConstantRewardFunction(0))       from, to, guard, reward

A proposition is one letter. The first line of a state whose guard holds is taken; of two lines with the same (from, to)
the later stands in the earlier one's place. All terminal states are one, and where no line holds the episode ends with
reward 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from praemia.errors import FileError, did_you_mean, located
from praemia.files.formats.events import parsed
from praemia.files.source import parse_integer
from praemia.machines.formula import ELSE, FALSE, TRUE, Formula, conjunction, disjunction, proposition
from praemia.machines.guards import example_label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule

ENDED = -1  # what those tools call the one terminal state
FUNCTIONS = [f"{kind}RewardFunction" for kind in ("Constant", "Label", "NoisyCont", "NoisyContLabel")]

_EXPECTED = "the initial state, the list of terminal states, lines (from, to, 'guard', ConstantRewardFunction(reward))"
_GRAMMAR = r"""
    start: INT (states line* | line+)
    states: "[" (INT ("," INT)* ","?)? "]"
    line: "(" INT "," INT "," STRING "," NAME "(" arguments ")" ")" ","?
    arguments: (NUMBER ("," NUMBER)*)? -> numbers
             | "{" (entry ("," entry)* ","?)? "}" -> table
    entry: STRING ":" (NUMBER | "(" NUMBER "," NUMBER ")")
    INT: /[+-]?[0-9]+/
    NUMBER: /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/
    STRING: /'[^'\n]*'|"[^"\n]*"/
    NAME: /[A-Za-z_]\w*/
    %ignore /\s+/
    %ignore /#[^\n]*/
"""


class _Line(NamedTuple):
    """A line of a machine; of ``cases`` the first whose guard holds gives the reward."""

    source: int
    target: int
    guard: Formula
    cases: list[tuple[Formula, Reward]]


def read_txt(text: str, name: str) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages."""
    initial, *parts = parsed(_GRAMMAR, text, name, _EXPECTED).children
    ends: list[int] | None = None
    lines = []
    for part in parts:
        with located(f"{name}:{part.meta.line}"):
            if part.data == "line":
                source, target, guard, function, arguments = part.children
                cases = list(_cases(str(function), arguments))
                lines.append(_Line(parse_integer(source), parse_integer(target), _guard(guard[1:-1]), cases))
            else:
                ends = [parse_integer(state) for state in part.children]
    with located(name):
        return _machine(parse_integer(initial), [*(_implied_ends(lines) if ends is None else ends), ENDED], lines)


def _guard(text: str) -> Formula:
    return disjunction(
        conjunction(_literal(factor.strip(), text) for factor in term.split("&")) for term in text.split("|")
    )


def _literal(factor: str, text: str) -> Formula:
    name = factor.lstrip("! \t")
    if "(" in name or ")" in name:
        raise FileError(f"guard {text!r}: it has brackets; in this format it is a sum of products, such as 'a&!b|c'")
    if len(name) > 1 and name not in ("True", "False"):
        raise FileError(f"guard {text!r}: the proposition {name!r}; in this format it is a single letter")
    literal = {"True": TRUE, "False": FALSE, "": TRUE}.get(name) or proposition(name)
    return ~literal if factor[: len(factor) - len(name)].count("!") % 2 else literal


def _cases(function: str, arguments: Any) -> Iterator[tuple[Formula, Reward]]:
    """Yield the guards and the distributions of a reward function."""
    if function not in FUNCTIONS:
        if function.startswith("Reward"):
            raise FileError(f"{function} depends on the environment's own step; a machine cannot carry that over")
        raise FileError(f"unknown reward function {function!r}{did_you_mean(function, FUNCTIONS)}")
    is_noisy, is_table = function.startswith("Noisy"), arguments.data == "table"
    parts = [entry.children for entry in arguments.children] if is_table else [["'True'", *arguments.children]]
    table = {guard[1:-1]: numbers for guard, *numbers in parts}
    if is_table != function.endswith("LabelRewardFunction") or any(len(own) != 1 + is_noisy for own in table.values()):
        raise FileError(f"{function} with other arguments than it takes")
    for guard, numbers in table.items():
        mean, width = float(numbers[0]), abs(float(numbers[1])) if is_noisy else 0.0
        yield _guard(guard), Reward.uniform(mean - width, mean + width)
    if is_table:
        yield TRUE, ZERO


def _implied_ends(lines: list[_Line]) -> list[int]:
    """Return the terminal states of a file that does not list them: those without lines, or with one to itself."""
    own: dict[int, list[_Line]] = {state: [] for line in lines for state in (line.source, line.target)}
    for line in lines:
        own[line.source].append(line)

    def is_end(line: _Line) -> bool:
        (_, reward), *others = line.cases
        return line.source == line.target and line.guard is TRUE and not others and reward.is_constant

    return sorted(state for state, its in own.items() if not its or (len(its) == 1 and is_end(its[0])))


def _machine(initial: int, ends: list[int], lines: list[_Line]) -> RewardMachine:
    """Return the machine of some lines; all terminal states are one, called by the first."""
    entries: dict[int, dict[int, _Line]] = {}
    for line in lines:
        if line.source not in ends:
            entries.setdefault(line.source, {})[ENDED if line.target in ends else line.target] = line
    first = ENDED if initial in ends else initial
    ongoing = sorted({first, *entries, *(target for own in entries.values() for target in own)} - {ENDED})
    names = {state: str(state) for state in ongoing} | {ENDED: str(ends[0])}
    rules = [rule for state in ongoing for rule in _rules(names[state], entries.get(state, {}), names)]
    targets = {outcome.target for rule in rules for outcome in rule.outcomes}
    if len(ends) == 1 and first != ENDED and names[ENDED] not in targets:
        del names[ENDED]
    guards = (guard for line in lines for guard in (line.guard, *(case for case, _ in line.cases)))
    letters = dict.fromkeys(letter for guard in guards for letter in sorted(guard.propositions()))
    return RewardMachine(tuple(names.values()), names[first], tuple(letters), rules, first_match=True)


def _rules(state: str, lines: Mapping[int, _Line], names: Mapping[int, str]) -> Iterator[Rule]:
    for target, line in lines.items():
        for case, reward in line.cases:
            yield Rule(state, line.guard & case, (Outcome(names[target], 1.0, reward),))
    if example_label(~disjunction(line.guard for line in lines.values())) is not None:
        yield Rule(state, ELSE, (Outcome(names[ENDED]),))
