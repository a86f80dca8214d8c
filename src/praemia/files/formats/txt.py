"""Read and write the text files of Toro Icarte's reward machines, and of the tools that took over their format.

There a proposition is tested by "letter in string", and the label is a string of letters. So propositions are single
characters, and an empty guard, which is in every string, is true.

    0                                               the initial state
    [2]                                             the terminal states
    (0, 1, 'f&!n', ConstantRewardFunction(0))       from, to, guard, reward

Some tools leave out the second line; then a state is terminal that has no line of its own, or a single one, to itself
on 'True' for a constant reward.

Lines of a state are tried in their order and the first whose guard holds is taken. Two lines with the same (from, to)
are one entry: the later guard and reward stand at the earlier one's place. All terminal states are one, and lines that
leave it are not read. Where no line holds the episode ends, paying 0. Those tools evaluate such files; here they are
parsed.

When a machine is written, each pair of states has one line, with one guard and one reward. A state from which the
episode can end unpaid gets lines for all other labels; any other state gets a last line on ``True``, for the labels on
which it stays. States become numbers; their names stand in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import cache
from typing import Any, NamedTuple

from praemia.errors import FileError, ModelError, did_you_mean, located
from praemia.files.formats.common import is_over, parsed, sure_target, write_number
from praemia.files.source import whole_number
from praemia.machines.formula import ELSE, FALSE, TRUE, Formula, conjunction, disjunction, proposition
from praemia.machines.guards import Booleans
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule, by_source

MAX_TERMS = 10_000
DIGITS = 1000  # enough for the exact sum of any two numbers
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")
OPERATORS = frozenset("&|!()'\"#\\")


def parse_dnf(text: str) -> Formula:
    """Read a guard."""
    return disjunction(
        conjunction(_literal(factor.strip(), text) for factor in summand.split("&")) for summand in text.split("|")
    )


def _literal(factor: str, text: str) -> Formula:
    name = factor.lstrip("! \t")
    literal = _atom(name, text)
    return ~literal if factor[: len(factor) - len(name)].count("!") % 2 else literal


def _atom(name: str, text: str) -> Formula:
    if name in ("True", "False", ""):
        return FALSE if name == "False" else TRUE
    if "(" in name or ")" in name:
        raise FileError(f"guard {text!r}: it has brackets; in this format it is a sum of products, such as 'a&!b|c'")
    if len(name) > 1:
        raise FileError(f"guard {text!r}: the proposition {name!r}; in this format it is a single letter")
    return proposition(name)


def _write_dnf(functions: Booleans, function: int) -> str:
    """Write a guard, or raise a ModelError that says why it cannot be."""
    names = functions.names
    products = functions.terms(function, MAX_TERMS)
    terms = [sorted((names[variable], wanted) for variable, wanted in product.items()) for product in products]
    for name in sorted({name for term in terms for name, _ in term}):
        if len(name) != 1 or name in OPERATORS or name.isspace():
            raise ModelError(f"the proposition {name!r}; in this format it is a single letter")
    terms.sort(key=lambda term: (len(term), term))
    return "|".join("&".join(("" if wanted else "!") + name for name, wanted in t) or "True" for t in terms) or "False"


ENDED = -1  # what those tools call the one terminal state

_LINE = "a line (from, to, 'guard', ConstantRewardFunction(reward))"
_GRAMMAR = r"""
    state: INT
    states: "[" [INT ("," INT)* [","]] "]"
    line: "(" INT "," INT "," STRING "," reward ")" [","]
    reward: NAME "(" [argument ("," argument)*] ")"
    ?argument: NUMBER | mapping
    mapping: "{" [entry ("," entry)* [","]] "}"
    entry: STRING ":" (NUMBER | pair)
    pair: "(" NUMBER "," NUMBER ")"
    INT: /[+-]?[0-9]+/
    NUMBER: /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/
    STRING: /'[^'\n]*'|"[^"\n]*"/
    NAME: /[A-Za-z_]\w*/
    %ignore /[ \t\r\f]+/
    %ignore /#[^\n]*/
