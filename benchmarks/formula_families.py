"""Time machines from formulas of the families that other tools are measured by, with MONA beside ours if installed.

python benchmarks/formula_families.py [--most-seconds 60] [--only PART-OF-A-NAME]

Times are processor seconds. Ours is from the text to the smallest machine. MONA gets the usual translation to
monadic logic on strings, which ltlf2dfa makes too; its time holds the translation and the process. Our automata accept
on steps, MONA's in states, so that it can need more of them: both sizes are compared after ours has been unfolded.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import NamedTuple

from praemia.errors import SizeError
from praemia.machines.diagrams import Growth
from praemia.machines.formula import Formula
from praemia.machines.ltlf import formula_automaton, parse_formula

LARGE = 200  # states

# Patterns of the kind of which random conjunctions are made for synthesis: Lily's, the load balancer's, and Declare's.
PATTERNS = (
    "(G({a} -> X {b})) -> (G({c} -> (X {d} | X X {d} | X X X {d})) & G({d} -> X !{d}) & G({a} -> X(!{d} U {b})))",
    "(G F {a}) -> (G({b} -> F {c}) & G(!({c} & {d})))",
    "G({a} -> (X {b} | X X {b} | X X X {b})) & G({b} -> WX !{b})",
    "G({a} -> F {b}) & G({c} -> (!{d} W {b}))",
    "G({a} -> X(!{a} U {b}))",
    "(!{b} W {a}) & F({b} & X F {c})",
    "G({a} -> WX(WX {b} | {c}))",
    "F({a} & X({b} & X {c}))",
    "({a} U ({b} | {c})) | G !{d}",
    "F({a} & X F({b} & X F {c}))",
)


def conjoined(parts: Iterable[str]) -> str:
    return " & ".join(f"({part})" for part in parts)


def counter_rules(name: str, size: int, step: str) -> list[str]:
    """Return what holds of a binary counter that ``step`` increments: its carries, and how its bits change."""
    rules = [f"G(k{name}0 <-> {step})"]
    rules += [f"G(k{name}{i} <-> ({name}{i - 1} & k{name}{i - 1}))" for i in range(1, size)]
    for i in range(size):
        stays = f"({name}{i} <-> k{name}{i})"
        rules.append(f"G((X {name}{i} -> !{stays}) & (X !{name}{i} -> {stays}))")
    return rules


def single_counter(size: int) -> str:
    """Return a formula on a counter that must overflow if the environment steps it every two steps."""
    start = [f"(c{i} <-> i{i})" for i in range(size)]
    goal = " & ".join(f"!c{i}" for i in range(size))
    return conjoined([*start, *counter_rules("c", size, "up"), f"G(!up -> X up) -> F({goal})"])


def double_counter(size: int) -> str:
    """Return a formula on two counters: the agent's must catch up with the environment's, which rests in between."""
    start = [f"(c{i} <-> i{i})" for i in range(size)] + [f"!d{i}" for i in range(size)]
    rules = counter_rules("c", size, "up") + counter_rules("d", size, "down")
    equal = " & ".join(f"(c{i} <-> d{i})" for i in range(size))
    return conjoined([*start, *rules, f"G(up -> !X up) -> F({equal})"])


def random_conjunction(size: int, num_names: int, seed: int) -> str:
    """Return a conjunction of patterns over names that are drawn at random, as Lydia and Syft are measured by."""
    rng = random.Random(seed)
    names = [f"p{i}" for i in range(num_names)]
    draws = [dict(zip("abcd", rng.sample(names, 4), strict=True)) for _ in range(size)]
    return conjoined(rng.choice(PATTERNS).format(**draw) for draw in draws)


def until_right(size: int) -> str:
    text = f"p{size}"
    for i in range(size - 1, -1, -1):
        text = f"(p{i} U {text})"
    return text


def nested_responses(size: int) -> str:
    text = f"F(p{size} & X c{size})"
    for i in range(size - 1, 0, -1):
        text = f"F(p{i} & X(c{i} & X {text}))"
    return text


FAMILIES: dict[str, str] = {
    "fetch and deliver": "F(item & X F delivery)",
    **{f"single counter {n}": single_counter(n) for n in (1, 2, 4, 6)},
    **{f"double counter {n}": double_counter(n) for n in (1, 2, 3, 4, 5)},
    **{f"GF {n}": conjoined(["G p", *(f"F q{i}" for i in range(1, n))]) for n in (4, 8, 10, 12)},
    **{f"U {n}": until_right(n) for n in (4, 8, 12)},
    **{f"F(a & X^{n} b)": f"F(a & {'X ' * n}b)" for n in (4, 8, 10, 12)},
    **{f"doors {n}": conjoined(["F goal", *(f"!d{i} U k{i}" for i in range(n))]) for n in (3, 5, 7)},
    "nested responses 10": nested_responses(10),
    **{
        f"random conjunction {size} of {names}, {seed}": random_conjunction(size, names, seed)
        for size, names in ((1, 4), (2, 8), (3, 10), (4, 12), (5, 16))
        for seed in range(6)
    },
}


def mona_text(formula: Formula) -> str:
    """Return a formula as a program for MONA: it holds at the first position of a string."""
    names = [f"P{number}" for number in range(len(formula.propositions()))]
    numbers = dict(zip(formula.propositions(), names, strict=True))
    fresh = (f"x{number}" for number in count())
    return f"m2l-str;\nvar2 {', '.join(names)};\n{_at(formula, '0', numbers, fresh)};\n"


def _at(formula: Formula, place: str, names: dict[str, str], fresh: Iterator[str]) -> str:
    """Return what says that a formula holds at a place of a string."""
    parts = formula.parts

    def later(part: Formula) -> tuple[str, str]:
        place = next(fresh)
        return place, _at(part, place, names, fresh)

    match formula.operator:
        case "true" | "false":
            return formula.operator
        case "name":
            return f"({place} in {names[formula.name]})"
        case "!":
            return f"~({_at(parts[0], place, names, fresh)})"
        case "&" | "|":
            return "(" + f" {formula.operator} ".join(_at(part, place, names, fresh) for part in parts) + ")"
        case "X" | "WX":
            x, text = later(parts[0])
            quantifier, join = ("ex1", "&") if formula.operator == "X" else ("all1", "=>")
            return f"({quantifier} {x}: ({x} = {place} + 1 & {x} > {place}) {join} {text})"
        case "F" | "G":
            x, text = later(parts[0])
            quantifier, join = ("ex1", "&") if formula.operator == "F" else ("all1", "=>")
            return f"({quantifier} {x}: {x} >= {place} {join} {text})"
        case "U" | "R" | "W":
            return _until(formula, place, later)
    raise AssertionError(formula.operator)


def _until(formula: Formula, place: str, later: Callable[[Formula], tuple[str, str]]) -> str:
    before, after = formula.parts if formula.operator != "R" else formula.parts[::-1]
    (x, end), (y, until) = later(after), later(before)
    order = "<=" if formula.operator == "R" else "<"
    until_end = f"(ex1 {x}: {x} >= {place} & {end} & (all1 {y}: ({y} >= {place} & {y} {order} {x}) => {until}))"
    if formula.operator == "U":
        return until_end
    z, always = later(before)
    return f"({until_end} | (all1 {z}: {z} >= {place} => {always}))"


class Timing(NamedTuple):
    """How long it took, and how many states there are, None where it did not end; also if states accept, not steps."""

    seconds: float
    states: int | None
    accepting: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return f"{self.seconds:8.3f} s {self.states if self.states is not None else 'stopped':>8}"


def time_ours(text: str) -> Timing:
    begin = time.process_time()
    try:
        automaton = formula_automaton(text, Growth())
    except SizeError:
        return Timing(time.process_time() - begin, None)
    seconds = time.process_time() - begin
    num_steps = len(set(automaton.diagrams.values()))
    # The first state is one more unless some step leads back to it.
    return Timing(seconds, automaton.num_states, frozenset({num_steps, num_steps + 1}))


def time_mona(text: str, most_seconds: float) -> Timing:
    begin = _all_seconds()
    with tempfile.NamedTemporaryFile("w", suffix=".mona") as file:
        file.write(mona_text(parse_formula(text)[0]))
        file.flush()
        try:
            answer = subprocess.run(
                ["mona", "-q", "-w", "-u", file.name], capture_output=True, text=True, timeout=most_seconds, check=False
            ).stdout
        except subprocess.TimeoutExpired:
            return Timing(most_seconds, None)
    states = re.findall(r"\d+", "".join(re.findall(r"^(?:Accepting|Rejecting) states:(.*\n)", answer, re.MULTILINE)))
    return Timing(_all_seconds() - begin, len(states) - 1 if states else None)


def _all_seconds() -> float:
    """Return the processor seconds of this process and of those that it started and that ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most-seconds", type=float, default=60.0, help="after which MONA is stopped")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    time_ours("F warm")
    ratios: dict[bool, list[float]] = {False: [], True: []}
    for name, text in FAMILIES.items():
        if options.only not in name:
            continue
        ours = time_ours(text)
        line = f"{name:32} {ours}"
        if shutil.which("mona"):
            mona = time_mona(text, options.most_seconds)
            line += f"   MONA {mona}"
            if ours.states and mona.states:
                ratio = ours.seconds / mona.seconds
                ratios[ours.states >= LARGE].append(ratio)
                line += f"   ratio {ratio:6.2f}{'' if mona.states in ours.accepting else '   SIZES DIFFER'}"
        print(line, flush=True)
    for is_large, values in ratios.items():
        if values:
            kind = f"{LARGE} states and more" if is_large else f"fewer than {LARGE} states"
            print(f"median ratio, {kind}: {statistics.median(values):.2f} of {len(values)}")


if __name__ == "__main__":
    main()
