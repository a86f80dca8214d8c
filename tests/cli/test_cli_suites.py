"""``praemia league --suite``: a tiny suite from the command to the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from praemia.cli import execute
from praemia.experiments import suites
from praemia.experiments.suites import QR_MAX_TOLD, Benchmark


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    published = {QR_MAX_TOLD: 100, "CRM": 1_000}
    benchmarks = tuple(Benchmark(f"office-jair-t{number}", 40, 2_500, published) for number in (1, 2))
    small = replace(suites.SUITES["office"], benchmarks=benchmarks, learners=("qr-max",))
    monkeypatch.setitem(suites.SUITES, "office", small)


@pytest.mark.usefixtures("tiny")
def test_a_suite_prints_its_table_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["league", "--suite", "office", "--learner", "crm", "--learner", "optimal", "--runs", "2", "--jobs", "1"]
    assert execute([*command, "--out", str(tmp_path / "runs")]) == 0
    lines = capsys.readouterr().out.splitlines()
    columns = "task learner to 0.9 to 0.95 to 0.99 played learned to 0.95 t test learned t test published seconds"
    assert " ".join(lines[0].split()) == columns
    assert len([line for line in lines if line.startswith("office-jair-t")]) == 4
    optimal = next(line for line in lines if " optimal " in line)
    assert optimal.split()[2:5] == ["0", "0", "0"]
    page = (tmp_path / "runs" / "report.html").read_text()
    assert "The suite office" in page
    assert re.search(r"<h1[^>]*>\s*The office of QR-Max", page)
    assert "The office of QR-Max, with moves that slip: steps to the optimum, 2 runs of each learner." in page
    assert (tmp_path / "runs" / "figures" / "suite-office.png").is_file()
    # Run again, nothing is played, and the same is printed as data.
    assert execute([*command, "--out", str(tmp_path / "runs"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    line = next(line for line in data["lines"] if line["learner"] == "CRM")
    assert line["published"] == 1_000
    assert set(line["steps"]) == {"0.9", "0.95", "0.99"}
    assert [len(steps) for steps in line["steps"].values()] == [2, 2, 2]
    # Another learner joins those that are there.
    assert execute([*command[:3], "--learner", "random", *command[-4:], "--out", str(tmp_path / "runs"), "--json"]) == 0
    assert {line["learner"] for line in json.loads(capsys.readouterr().out)["lines"]} == {"CRM", "optimal", "random"}
    # ``report`` finds the suite in the folder.
    assert execute(["report", str(tmp_path / "runs")]) == 0
    assert "The suite office" in (tmp_path / "runs" / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--suite", "offices"], "unknown suite 'offices'"),
        (["--suite", "office", "--task", "warehouse-3"], "--suite cannot be combined with --task"),
        (["--suite", "office", "--full", "--episodes", "5"], "--suite cannot be combined with --full, --episodes"),
        (["--suite", "office", "--learner", "nobody"], "unknown learner 'nobody'"),
    ],
)
def test_bad_input_is_one_message(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["league", *arguments, "--out", str(tmp_path / "runs")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
