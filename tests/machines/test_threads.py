"""Machines are built in threads: nothing that a process shares, such as Python's recursion limit, is changed."""

import subprocess
import sys
import textwrap

PROGRAM = """
    import sys
    from concurrent.futures import ThreadPoolExecutor

    import praemia

    def build(thread):
        names = [f"p{thread}_{i}" for i in range(1500)]
        every = " & ".join(names)
        machine = praemia.MachineBuilder("q").edge("q", every, "r").edge("q", f"!({every})", "q", reward=1).build()
        assert machine.outcomes("q", set(names))[0].target == "r"
        return machine.outcomes("q", set(names[1:]))[0].target

    limit = sys.getrecursionlimit()
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(build, range(3))) == ["q"] * 3
    assert sys.getrecursionlimit() == limit
"""


def test_three_threads_build_guards_over_many_propositions() -> None:
    """Version 0.4 aborted the interpreter, so this runs in a process of its own."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
