"""The page about explored data: text is escaped, and it is whole without matplotlib."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from machine_families import machine_family

from praemia import envs
from praemia.exploration import explore
from praemia.exploration.dataset import Dataset
from praemia.exploration.plan_from import MachineReport, machine_reports
from praemia.report.exploration_page import write_page


@pytest.fixture(scope="module")
def data() -> Dataset:
    return explore(envs.make("riverswim-5"), episodes=100, method="uncertainty")


@pytest.fixture(scope="module")
def rows(data: Dataset) -> list[MachineReport]:
    family = machine_family(sorted(data.labelling.propositions()), most=2)
    return machine_reports(data, family, None, draws=20)


def test_names_are_text_and_never_markup(data: Dataset, rows: list[MachineReport], tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    named = replace(data, sources=({**data.sources[0], "task": evil},))
    write_page(named, [replace(row, name=evil) for row in rows], None, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("&lt;script&gt;alert(1)") == 8  # the title, the heading and two rows, of a table and two forests
    assert text.count("<script") == 1  # the page's own


def test_the_page_needs_no_matplotlib(
    data: Dataset, rows: list[MachineReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    write_page(data, rows, None, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("<img") == 1  # the coverage
    assert all(text.count(row.name) >= 3 for row in rows)  # in the table and in both forests
