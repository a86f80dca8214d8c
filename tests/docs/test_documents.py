"""The documents say what is true: their code runs and prints what they show, their links lead somewhere."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import praemia
from praemia import cli
from praemia.envs.registry import FAMILIES
from praemia.experiments.loading import load_experiment
from praemia.files.load_save import load_task
from praemia.learners.registry import BUILT_IN

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "praemia"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])
# The site's build runs the tutorials, and refuses what is not as shown.
RUN_HERE = [path for path in DOCUMENTS if path.parent.name != "tutorials"]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
SHOWN = runpy.run_path(str(ROOT / "tools" / "shown_output.py"))
PHONY = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0].split()
FORBIDDEN = ("/work", "shared/", "/home/", "/tmp/", "pypi", "localhost")
WORLDS = ("mdp:", "grid:", "environment:", "gymnasium:")


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


named = each(DOCUMENTS)


def blocks(path: Path, *languages: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a document in some languages, in order, as (language, text)."""
    found: list[tuple[str, str]] = SHOWN["blocks"](path.read_text(encoding="utf-8"), *languages)
    return found


@each(RUN_HERE)
def test_code_runs_in_order_and_prints_what_is_shown(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("template")  # a backend that shows nothing
    if "from IPython" in path.read_text(encoding="utf-8"):
        pytest.importorskip("IPython", reason="no IPython here: a notebook was not run (pip install 'praemia[docs]')")
    if any("stable_baselines3" in code for _, code in blocks(path, "python")):
        pytest.importorskip("stable_baselines3", reason="run by make test-deep")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(path, *SHOWN["LANGUAGES"]):
        if any(f"import {name}\n" in block[1] and find_spec(name) is None for name in ("torch", "jax")):
            continue  # run by make test-deep
        for part in SHOWN["parts"](*block):
            SHOWN["require_agreement"](part, SHOWN["run"](part, namespace))


@named
def test_no_output_is_left_out(path: Path) -> None:
    for block in blocks(path, "console"):
        assert [part for part in SHOWN["parts"](*block) if "\n…\n" in f"\n{part.shown}"] == []


@named
def test_yaml_blocks_that_are_task_files_load(path: Path, tmp_path: Path) -> None:
    for _, text in blocks(path, "yaml"):
        if text.startswith(WORLDS):
            (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
            load_task(tmp_path / "task.yaml")


@named
def test_yaml_blocks_that_are_parts_of_an_experiment_load_together(path: Path, tmp_path: Path) -> None:
    parts = [text for _, text in blocks(path, "yaml") if text.startswith(("tasks:", "claims:"))]
    if parts:
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
        (tmp_path / "mine.yaml").write_text("".join(parts), encoding="utf-8")
        load_experiment(tmp_path / "mine.yaml")


@named
def test_relative_links_lead_to_files_and_headings(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file, _, heading = target.partition("#")
        linked = path.parent / file if file else path
        assert linked.exists(), f"{path.name} links to {target}"
        if heading:
            assert heading in headings(linked), f"{path.name} links to {target}"


def headings(path: Path) -> set[str]:
    """Return the anchors of a document's headings."""
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@named
def test_documents_stand_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [word for word in FORBIDDEN if word in text] == []


@named
def test_commands_that_are_named_exist(path: Path) -> None:
    if path.name == "CHANGELOG.md":
        pytest.skip("a changelog names commands that are gone")
    used = set(re.findall(r"`praemia ([a-z]+)", path.read_text(encoding="utf-8")))
    assert used <= set(cli.COMMANDS)


@named
def test_scripts_and_make_targets_that_are_named_exist(path: Path) -> None:
    if path.name == "CHANGELOG.md":
        pytest.skip("a changelog names scripts that are gone")
    text = path.read_text(encoding="utf-8")
    scripts = set(re.findall(r"(?<![\w./])(?:[\w-]+/)+[\w-]+\.py\b", text))
    assert [name for name in scripts if not any((base / name).is_file() for base in (ROOT, PACKAGE))] == []
    targets = set(re.findall(r"(?:^|`|\$ )make ([a-z-]+)", text, re.MULTILINE))
    assert targets <= set(PHONY)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_is_one_screen_with_a_moving_picture_six_lines_of_code_and_three_doors() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    order = ["tasks with memory and chance", "episode.gif)", "lost.svg)", "pip install", "```python"]
    doors = ["compare-learners.md)", "own-gymnasium.md)", "first-machine.md)"]
    places = [text.index(words) for words in [*order, *doors, "environments.svg)", "make reproduce", "make test"]]
    assert places == sorted(places)
    (_, code), *_ = blocks(ROOT / "README.md", "python")
    assert len([line for line in code.splitlines() if line]) <= 6
    assert text.count("→](") == 3
    assert len(text.splitlines()) <= 60
    assert len(re.findall(r"(?<!!)\[[^]]*\]\(", text)) <= 20


def test_every_page_has_one_place_in_the_site() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    placed = re.findall(r"\S+\.md$", text[text.index("\nnav:") :], re.MULTILINE)
    assert len(placed) == len(set(placed))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert pages - set(placed) == set()


def test_every_command_has_a_place_in_the_table() -> None:
    text = (ROOT / "docs/how-to/command-line.md").read_text(encoding="utf-8")
    assert [name for name in cli.COMMANDS if f"`praemia {name}" not in text] == []


def test_every_environment_is_described_under_the_same_headings() -> None:
    text = (ROOT / "docs/reference/environments.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(sections) == len(FAMILIES)
    expected = ["Description", "Observations", "Actions", "Labels", "Machine", "Horizon", "Names"]
    for section, (family, entry) in zip(sections, FAMILIES.items(), strict=True):
        bold = re.findall(r"^\*\*(.*?)\.\*\*", section, re.MULTILINE)
        assert bold == expected, family
        assert entry.gymnasium_id in section


def test_the_page_on_learners_leads_to_the_recursion_of_each() -> None:
    """On the site such a line is replaced by what the module says."""
    text = (ROOT / "docs/reference/learners.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\[[^]]*\]\(\.\./\.\./src/praemia/learners/(\w+)\.py\)$", text, re.MULTILINE)
    homes = [place.partition(":")[0].rpartition(".")[2] for place in BUILT_IN.values()]
    assert linked == list(dict.fromkeys(homes))


def test_every_learner_is_explained() -> None:
    text = (ROOT / "docs/concepts/theory.md").read_text(encoding="utf-8")
    assert [name for name in praemia.learners.names() if f"`{name}`" not in text] == [], "not in theory.md"


def test_the_page_on_architecture_has_a_row_for_every_room() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", ARCHITECTURE, re.MULTILINE))


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_lists_every_command_with_its_time() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = dict(re.findall(r"^  make (\S+) +\S.*  (\S.*)$", shown, re.MULTILINE))
    assert set(PHONY) - {"help"} <= listed.keys()
    assert [name for name, time in listed.items() if not re.match(r"(about )?[\d.]+ min|seconds", time)] == []