"""


def read_txt(text: str, name: str) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"]
    if len(lines) < 2:
        raise FileError(f"{name}: expected the initial state, the list of terminal states, then lines of the machine")
    initial = _parse(lines[0], name, "state", "the initial state, a whole number").children
    if lines[1][1].lstrip().startswith("("):
        entries = [_read_line(line, name) for line in lines[1:]]
        terminals = _implied_terminals(entries)
    else:
        states = _parse(lines[1], name, "states", "the list of terminal states, such as [2] or []").children
        entries, terminals = [_read_line(line, name) for line in lines[2:]], _numbers_of(states, name, lines[1])
    machine = _Machine(_numbers_of(initial, name, lines[0])[0], terminals)
    for entry in entries:
        machine.add(entry)
    return machine.build()


class _Line(NamedTuple):
    source: int
    target: int
    guard: Formula
    cases: list[tuple[Formula, Reward]]


def _read_line(line: tuple[int, str], name: str) -> _Line:
    tree = _parse(line, name, "line", _LINE)
    with located(f"{name}:{line[0]}"):
        source, target, guard, reward = tree.children
        return _Line(whole_number(source), whole_number(target), parse_dnf(guard[1:-1]), list(_cases(reward)))


def _implied_terminals(lines: list[_Line]) -> list[int]:
    """Return the terminal states of a file that does not list them."""
    own: dict[int, list[_Line]] = {state: [] for line in lines for state in (line.source, line.target)}
    for line in lines:
        own[line.source].append(line)
    return sorted(state for state, its in own.items() if not its or (len(its) == 1 and _is_end(its[0])))


def _is_end(line: _Line) -> bool:
    is_constant = len(line.cases) == 1 and line.cases[0][0] is TRUE and line.cases[0][1].is_constant
    return line.source == line.target and line.guard is TRUE and is_constant


def _numbers_of(states: list[Any], name: str, line: tuple[int, str]) -> list[int]:
    with located(f"{name}:{line[0]}"):
        return [whole_number(state) for state in states if state is not None]


def _parse(line: tuple[int, str], name: str, start: str, expected: str) -> Any:
    return parsed(_parser(), line[1], name, expected, first_line=line[0], start=start)


@cache
def _parser() -> Any:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", start=["state", "states", "line"], maybe_placeholders=True)


def _cases(reward: Any) -> Iterator[tuple[Formula, Reward]]:
    """Yield (guard, law) of a reward function: the first that holds is paid, and 0 where none does."""
    function, *arguments = (item for item in reward.children if item is not None)
    match str(function), arguments:
        case "ConstantRewardFunction", [value] if not hasattr(value, "data"):
            yield TRUE, Reward.of(float(value))
        case "NoisyContRewardFunction", [mean, width] if not hasattr(mean, "data") and not hasattr(width, "data"):
            yield TRUE, _uniform(mean, width)
        case (("LabelRewardFunction" | "NoisyContLabelRewardFunction"), [mapping]) if hasattr(mapping, "data"):
            entries = {entry.children[0][1:-1]: entry.children[1] for entry in mapping.children if entry is not None}
            for guard, value in entries.items():
                yield parse_dnf(guard), _law(str(function), value)
        case name, _:
            raise FileError(_refusal(name))


def _law(function: str, value: Any) -> Reward:
    is_pair = hasattr(value, "data")
    if is_pair != (function == "NoisyContLabelRewardFunction"):
        raise FileError(f"{function} has {'(mean, width)' if is_pair else 'a number'} for a guard; it takes the other")
    return _uniform(*value.children) if is_pair else Reward.of(float(value))


def _uniform(mean: str, width: str) -> Reward:
    """Return the law on mean ± width; the ends are computed as decimal numbers, so that they are what was meant."""
    try:
        with localcontext(prec=DIGITS):
            centre, half = Decimal(mean), abs(Decimal(width))
            return Reward.uniform(float(centre - half), float(centre + half))
    except ArithmeticError:
        raise FileError(f"a reward of {mean} ± {width}; its exponents are too large") from None


def _refusal(function: str) -> str:
    functions_read = [f"{kind}RewardFunction" for kind in ("Constant", "Label", "NoisyCont", "NoisyContLabel")]
    if function in functions_read:
        return f"{function} with other arguments than it takes"
    if function.startswith("Reward"):
        return f"{function} depends on the environment's own step; a machine cannot carry that over"
    return f"unknown reward function {function!r}{did_you_mean(function, functions_read)}"


@dataclass
class _Machine:
    """The entries of a file, as the original keeps them."""

    initial: int
    terminals: list[int]
    entries: dict[int, dict[int, tuple[Formula, list[tuple[Formula, Reward]]]]] = field(default_factory=dict)
    letters: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.terminals = [*self.terminals, ENDED]

    def add(self, line: _Line) -> None:
        source, target, guard, cases = line
        for part in (guard, *(case for case, _ in cases)):
            self.letters |= dict.fromkeys(sorted(part.propositions()))
        if source in self.terminals:
            return
        end = ENDED if target in self.terminals else target
        self.entries.setdefault(source, {})[end] = guard, cases

    def build(self) -> RewardMachine:
        initial = ENDED if self.initial in self.terminals else self.initial
        numbers = {initial, *self.entries, *(target for targets in self.entries.values() for target in targets)}
        ongoing = sorted(numbers - {ENDED})
        rules = [rule for state in ongoing for rule in self._rules(state)]
        targets = {out.target for rule in rules for out in rule.outcomes}
        ends = len(self.terminals) > 1 or initial == ENDED or self._name(ENDED) in targets
        states = [*ongoing, *([ENDED] if ends else [])]
        names = tuple(map(self._name, states))
        return RewardMachine(names, self._name(initial), tuple(self.letters), tuple(rules), first_match=True)

    def _rules(self, state: int) -> Iterator[Rule]:
        functions = Booleans()
        left = functions.true  # what no line has taken yet
        for target, (guard, cases) in self.entries.get(state, {}).items():
            for case, law in (*cases, (TRUE, ZERO)):
                function = functions.function(guard & case)
                if functions.both(left, function) != functions.false:
                    yield Rule(self._name(state), guard & case, (Outcome(self._name(target), 1.0, law),))
                    left = functions.both(left, functions.negate(function))
        if left != functions.false:
            yield Rule(self._name(state), ELSE, (Outcome(self._name(ENDED)),))

    def _name(self, state: int) -> str:
        return str(self.terminals[0] if state == ENDED else state)


def falling_off(machine: RewardMachine) -> Iterator[str]:
    """Say where the code that such files were written for pays something else than the machine read from one.

    Its comment says that nothing is paid where no line of a state holds; but the code looks the reward of the edge to
    the end up, if the state has one.
    """
    for state, rules in by_source(machine.states, machine.rules).items():
        ends = {rule.outcomes[0].target for rule in rules if rule.is_else}
        edges = (rule.outcomes[0] for rule in rules if not rule.is_else and rule.outcomes[0].target in ends)
        edge = next(edges, None)
        if edge is not None and not edge.reward.is_zero:
            yield (
                f"state {state!r}: where no line holds the episode ends and pays 0, as the format says; the code of "
                f"reward_machines pays {edge.reward} there, the reward of the line to the end"
            )


@dataclass
class _Entry:
    """What stands on the line of two states; ``function`` is true where it is taken."""

    function: int
    reward: Reward
    is_last: bool = False


def write_txt(machine: RewardMachine) -> str:
    """Return the text of a machine, or raise a ModelError that names what the format cannot say."""
    numbers = _numbers(machine)
    ended = [state for state in machine.states if is_over(machine, state)]
    first = ended[0] if ended else ""
    names = ", ".join(f"{number} = {state!r}" for state, number in numbers.items() if number != state)
    lines = [f"{numbers[machine.initial]}{f'  # {names}' if names else ''}"]
    lines.append(f"[{', '.join(numbers[state] for state in ended)}]")
    functions = Booleans()
    for state, rules in by_source(machine.states, machine.exclusive_rules).items():
        if state not in ended:
            entries = _entries(state, rules, functions, dict.fromkeys(ended, first))
            for target, entry in sorted(entries.items(), key=lambda item: item[1].is_last):
                guard = "True" if entry.is_last else _write_dnf(functions, entry.function)
                lines.append(f"({numbers[state]},{numbers[target]},'{guard}',{_write_reward(entry.reward)})")
    return "\n".join(lines) + "\n"


def _write_reward(reward: Reward) -> str:
    """Write a number or a uniform law as the function that those tools have for it."""
    match reward.to_data():
        case float(value):
            return f"ConstantRewardFunction({write_number(value)})"
        case {"uniform": ends}:
            low, high = (Decimal(repr(end)) for end in ends)
            with localcontext(prec=DIGITS):
                return f"NoisyContRewardFunction({(low + high) / 2}, {(high - low) / 2})"
        case _:
            raise ModelError(f"the reward {reward}; this format has numbers and uniform laws")


def _numbers(machine: RewardMachine) -> dict[str, str]:
    """Return the number of each state: its name, if all names are numbers already."""
    if all(_NUMBER.fullmatch(state) for state in machine.states):
        return {state: state for state in machine.states}
    return {state: str(number) for number, state in enumerate(machine.states)}


def _entries(state: str, rules: list[Rule], functions: Booleans, ended: dict[str, str]) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    rest = functions.true
    falls = False
    for rule in rules:
        target, reward = sure_target(rule)
        function = functions.function(rule.guard)
        rest = functions.both(rest, functions.negate(function))
        if target in ended and reward == ZERO:
            falls = True
        elif function != functions.false:
            entry = _entry(entries, functions, state, ended.get(target, target), reward)
            entry.function = functions.either(entry.function, function)
            entry.is_last = entry.is_last or rule.is_else
    if rest != functions.false:
        entry = _entry(entries, functions, state, state, ZERO)
        entry.function, entry.is_last = functions.either(entry.function, rest), True
    for entry in entries.values():
        entry.is_last = entry.is_last and not falls
    return entries


def _entry(entries: dict[str, _Entry], functions: Booleans, state: str, target: str, reward: Reward) -> _Entry:
    entry = entries.setdefault(target, _Entry(functions.false, reward))
    if entry.reward != reward:
        raise ModelError(
            f"from {state!r} to {target!r} the machine pays {entry.reward} or {reward}; "
            "in this format two states have one reward"
        )
    return entry
