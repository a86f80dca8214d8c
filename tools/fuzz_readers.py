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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import praemia
from praemia.cli import execute
from praemia.envs.grid_map import GridMap
from praemia.errors import PraemiaError
from praemia.experiments.loading import load_experiment
from praemia.experiments.store import load_runs
from praemia.files.load_save import READERS
from praemia.files.writing import dump, dump_as_json
from praemia.inference import load_traces
from praemia.machines.syntax import parse_guard

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
    """Return an example with k edits: a stretch left out, repeated, or replaced by a piece of an example or of ours."""
    data, other = (reader.examples[rng.integers(len(reader.examples))] for _ in range(2))
    for _ in range(int(rng.choice([1, 1, 1, 2, 3, 8]))):
        first = int(rng.integers(0, len(data) + 1))
        last = min(len(data), first + int(rng.choice([0, 0, 1, 4, 20, 1_000, 10**9])))
        start = int(rng.integers(0, len(other) + 1))
        new = (
            b"",
            data[first:last] * int(rng.choice([2, 3, 30])),
            other[start : start + 30],
            rng.bytes(1),
            PIECES[rng.integers(len(PIECES))].encode(),
        )[rng.integers(5)]
        data = data[:first] + new + data[last:]
    return data


def all_readers(folder: Path) -> dict[str, Reader]:
    """Return the readers, with examples that they accept; files are written to a folder."""
    task = praemia.envs.make("warehouse-3")
    machine = praemia.RewardMachine.from_ltlf("F(i & X F d)")
    examples = {
        "yaml": dump(machine).encode(),
        "json": dump_as_json(machine).encode(),
        "multiagent": MULTIAGENT,
        "txt": (EXAMPLES / "deliver.txt").read_bytes(),
        "dot": GRAPH,
        "hoa": (EXAMPLES / "response.hoa").read_bytes(),
    }
    return {
        **{
            name: Reader((text,), partial(_read_text, READERS[form], f"fuzz.{form}"), TEXTS)
            for name, text in examples.items()
            for form in ("json" if name == "multiagent" else name,)
        },
        **_texts(),
        **_files(folder, task),
        **_stores(folder / "store"),
    }


def _read_text(read: Callable[[str, str], Any], name: str, data: bytes) -> Any:
    return read(_text(data), name)


def _texts() -> dict[str, Reader]:
    limits = {"max_states": 300}  # reading is tried here; what is built has limits of its own
    formulas = b"F(item & X F delivery)", b"G(a -> (b U c)) & !F(d & WX e)", b"Y (a S b) | O c -> H d"
    letters = b"(!item)* item (!delivery)* delivery", b"(a | b & !c)+ d? (true)* e"
    maps = b"S.|.i\n..+..\n-+|--\n.~|>d\n", b"S.#i\n..v.\n.#.d\n"
    guards = b"a & !(b | c)", b'"at(A)" | (x & y)', b"true"
    bounds = b"position < -1.0 and velocity > 0", b"not (0 <= x * 2 < 3 | before.y - action / 2 != 1e3)"
    readers: dict[str, tuple[tuple[bytes, ...], Callable[[str], Any]]] = {
        "formula": (formulas, lambda text: praemia.RewardMachine.from_ltlf(text, **limits)),
        "regex": (letters, lambda text: praemia.RewardMachine.from_regex(text, **limits)),
        "guard": (guards, parse_guard),
        "predicate": (bounds, lambda text: praemia.labels.predicates({"p": text})),
        "grid": (maps, lambda text: GridMap(text, {"i": "item", "d": "delivery"}).mdp()),
    }
    return {
        name: Reader(examples, partial(lambda read, data: read(_text(data)), read), TEXTS)
        for name, (examples, read) in readers.items()
    }


def _files(folder: Path, task: praemia.Task) -> dict[str, Reader]:
    run = praemia.simulate(task, praemia.learners.make("random"), num_episodes=20, seed=0)
    run.save(folder / "run.npz")
    praemia.explore(task, num_episodes=20, seed=0).save(folder / "data.npz")
    praemia.save_task(task, folder / "task.yaml")
    tasks = [folder / "task.yaml", *sorted(EXAMPLES.glob("*.yaml"))]
    experiment = (
        b"tasks: [warehouse-4, task.yaml]\nlearners:\n  - ucbvi-prm\n  - {learner: headroom, title: b}\nruns: 4\n"
    )
    traces = b'[[["item"], 0.0], [[], 1.0]]\n[[[], 0.0], [["delivery", "item"], 0.5]]\n'
    readers: dict[str, tuple[tuple[bytes, ...], Callable[[Path], Any]]] = {
        "task.yaml": (tuple(path.read_bytes() for path in tasks), praemia.load_task),
        "experiment.yaml": ((experiment,), load_experiment),
        "traces.jsonl": ((traces,), load_traces),
        "run.npz": (((folder / "run.npz").read_bytes(),), praemia.Run.load),
        "data.npz": (((folder / "data.npz").read_bytes(),), praemia.Dataset.load),
    }
    return {
        name.partition(".")[0]: Reader(examples, partial(_read_file, folder / f"fuzzed-{name}", read), FILES)
        for name, (examples, read) in readers.items()
    }


def _read_file(path: Path, read: Callable[[Path], Any], data: bytes) -> Any:
    path.write_bytes(data)
    return read(path)


def _stores(folder: Path) -> dict[str, Reader]:
    """Return a reader of a folder of runs for each kind of file that can be damaged in it."""
    with redirect_stdout(None):
        execute(f"run riverswim-3 --learner optimal --episodes 50 --runs 2 --out {folder} --json".split())
    kinds = {path.name.partition("-")[0]: path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        f"store-{kind}": Reader((path.read_bytes(),), partial(_read_store, folder, path), FOLDERS // len(kinds))
        for kind, path in kinds.items()
    }


def _read_store(folder: Path, path: Path, data: bytes) -> Any:
    whole = path.read_bytes()
    path.write_bytes(data)
    try:
        return load_runs(folder).to_frame()
    finally:
        path.write_bytes(whole)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _rng(seed: int, name: str, case: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode()), case])


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main())
