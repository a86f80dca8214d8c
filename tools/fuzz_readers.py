"""Feed damaged texts and files to everything that reads: each must give a result or one message, soon.

    python tools/fuzz_readers.py [--share 1.0] [--seed 0] [--reader NAME] [--case N]

A case is a valid text, changed at a few places. A failure is anything but a result or a ``PraemiaError``, more than
five seconds of processor time, or more than 1 GB: it is printed with the command that repeats it. ``--share`` scales
the number of cases.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import praemia
from praemia.cli import execute
from praemia.envs.grid_map import GridMap
from praemia.errors import PraemiaError
from praemia.experiments.experiment_file import load_experiment
from praemia.exploration import Dataset
from praemia.files.load_save import FORMATS, Format
from praemia.files.writing import dump, dump_as_json
from praemia.inference import load_traces
from praemia.machines.syntax import parse_guard
from praemia.statistics.frames import load_runs

EXAMPLES = Path(__file__).parent.parent / "examples"
GRAPH = b"""digraph g { s0 [label="s0"]; s0 -> s1 [label="item/0:0.8"]; s0 -> s0 [label="item/0.5:0.2"];
s1 -> s0 [label="delivery/1:1"]; __start0 -> s0; }"""
MULTIAGENT = b"""{"states": ["q0", "q1"], "initial_state": "q0", "terminal_states": ["q1"], "event_vocabulary": ["a"],
"transitions": [{"from_state": "q0", "event": "a", "to_state": "q1", "reward": 1}]}"""
SECONDS, MEMORY = 5.0, 2**30
TEXTS, FILES, FOLDERS = 100_000, 10_000, 1_000  # cases for each reader
# fmt: off
PIECES = (
    *"()[]{}<>!&|^~*+?.,:;#\"'\\/-=\n\t 019aFGX",
    "\0", "é", "\ufeff", "\u2028", "𝒳", "-1", "1e400", "nan", "inf", "9" * 5_000, "0" * 20, "1e-320", "true", "null",
    "&&", "||", "->", "<->", "X[!]", "WX", " U ", " R ", "else", "last", "(" * 9, "[" * 2_000, "(" * 2_000, "!" * 999,
    "<<: *a", "&a [*a]", "!!python/object:os.system", "../../etc/passwd", "State: 0", "[t] 0", "--BODY--", "--END--",
)
# fmt: on


class Reader(NamedTuple):
    """Something that reads: valid examples, how one is read, and how many cases are tried."""

    examples: tuple[bytes, ...]
    read: Callable[[bytes], Any]
    cases: int


class TooSlow(Exception):
    """A case that takes longer than it may."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the cases (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", default=None, help="only this one (all)")
    parser.add_argument("--case", type=int, default=None, help="only this one, with its traceback")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        readers = all_readers(Path(folder))
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY, resource.RLIM_INFINITY))
        for name in [chosen.reader] if chosen.reader else readers:
            if chosen.case is not None:
                data = damaged(readers[name], _rng(chosen.seed, name, chosen.case))
                print(repr(data))
                print(repr(readers[name].read(data)))
                continue
            failures += try_reader(name, readers[name], chosen.seed, round(chosen.share * readers[name].cases))
    return min(failures, 1)


def try_reader(name: str, reader: Reader, seed: int, cases: int) -> int:
    """Try a reader's cases, print what came of them, and return the number of failures."""
    read, failures, slowest, begin = 0, 0, 0.0, time.perf_counter()
    for case in range(cases):
        data = damaged(reader, _rng(seed, name, case))
        start = time.perf_counter()
        try:
            with time_limit():
                reader.read(data)
            read += 1
        except PraemiaError:
            pass
        except (Exception, RecursionError) as error:
            failures += 1
            if failures <= 3:
                repeat = f"python tools/fuzz_readers.py --seed {seed} --reader {name} --case {case}"
                print(f"{name}: {type(error).__name__}: {str(error)[:100]}; to repeat it: {repeat}")
        slowest = max(slowest, time.perf_counter() - start)
    spent = time.perf_counter() - begin
    result = f"{cases:7,} cases  {read:7,} read  {failures:5,} failures  slowest {slowest:6.3f} s"
    print(f"{name:16} {result}  in {spent:5.0f} s", flush=True)
    return failures


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise TooSlow in what takes too long."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {SECONDS:g} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # processor time: other work beside it does not count
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def damaged(reader: Reader, rng: np.random.Generator) -> bytes:
    """Return an example that was changed at one place or several."""
    data = reader.examples[rng.integers(len(reader.examples))]
    for _ in range(int(rng.choice([1, 1, 1, 2, 3, 8]))):
        first, last = sorted(rng.integers(0, len(data) + 1, size=2).tolist())
        last = min(last, first + int(rng.choice([1, 4, 20, 1_000])))
        other = reader.examples[rng.integers(len(reader.examples))]
        start = int(rng.integers(0, len(other) + 1))
        change = rng.integers(6)
        if change == 0:
            data = data[:first] + data[last:]
        elif change == 1:
            data = data[:first] + data[first:last] * int(rng.choice([2, 3, 30])) + data[last:]
        elif change == 2:
            data = data[:first] + other[start : start + 30] + data[first:]
        elif change == 3:
            data = data[:first] + bytes(rng.integers(0, 256, size=1, dtype=np.uint8)) + data[first + 1 :]
        elif change == 4 and rng.random() < 0.2:
            data = data[:first]
        else:
            data = data[:first] + PIECES[rng.integers(len(PIECES))].encode() + data[first:]
    return data


