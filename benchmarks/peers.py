"""Compare exact planning with the alternatives on the same tasks, in one session, with one process per solver.

    python benchmarks/peers.py                          everything, about half an hour
    python benchmarks/peers.py --sizes large --kinds few-sparse --rounds 5
    python benchmarks/peers.py --json peers.json        keep every number

Solvers take turns, round after round. Ratios are taken within a round and shown as median (minimum – maximum). Solvers
that would not fit in memory are left out, with a message. mdpsolver is not compared: it has no finite horizon.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from explicit import num_transitions
from memory_speed import bandwidth, bytes_per_step
from peer_solvers import SOLVERS, describe

SIZES = {
    "tiny": (10, 4, 10),
    "small": (50, 10, 100),
    "medium": (100, 20, 100),
    "large": (200, 20, 100),
    "huge": (500, 50, 20),
}
KINDS = {f"{n}-{tau}": (n == "many", tau == "dense") for n in ("few", "many") for tau in ("sparse", "dense")}
MODULES = {"QuantEcon": "quantecon", "Storm": "stormpy"}
MIB, GIB = 1 << 20, 1 << 30
BYTES_PER_TRANSITION = {"SciPy": 22, "QuantEcon": 30, "Storm": 58}  # the product, its copies and the solver's work
TIMEOUT = 1200
OURS, ALL = "praemia, 1 thread", "praemia, all threads"


def settings_of(size: str, kind: str) -> dict[str, Any]:
    """Return a task's record."""
    (side, machine_states, horizon), (many, dense) = SIZES[size], KINDS[kind]
    return {"side": side, "machine_states": machine_states, "horizon": horizon, "many": many, "dense": dense}


def left_out(solver: str, transitions: int, limit: int) -> str | None:
    """Say why a solver is not tried on a product of this size, if so."""
    if solver in (OURS, ALL):
        return None
    if solver in MODULES and find_spec(MODULES[solver]) is None:
        return "not installed"
    needed = transitions * BYTES_PER_TRANSITION[solver]
    if needed > limit:
        return f"{transitions / 1e6:,.0f} million transitions, some {needed / GIB:.0f} GiB"
    return None


def run(solver: str, settings: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Run one solver in a process of its own."""
    script = Path(__file__).with_name("peer_solvers.py")
    command = [sys.executable, "-W", "ignore", str(script), solver, json.dumps(settings), str(repeats)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {TIMEOUT} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": (error.stderr.strip().splitlines() or [f"exit {error.returncode}"])[-1]}
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def compare(size: str, kind: str, rounds: int, limit: int) -> dict[str, Any]:
    """Let the solvers take turns on one task."""
    settings = settings_of(size, kind)
    task = describe(settings)
    transitions, moved = num_transitions(task), bytes_per_step(task) * task.max_steps
    del task
    missing = {name: why for name in SOLVERS if (why := left_out(name, transitions, limit)) is not None}
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in SOLVERS if name not in missing}
    for number in range(rounds):
        for name in list(records):
            print(f"{size} {kind}, round {number + 1}: {name}", file=sys.stderr)
            records[name].append(run(name, settings, repeats=3 if size != "huge" else 2))
            if "failed" in records[name][-1]:
                missing[name] = records.pop(name)[-1]["failed"]
    work = settings["side"] ** 2 * settings["machine_states"] * settings["horizon"]
    return {
        "size": size,
        "kind": kind,
        **settings,
        "transitions": transitions,
        "bytes": moved,
        "work": work,
        "solvers": {name: summary(rows, records[OURS], work) for name, rows in records.items()},
        "missing": missing,
    }


def summary(rows: list[dict[str, Any]], ours: list[dict[str, Any]], work: int) -> dict[str, Any]:
    """Return a solver's numbers, and its ratios to ours, round by round."""
    best = [min(row["seconds"]) for row in rows]
    base = [min(row["seconds"]) for row in ours]
    added = min(max(row["peak"] - row["held"], 1 << 16) for row in rows)
    our_added = min(max(row["peak"] - row["held"], 1 << 16) for row in ours)
    return {
        "value": rows[0]["value"],
        "seconds": best,
        "ns": 1e9 * min(best) / work,
        "ratios": sorted(mine / our for mine, our in zip(best, base, strict=True)),
        "build": min(row["build"] for row in rows),
        "peak": min(row["peak"] for row in rows),
        "added": added,
        "peak_ratio": min(row["peak"] for row in rows) / min(row["peak"] for row in ours),
        "added_ratio": added / our_added,
    }


def show(found: dict[str, Any], speeds: dict[str, float]) -> None:
    """Print one task's table."""
    sizes = f"{found['side'] ** 2:,} observations × {found['machine_states']} machine states, {found['horizon']} steps"
    print(f"\n{found['size']}, {found['kind']}: {sizes}; product {found['transitions'] / 1e6:.1f} million transitions")
    print(f"{'':22}{'s':>9}{'ns/state':>10}{'time ÷ ours':>24}{'peak':>9}{'added':>9}{'÷ ours':>8}{'build s':>9}")
    values = [solver["value"] for solver in found["solvers"].values()]
    for name, it in found["solvers"].items():
        ratios = f"{median(it['ratios']):.2f} ({it['ratios'][0]:.2f} – {it['ratios'][-1]:.2f})"
        print(
            f"{name:22}{min(it['seconds']):9.3f}{it['ns']:10.2f}{ratios:>24}{it['peak'] / MIB:8.0f}M"
            f"{it['added'] / MIB:8.0f}M{it['added_ratio']:8.1f}{it['build']:9.1f}"
        )
    for name, why in found["missing"].items():
        print(f"{name:22}left out: {why}")
    print(f"values agree within {max(values) - min(values):.1e}")
    for name, speed in ((OURS, speeds["1"]), (ALL, speeds["all"])):
        limit = found["bytes"] / speed
        print(f"{name}: {min(found['solvers'][name]['seconds']) / limit:.2f} × the memory's limit of {limit:.3f} s")


def exponents(found: list[dict[str, Any]]) -> dict[str, float]:
    """Fit time ~ work^x for each solver and kind over the sizes that it did."""
    fitted = {}
    for kind in KINDS:
        for name in SOLVERS:
            its = [it for it in found if it["kind"] == kind and name in it["solvers"]]
            done = [(it["work"], min(it["solvers"][name]["seconds"])) for it in its]
            if len(done) > 2:
                work, seconds = np.log(np.array(done).T)
                fitted[f"{kind}, {name}"] = float(np.polyfit(work, seconds, 1)[0])
    return fitted


def main() -> None:
    """Compare, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES)[1:])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=14.0, help="leave out what needs more GiB than this")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    speeds = {"1": bandwidth(1), "all": bandwidth(2)}
    print(f"memory: {speeds['1'] / 1e9:.1f} GB/s with one thread, {speeds['all'] / 1e9:.1f} GB/s with two")
    found = []
    for kind in chosen.kinds:
        for size in chosen.sizes:
            found.append(compare(size, kind, chosen.rounds, int(chosen.limit * GIB)))
            show(found[-1], speeds)
            if chosen.json is not None:
                chosen.json.write_text(json.dumps({"bytes_per_second": speeds, "tasks": found}, indent=1))
    print("\ngrowth exponents, time against observations × machine states × steps")
    for name, exponent in exponents(found).items():
        print(f"{name:40}{exponent:6.2f}")


if __name__ == "__main__":
    main()
