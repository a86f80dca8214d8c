"""Commands: what each prints with ``--json``, without times and prose, and the files that others write."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from golden_records import Reach, Record
from golden_tasks import tasks
from golden_values import traces

import praemia
from praemia.cli import main

CHANGING = ("seconds", "help", "summary", "reference")  # times, and prose that may be improved
NOT_REACHED = 1  # the status of an exploration that ends before its loss is small enough
FETCH = "F(item & X F delivery)"
FETCH_AS_WORDS = "(!item)* item (!delivery)* delivery"


def commands(nudge: float) -> Iterator[Record]:
    """Run the commands that take no time."""
    with TemporaryDirectory() as folder, chdir(folder):
        _prepare()
        scale = repr(0.01 * (1.0 + nudge))
        fetch = ("--machine", "fetch.yaml")
        yield _asked("solve", "warehouse-3", reach=Reach.BITS)
        yield _asked("solve", "errands.yaml")
        yield _asked("envs", reach=Reach.BITS)
        yield _asked("envs", "office-mail", reach=Reach.BITS)
        yield _asked("learners", reach=Reach.BITS)
        for file in ("errands.yaml", "fetch.yaml", "traces.jsonl", "odd.yaml"):
            yield _asked("check", file, reach=Reach.BITS)
        yield _asked("machine", FETCH, "--trace", "item; ; delivery; item", reach=Reach.BITS)
        yield _asked("machine", FETCH_AS_WORDS, "--regex", "--pay", "end", "--reward", "2", reach=Reach.BITS)
        yield _asked("infer", "traces.jsonl", "--truth", "riverswim-prm-5")
        explored = ("--episodes", "200", "--scale", scale)
        yield _asked("explore", "warehouse-3", *explored, "--out", "data.npz")
        yield _asked("explore", "warehouse-3", *explored, "--seed", "1", "--append", "--out", "data.npz")
        yield _asked("plan", "data.npz", *fetch, "--task", "warehouse-3", "--draws", "40")
        yield _asked("plan", "data.npz", *fetch, "--horizon", "5", "--draws", "40")
        yield _asked("plan", "data.npz", "--task", "warehouse-3", "--discount", "0.9", "--draws", "40")
        played = ("--learner", "headroom", "--learner", "qr-max", "--set", "known_after=4", "--episodes", "60")
        yield _asked("run", "warehouse-3", *played, "--runs", "2", "--jobs", "1", "--out", "runs", reach=Reach.BITS)
        yield _written("show", "fetch.yaml", "-o", "fetch.mmd")


def sweeps(nudge: float) -> Iterator[Record]:
    """Run the commands that take seconds, or draw: only between two commits on one machine."""
    with TemporaryDirectory() as folder, chdir(folder):
        _prepare()
        chosen = ("--task", "warehouse-3", "--task", "errands.yaml", "--learner", "headroom", "--learner", "ucbvi-prm")
        yield _asked(
            "experiment", "league", *chosen, "--runs", "2", "--episodes", "80", "--jobs", "1", reach=Reach.LOCAL
        )
        until = ("--until", "0.3", "--machine", "fetch.yaml", "--episodes", "2000", "--out", "until.npz")
        yield _asked("explore", "warehouse-3", *until, reach=Reach.LOCAL)
        yield _written("show", "fetch.yaml", "-o", "fetch.dot", reach=Reach.LOCAL)
        yield _written("show", "warehouse-3", "-o", "policy.txt", reach=Reach.LOCAL)


def _prepare() -> None:
    """Write the files that commands read."""
    praemia.save_machine(praemia.RewardMachine.from_ltlf(FETCH), "fetch.yaml")
    praemia.save_task(tasks()["errands"], "errands.yaml")
    praemia.save_task(tasks()["riverswim-prm-5"].with_horizon(1), "odd.yaml")
    episodes = traces(tasks()["riverswim-prm-5"].with_horizon(25), 60)
    Path("traces.jsonl").write_text("\n".join(map(json.dumps, episodes)) + "\n", encoding="utf-8")


def _asked(*arguments: str, reach: Reach = Reach.CLOSE) -> Record:
    """Run a command with ``--json`` and record what it prints."""
    status, printed = _run(*arguments, "--json")
    answer = _lasting(json.loads(printed))
    return Record(" ".join(_named(arguments)), {"status": status, "answer": answer}, reach)


def _written(*arguments: str, reach: Reach = Reach.BITS) -> Record:
    """Run a command that writes a file, the last argument, and record its text."""
    status, _ = _run(*arguments)
    text = Path(arguments[-1]).read_text(encoding="utf-8")
    return Record(" ".join(arguments), {"status": status, "text": text}, reach)


def _run(*arguments: str) -> tuple[object, str]:
    """Run a command; return its exit status and what it printed."""
    printed, said = io.StringIO(), io.StringIO()
    status: object = 0
    with redirect_stdout(printed), redirect_stderr(said):
        try:
            main(list(arguments))
        except SystemExit as ended:
            status = ended.code
    if status not in (0, None, NOT_REACHED):
        raise RuntimeError(f"praemia {' '.join(arguments)}: {said.getvalue()}")
    return status, printed.getvalue()


def _named(arguments: tuple[str, ...]) -> list[str]:
    """Return arguments for a record's name: a coefficient that was nudged has the same name."""
    return ["SCALE" if before == "--scale" else now for before, now in zip(("", *arguments), arguments, strict=False)]


def _lasting(answer: Any) -> Any:
    """Return an answer without what changes from day to day."""
    if isinstance(answer, dict):
        return {key: _lasting(part) for key, part in answer.items() if key not in CHANGING}
    return [_lasting(part) for part in answer] if isinstance(answer, list) else answer