def all_readers(folder: Path) -> dict[str, Reader]:
    """Return the readers, with examples that they accept; files are written to a folder."""
    task = praemia.envs.make("warehouse-3")
    machine = praemia.RewardMachine.from_ltlf("F(i & X F d)")
    texts = {
        "yaml": dump(machine).encode(),
        "json": dump_as_json(machine).encode(),
        "multiagent": MULTIAGENT,
        "txt": (EXAMPLES / "deliver.txt").read_bytes(),
        "dot": GRAPH,
        "hoa": (EXAMPLES / "response.hoa").read_bytes(),
    }
    by_format = {
        name: Reader((text,), _reader(FORMATS["json" if name == "multiagent" else name]), TEXTS)
        for name, text in texts.items()
    }
    return by_format | _texts() | _task_files(folder, task) | _archives(folder, task)


def _reader(form: Format) -> Callable[[bytes], Any]:
    return lambda data: form.read(_text(data), f"fuzz{form.suffixes[0]}")


def _texts() -> dict[str, Reader]:
    legend = {"i": "item", "d": "delivery"}
    limits = {"max_states": 300}  # reading is tried here; what is built has limits of its own
    return {
        "formula": Reader(
            (b"F(item & X F delivery)", b"G(a -> (b U c)) & !F(d & WX e)", b"Y (a S b) | O c -> H d"),
            lambda data: praemia.RewardMachine.from_ltlf(_text(data), **limits),
            TEXTS,
        ),
        "regex": Reader(
            (b"(!item)* item (!delivery)* delivery", b"(a | b & !c)+ d? (true)* e"),
            lambda data: praemia.RewardMachine.from_regex(_text(data), **limits),
            TEXTS,
        ),
        "guard": Reader((b"a & !(b | c)", b'"at(A)" | (x & y)', b"true"), lambda data: parse_guard(_text(data)), TEXTS),
        "grid": Reader(
            (b"S.|.i\n..+..\n-+|--\n.~|>d\n", b"S.#i\n..v.\n.#.d\n"),
            lambda data: GridMap(_text(data), legend).mdp(),
            TEXTS,
        ),
    }


def _task_files(folder: Path, task: praemia.Task) -> dict[str, Reader]:
    (folder / "task.yaml").write_text(dump(task))
    tasks = tuple(path.read_bytes() for path in [folder / "task.yaml", *sorted(EXAMPLES.glob("*.yaml"))])
    experiment = (
        b"tasks: [warehouse-4, task.yaml]\nlearners:\n  - ucbvi-prm\n  - {learner: headroom, title: b}\nruns: 4\n"
    )
    traces = b'[[["item"], 0.0], [[], 1.0]]\n[[[], 0.0], [["delivery", "item"], 0.5]]\n'
    return {
        "task": Reader(tasks, _from_file(folder / "fuzzed.yaml", praemia.load_task), FILES),
        "experiment": Reader((experiment,), _from_file(folder / "fuzzed-experiment.yaml", load_experiment), FILES),
        "traces": Reader((traces,), _from_file(folder / "fuzzed.jsonl", load_traces), TEXTS),
    }


def _archives(folder: Path, task: praemia.Task) -> dict[str, Reader]:
    run = praemia.simulate(task, praemia.learners.make("random"), num_episodes=20, seed=0)
    dataset = praemia.explore(task, num_episodes=20, seed=0)
    run.save(folder / "run.npz")
    dataset.save(folder / "data.npz")
    runs, data = (folder / "run.npz").read_bytes(), (folder / "data.npz").read_bytes()
    return {
        "run": Reader((runs,), _from_file(folder / "fuzzed.npz", praemia.Run.load), FILES),
        "dataset": Reader((data,), _from_file(folder / "fuzzed-data.npz", Dataset.load), FILES),
        **_stores(folder / "store"),
    }


def _stores(folder: Path) -> dict[str, Reader]:
    """Return a reader of a folder of runs for each kind of file that can be damaged in it."""
    with redirect_stdout(None):
        execute(f"run riverswim-3 --learner optimal --episodes 50 --runs 2 --out {folder} --json".split())
    kinds = {path.name.partition("-")[0]: path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        f"store-{kind}": Reader((path.read_bytes(),), _from_store(folder, path), FOLDERS // len(kinds))
        for kind, path in kinds.items()
    }


def _from_file(path: Path, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def read_bytes(data: bytes) -> Any:
        path.write_bytes(data)
        return read(path)

    return read_bytes


def _from_store(folder: Path, path: Path) -> Callable[[bytes], Any]:
    whole = path.read_bytes()

    def read_bytes(data: bytes) -> Any:
        path.write_bytes(data)
        try:
            return load_runs(folder).to_frame()
        finally:
            path.write_bytes(whole)

    return read_bytes


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _rng(seed: int, name: str, case: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode()), case])


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main())
