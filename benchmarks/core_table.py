"""How often the core is written: lines per learner file, backward loops, and loops that plan and play.

make core-table
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from praemia.learners.registry import BUILT_IN

ROOT = Path(__file__).parents[1] / "src" / "praemia"
BACKWARD, PLAYING = "backward loops", "loops that plan and play"
WHY = {
    (BACKWARD, "kernels/recursion.py"): "the recursion of all learners",
    (BACKWARD, "kernels/exact.py"): "exact planning: sixteen machine states in registers",
    (BACKWARD, "planning/exact.py"): "the same steps, handed out to threads",
    (BACKWARD, "kernels/play.py"): "the exact value of a policy, in the states an episode can reach",
    (BACKWARD, "exploration/bounds.py"): "rewards on trajectories, and what a machine can still pay: small, in NumPy",
    (BACKWARD, "exploration/planners.py"): "the planner for coverage, in NumPy",
    (BACKWARD, "exploration/until.py"): "where to go before a check, in NumPy",
    (PLAYING, "simulation/loop.py"): "the one loop",
    (PLAYING, "kernels/play.py"): "the one loop's body in a task, many plans in one compiled call",
}


def loops(path: Path) -> Iterator[ast.For | ast.While]:
    """Return all loops of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.For | ast.While):
            yield node


def goes_backward(loop: ast.For | ast.While) -> bool:
    """Tell whether a loop runs over the steps from the last to the first."""
    if not isinstance(loop, ast.For):
        return False
    text = ast.unparse(loop.iter)
    return (text.startswith("range(") and text.endswith("-1, -1)")) or "reversed(range(" in text


def plans_and_plays(loop: ast.For | ast.While) -> bool:
    """Tell whether a loop calls both something that plans and something that plays."""
    calls = [node.func for node in ast.walk(loop) if isinstance(node, ast.Call)]
    names = {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
    return bool(names & {"plan", "replan"}) and "play" in names


def main() -> None:
    """Print the table."""
    files = sorted(ROOT.rglob("*.py"))
    print("lines of each learner file")
    for path in sorted((ROOT / "learners").glob("*.py")):
        if f"praemia.learners.{path.stem}" in {place.partition(":")[0] for place in BUILT_IN.values()}:
            print(f"  {len(path.read_text(encoding='utf-8').splitlines()):4}  {path.name}")
    for title, is_one in ((BACKWARD, goes_backward), (PLAYING, plans_and_plays)):
        found = [(path, loop.lineno) for path in files for loop in loops(path) if is_one(loop)]
        print(f"{title}: {len(found)}")
        for path, line in found:
            where = str(path.relative_to(ROOT))
            print(f"  {where}:{line}  {WHY.get((title, where), '')}")


if __name__ == "__main__":
    main()
