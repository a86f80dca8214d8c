"""Compiled code is kept in a place that can be written, wherever the package lies, and for these kernels alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from praemia.kernels import compiling

CODE = """
from praemia.kernels.compiling import CACHE_FOLDER
from praemia.kernels.exact import exact_kernels
import numba
import praemia
value = praemia.solve(praemia.envs.make("warehouse-2")).value
print(CACHE_FOLDER, value > 0.0, exact_kernels(4).solve._cache.cache_path, repr(numba.config.CACHE_DIR), sep="\\n")
"""


def run() -> list[str]:
    """Let a process of its own compile a kernel; where there is no terminal, it does so silently."""
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, text=True)
    assert not ran.stderr
    return ran.stdout.splitlines()


def chosen() -> Path:
    """Return the folder that a process chooses that starts now."""
    return Path(compiling._choose_folder())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder, not made yet, of a user whose temporary files have a place beside it."""
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / "home"


def test_code_is_kept_in_the_users_cache_folder(home: Path) -> None:
    folder, result, used, ours = run()
    assert Path(folder) == chosen()
    assert Path(folder).parent.name == "praemia"
    assert home in Path(folder).parents
    assert result == "True"
    assert used.startswith(folder)
    assert list(Path(folder).rglob("*.nbc")), "nothing was kept"
    assert ours == "''", "other people's functions keep their own place"


def test_the_users_own_choice_is_followed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = str(home / "chosen")
    monkeypatch.setenv("NUMBA_CACHE_DIR", own)
    folder, result, used, ours = run()
    assert result == "True"
    assert used.startswith(str(Path(own, Path(folder).name))), "other kernels, another folder"
    assert ours == repr(own)


def test_where_there_is_no_home_to_write_to_code_is_kept_with_temporary_files(home: Path) -> None:
    home.write_text("not a folder")
    assert chosen().parent.parent == home.parent


@pytest.mark.skipif(getattr(os, "getuid", lambda: 1)() != 0, reason="only root can give a folder away")
def test_a_folder_that_belongs_to_somebody_else_is_not_used(home: Path) -> None:
    home.write_text("not a folder")
    first = chosen()
    os.chown(first, 12345, 12345)
    assert compiling._choose_folder() == "", "nothing is kept"


def test_a_folder_that_others_can_write_to_is_not_used(home: Path) -> None:
    first = chosen()
    assert home in first.parents
    first.parent.chmod(0o777)
    second = chosen()
    assert second != first
    assert second.parent.parent == home.parent


def test_folders_of_other_kernels_are_removed_once_nobody_used_them_for_a_month(home: Path) -> None:
    own = chosen()
    day = 24 * 3600
    ages = {own: 90, own.parent / "kernels-0000000a": 40, own.parent / "kernels-0000000b": 20, own.parent / "mine": 90}
    for folder, days in ages.items():
        (folder / "code").mkdir(parents=True, exist_ok=True)
        (folder / "code" / "kept.nbc").write_bytes(b"compiled")
        os.utime(folder, (time.time() - days * day,) * 2)
    assert chosen() == own
    assert {path.name for path in own.parent.iterdir()} == {own.name, "kernels-0000000b", "mine"}
    assert time.time() - own.stat().st_mtime < day, "it is in use"
    assert (own / "code" / "kept.nbc").exists()


def test_several_that_start_at_once_remove_unused_folders_without_an_error(home: Path) -> None:
    own = chosen()
    for number in range(200):
        folder = own.parent / f"kernels-{number:08x}"
        (folder / "code").mkdir(parents=True)
        os.utime(folder, (0, 0))
    with ThreadPoolExecutor(4) as several:
        started = [several.submit(chosen) for _ in range(4)]
    assert {start.result() for start in started} == {own}
    assert [path.name for path in own.parent.iterdir()] == [own.name]


ON_A_TERMINAL = """
import sys
sys.stderr.isatty = lambda: True
import praemia
task = praemia.envs.make("warehouse-2")
praemia.evaluate(task, praemia.solve(task))
"""


def test_users_of_python_are_told_once_that_something_is_compiled(home: Path) -> None:
    for expected in ([compiling.Announcement.message], []):
        ran = subprocess.run([sys.executable, "-c", ON_A_TERMINAL], capture_output=True, check=True, text=True)
        assert ran.stderr.splitlines() == expected, "what was compiled once is not compiled again"


NOWHERE = "import tempfile; tempfile._candidate_tempdir_list = lambda: []"


@pytest.mark.parametrize(("code", "place"), [("import sys; sys.stderr = None", "below"), (NOWHERE, None), ("", "")])
def test_no_place_for_code_and_no_place_for_words_are_no_errors(
    home: Path, monkeypatch: pytest.MonkeyPatch, code: str, place: str | None
) -> None:
    home.write_text("not a folder")
    if place is not None:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(home / place))
    code += "\nimport praemia; print(praemia.solve(praemia.envs.make('warehouse-2')).value > 0.0)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


IN_TWO_THREADS = """
from concurrent.futures import ThreadPoolExecutor
import praemia
tasks = [praemia.envs.make(name) for name in ("warehouse-2", "random-4x2x9-0")]
def value(task):
    return praemia.evaluate(task, praemia.solve(task)).value
with ThreadPoolExecutor(2) as pool:
    together = list(pool.map(value, tasks))
print(together == [value(task) for task in tasks])
"""


def test_two_threads_may_compile_at_once(home: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", IN_TWO_THREADS], capture_output=True, check=True, text=True)
    assert ran.stdout == "True\n"
    assert not ran.stderr


def test_kernels_compiled_by_several_processes_do_not_take_parts_of_each_other(tmp_path: Path) -> None:
    """What a kernel calls is found by name when it is loaded from disk: here by a process that loads two of them."""
    code = (
        "import sys, praemia\n"
        "for size in sys.argv[1:]:\n"
        "    task = praemia.envs.make(f'random-3x2x{size}-0', horizon=4)\n"
        "    print(praemia.solve(task).values.tobytes().hex())\n"
    )

    def solve(*sizes: str) -> list[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", code, *sizes]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    apart = [*solve("4"), *solve("9")]
    assert solve("4", "9") == apart
    assert solve("9", "4") == apart[::-1]
