"""Which formulas imply which, decided by their syntax: sound on every non-empty trace, but not complete.

Residuals that differ only by something implied are one state; so the fewer implications are missed, the fewer states
are built before the machine is minimised. F(a & X F b) implies F b, for example, so their disjunction is F b.
"""

from __future__ import annotations

from praemia.machines.formula import FALSE, TRUE, Formula

Answers = dict[tuple[Formula, Formula], bool]


def entails(f: Formula, g: Formula, memo: Answers) -> bool:
    """Tell whether f is found to imply g; both have ``!`` before names only. ``memo`` keeps the answers."""
    if f in (g, FALSE) or g == TRUE:
        return True
    if (f, g) not in memo:
        memo[f, g] = _entails(f, g, memo)
    return memo[f, g]


def _entails(f: Formula, g: Formula, memo: Answers) -> bool:
    # Loops in place of all() and any(): through those, deep formulas would exhaust the stack of C.
    if f.operator == "|" or g.operator == "&":
        for part in f.parts if f.operator == "|" else g.parts:
            if not (entails(part, g, memo) if f.operator == "|" else entails(f, part, memo)):
                return False
        return True
    if f.operator == "&":
        for part in f.parts:
            if entails(part, g, memo):
                return True
    if g.operator == "|":
        for part in g.parts:
            if entails(f, part, memo):
                return True
    return _by_the_left(f, g, memo) or _by_the_right(f, g, memo) or _by_both(f, g, memo)


def _by_the_left(f: Formula, g: Formula, memo: Answers) -> bool:
    """Use what f says of the present step, or that g = F h holds now if it holds later."""
    later = g.operator == "F"
    match f.operator:
        case "G":
            return entails(f.parts[0], g, memo)
        case "F" | "X":
            return later and entails(f.parts[0], g, memo)
        case "R":
            return entails(f.parts[1], g, memo)
        case "U":
            return entails(f.parts[1], g, memo) and (later or entails(f.parts[0], g, memo))
        case "W":
            return entails(f.parts[1], g, memo) and entails(f.parts[0], g, memo)
        case _:
            return False


def _by_the_right(f: Formula, g: Formula, memo: Answers) -> bool:
    """Use what is sufficient for g at the present step."""
    match g.operator:
        case "F":
            return entails(f, g.parts[0], memo)
        case "U" | "W":
            return entails(f, g.parts[1], memo)
        case "R":
            return entails(f, g.parts[0], memo) and entails(f, g.parts[1], memo)
        case _:
            return False


def _by_both(f: Formula, g: Formula, memo: Answers) -> bool:
    """Compare operators of the same kind part by part."""
    match f.operator, g.operator:
        case ("X", "X") | ("X", "WX") | ("WX", "WX"):
            return entails(f.parts[0], g.parts[0], memo)
        case "G", ("G" | "WX"):
            return entails(f, g.parts[0], memo)
        case "G", "R":
            return entails(f.parts[0], g.parts[1], memo)
        case "G", "W":
            return entails(f.parts[0], g.parts[0], memo)
        case ("U", "U") | ("U", "W") | ("W", "W") | ("R", "R"):
            return entails(f.parts[0], g.parts[0], memo) and entails(f.parts[1], g.parts[1], memo)
        case _:
            return False
