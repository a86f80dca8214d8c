"""The wheel and the source archive: whole, of one version, and enough to work with where the repository is not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DATA = {".css", ".j2", ".js", ".pyi", ".typed"}
BUILD = "import sys, hatchling.build as build; print(getattr(build, sys.argv[1])(sys.argv[2]))"


def built(kind: str, folder: Path, source: Path = ROOT) -> Path:
    """Build a wheel or a source archive as an installer would, without its isolation."""
    command = [sys.executable, "-c", BUILD, kind, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("build_wheel", tmp_path_factory.mktemp("wheel"))


def package_files() -> set[str]:
    files = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / "src").as_posix() for path in files if path.suffix != ".pyc"}


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = package_files()
    assert {name for name in names if name.startswith("praemia/")} == expected
    assert {Path(name).suffix for name in expected} >= {".py", *DATA}
    assert "praemia/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_says_what_the_project_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (place,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(place).decode()
        entry_points = archive.read(place.replace("METADATA", "entry_points.txt")).decode()
    assert f"\nVersion: {PROJECT['version']}\n" in metadata
    assert re.findall(r"^Provides-Extra: (.*)$", metadata, re.MULTILINE) == sorted(PROJECT["optional-dependencies"])
    assert "praemia = praemia.cli:main" in entry_points


def test_the_source_archive_is_enough_to_build_and_test(tmp_path: Path) -> None:
    with tarfile.open(built("build_sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in package_files()} <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "Makefile", "tests/conftest.py"} <= names
    assert not [name for name in names if name.startswith((".venv", "results", "dist"))]


def test_the_source_archive_leaves_out_what_else_lies_in_the_folder(tmp_path: Path) -> None:
    kept = {"LICENSE", "README.md", "pyproject.toml"}
    for name in kept:
        shutil.copy(ROOT / name, tmp_path)
    for name in ("src/praemia/__init__.py", "Makefile", "notes.txt", "runs/runs.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with tarfile.open(built("build_sdist", tmp_path / "dist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == kept | {"src/praemia/__init__.py", "Makefile", "PKG-INFO"}


def test_the_version_is_written_once_and_cited_alike() -> None:
    version = PROJECT["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (?!Unreleased)(.*)$", changes, re.MULTILINE)[0] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    sources = [path for path in (ROOT / "src").rglob("*.py") if f'"{version}"' in path.read_text(encoding="utf-8")]
    assert sources == [], "the package reads its version from its metadata"


FIRST_LINES = """
import praemia
task = praemia.envs.make("riverswim-5")
print(praemia.__version__, praemia.simulate(task, praemia.Headroom(), 100, 0).regret[-1] > 0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["build_wheel", "build_sdist"])
def test_it_installs_into_an_empty_environment_and_works_there(kind: str, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")

    def ran(*command: str) -> str:
        done = subprocess.run(
            [str(scripts / command[0]), *command[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    ran("python", "-m", "pip", "install", "--quiet", str(built(kind, tmp_path)))
    assert ran("praemia", "--version") == f"praemia {PROJECT['version']}\n"
    assert ran("python", "-c", FIRST_LINES) == f"{PROJECT['version']} True\n"
    assert "headroom" in ran("praemia", "run", "riverswim-5", "--episodes", "100", "--runs", "1")
    where = ran("python", "-c", "import praemia; print(praemia.__file__)")
    assert str(tmp_path) in where
