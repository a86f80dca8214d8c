"""Which formulas imply which, decided by their syntax: sound on every non-empty trace, but not complete.

Residuals that differ only by something implied are one state; so the fewer implications are missed, the fewer states
are built before the automaton is minimised. F(a & X F b) implies F b, for example, so their disjunction is F b.
"""

from __future__ import annotations

from praemia.machines.formula import FALSE, TRUE, Formula

Known = dict[tuple[Formula, Formula], bool]


def entails(f: Formula, g: Formula, known: Known) -> bool:
    """Tell whether f is found to imply g; both have ``!`` before names only. ``known`` caches the answers."""
    if f in (g, FALSE) or g == TRUE:
        return True
    if (f, g) not in known:
        known[f, g] = _entails(f, g, known)
    return known[f, g]


def _entails(f: Formula, g: Formula, known: Known) -> bool:
    if f.operator == "|":
        return all(entails(part, g, known) for part in f.parts)
    if g.operator == "&":
        return all(entails(f, part, known) for part in g.parts)
    return (
        (f.operator == "&" and any(entails(part, g, known) for part in f.parts))
        or (g.operator == "|" and any(entails(f, part, known) for part in g.parts))
        or _by_the_left(f, g, known)
        or _by_the_right(f, g, known)
        or _by_both(f, g, known)
    )


def _by_the_left(f: Formula, g: Formula, known: Known) -> bool:
    """Use what f says of the present step, or that g = F h holds now if it holds later."""
    later = g.operator == "F"
    match f.operator:
        case "G":
            return entails(f.parts[0], g, known)
        case "F" | "X":
            return later and entails(f.parts[0], g, known)
        case "R":
            return entails(f.parts[1], g, known)
        case "U":
            return entails(f.parts[1], g, known) and (later or entails(f.parts[0], g, known))
        case "W":
            return entails(f.parts[1], g, known) and entails(f.parts[0], g, known)
        case _:
            return False


def _by_the_right(f: Formula, g: Formula, known: Known) -> bool:
    """Use what is sufficient for g at the present step."""
    match g.operator:
        case "F":
            return entails(f, g.parts[0], known)
        case "U" | "W":
            return entails(f, g.parts[1], known)
        case "R":
            return entails(f, g.parts[0], known) and entails(f, g.parts[1], known)
        case _:
            return False


def _by_both(f: Formula, g: Formula, known: Known) -> bool:
    """Compare operators of the same kind part by part."""
    match f.operator, g.operator:
        case ("X", "X") | ("X", "WX") | ("WX", "WX"):
            return entails(f.parts[0], g.parts[0], known)
        case "G", ("G" | "WX"):
            return entails(f, g.parts[0], known)
        case "G", "R":
            return entails(f.parts[0], g.parts[1], known)
        case "G", "W":
            return entails(f.parts[0], g.parts[0], known)
        case ("U", "U") | ("U", "W") | ("W", "W") | ("R", "R"):
            return all(entails(a, b, known) for a, b in zip(f.parts, g.parts, strict=True))
        case _:
            return False
