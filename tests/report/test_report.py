"""The report: whole, the same for the same store, and alive in a real browser without a network."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import REQUIRE, Page, browser, find_browser
from stored_runs import CORRECT, FLOWERS, KIND, PRM, fill, made_up, small

from praemia.cli import execute
from praemia.errors import MissingExtraError
from praemia.experiments.runner import run_into_store
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.experiments.store import Store
from praemia.report import page as report_page
from praemia.simulation.run import STREAMS
from praemia.statistics.stored_runs import discover, gather

pytest.importorskip("plotly")

CURVES = "document.querySelector('#curves-paper')"
ENTRIES = f"[...{CURVES}.querySelectorAll('.legend .traces')]"


def write_report(store: Store, path: Path, experiments: Iterable[Experiment] | None = None) -> Path:
    """Write the report, without figures, on some experiments or on all that the store was asked for."""
    found = discover(store) if experiments is None else gather(store, experiments)
    return report_page.write_report(*found, path, figures=False)[0]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store.create(tmp_path_factory.mktemp("runs") / "store")
    return fill(store, {**KIND, ("riverswim-15", CORRECT): 5.0}, small())


@pytest.fixture(scope="module")
def report(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(store, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def page(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.open(report)
        yield page


def _drawn(page: Page) -> int:
    """Count the curves in the page, bands left out."""
    lines = f"[...{CURVES}.querySelectorAll('.scatterlayer path.js-line')]"
    return int(page.ask(f"{lines}.filter(line => line.style.strokeWidth !== '0px').length"))


def test_claims_come_first_each_with_its_verdict(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert text.index('id="claims"') < text.index('id="study-paper"') < text.index('id="made"')
    assert '<section class="claim failed" id="claim-correct-intervals">' in text
    assert '<section class="claim held" id="claim-warehouse-lowest">' in text
    assert '<section class="claim open" id="claim-horizon">' in text
    assert "UCBVI-PRM is lower in 5 of 6; UCRL2-RM-B is lower in 1 of 6" in text


def test_the_three_outcomes_can_be_told_apart(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for kind, badge in (("held", "held"), ("failed", "did not hold"), ("open", "not decided")):
        assert re.search(rf'<section class="claim {kind}" [^>]*><h3><span class="badge">{badge}</span>', text)
    assert "Not decided: runs missing." in text
    few = fill(Store.create(tmp_path / "store"), KIND, small(num_runs=4))
    text = write_report(few, tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="claim held"' not in text
    assert "Not decided: too few runs (4; at least 8 are needed)." in text


def test_runs_of_other_random_streams_are_told_and_never_mixed(tmp_path: Path) -> None:
    few = {key: regret for key, regret in KIND.items() if key[0] in ("riverswim-5", FLOWERS[0])}
    store = fill(Store.create(tmp_path / "store"), few, small(num_runs=2))
    for job in small(num_runs=4)[0].jobs()[:20]:
        store.write(made_up(replace(job, streams=STREAMS - 1), 500.0))
    studies, _ = discover(store)
    streams = {study.name: {run.streams for series in study.series for run in series.runs} for study in studies}
    assert streams == {"paper": {STREAMS}, "machine-size": {STREAMS}, "other": {STREAMS - 1}}
    text = write_report(store, tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"revision {STREAMS - 1} and {STREAMS} of the random streams" in text
    assert f"seed 0, random streams {STREAMS - 1}" in text
    assert "random streams" not in write_report(store, tmp_path / "asked.html", small(2)).read_text(encoding="utf-8")


@pytest.mark.parametrize("kept", [True, False])
def test_a_final_policy_that_was_stored_is_shown_on_its_map(kept: bool, tmp_path: Path) -> None:
    choices = (LearnerChoice.of("random"), LearnerChoice.of("optimal"))
    setting = Setting(TaskText.builtin("warehouse-3"), choices, num_runs=1, num_episodes=5)
    store = Store.create(tmp_path / "store")
    assert run_into_store(setting.jobs(), store, num_workers=1, keep_policies=kept) == []
    text = write_report(store, tmp_path / "report.html", [Experiment("mine", "try", (setting,))]).read_text("utf-8")
    assert (f"the final policy of {choices[1].title} on warehouse-3" in text) == kept
    assert f"the final policy of {choices[0].title}" not in text


def test_the_report_says_how_to_repeat_it(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "praemia reproduce --only paper\npraemia reproduce --only machine-size" in text
    for part in ("bonus_scale = 0.001", "0-0 … 0-7", "numba"):
        assert part in text


def test_plotlys_script_is_there_once_and_the_rest_is_small(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert text.count("* plotly.js v") == 1
    assert len(text) < 8_000_000


def test_the_same_store_gives_the_same_report(store: Store, report: Path, tmp_path: Path) -> None:
    assert write_report(store, tmp_path / "again.html").read_bytes() == report.read_bytes()


def test_no_runs_no_report(tmp_path: Path) -> None:
    fill(Store.create(tmp_path / "store"), KIND, small(1)[1:])
    for file in Store.open(tmp_path / "store").files():
        file.unlink()
    assert execute(["report", str(tmp_path / "store")]) == 2
    assert not (tmp_path / "store" / "report.html").exists()


def test_damaged_files_are_named_in_the_report(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path / "store"), {("riverswim-5", PRM): 3.0}, small(num_runs=3))
    store.files()[0].write_bytes(b"")
    report, *figures = report_page.write_report(*discover(store), tmp_path / "report.html", figures=True)
    assert "1 damaged file left out" in report.read_text(encoding="utf-8")
    assert {path.parent for path in figures} == {tmp_path / "figures"}


def test_names_from_files_are_text_and_never_markup(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    choice = LearnerChoice.of("ucbvi-prm", title=evil)
    task = TaskText(evil, TaskText.builtin("riverswim-5").text)
    mine = Experiment(evil, evil, (Setting(task, (choice,), 2, 100),))
    store = Store.create(tmp_path / "store")
    for job in mine.jobs():
        store.write(made_up(job, 3.0))
    text = write_report(store, tmp_path / "report.html", [mine]).read_text(encoding="utf-8")
    assert "alert(1)" in text
    assert "<script>alert" not in text


def test_without_plotly_there_is_a_hint_and_nothing_is_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'plotly>="):
        write_report(store, tmp_path / "report.html", small())
    assert list(tmp_path.iterdir()) == []


def test_a_missing_browser_is_a_skip_or_where_one_is_required_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv(REQUIRE, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no chromium"):
        find_browser()
    monkeypatch.setenv(REQUIRE, "1")
    with pytest.raises(pytest.fail.Exception, match="no chromium"):
        find_browser()


def test_the_browser_draws_every_curve(page: Page) -> None:
    page.wait_until(f"{ENTRIES}.length === 5")
    assert page.ask("document.querySelectorAll('.curves .main-svg').length") > 0
    assert page.ask(f"{CURVES}.data.length") == 6 * 5 * 2  # six settings, five learners, a curve and a band
    assert _drawn(page) == 30
    assert page.ask(f"{CURVES}.querySelectorAll('.scatterlayer path.js-fill').length") == 30


def test_a_click_on_a_name_hides_its_curves_and_another_shows_them(page: Page) -> None:
    page.wait_until(f"{ENTRIES}.length === 5")
    before = _drawn(page)
    toggle = f"{ENTRIES}.find(e => e.textContent === 'UCRL2-RM-B as published').querySelector('.legendtoggle')"
    page.click(toggle)
    hidden = f"{CURVES}.data.filter(t => t.visible === 'legendonly').length"
    page.wait_until(f"{hidden} === 12")  # a curve and a band in each of six panels
    assert _drawn(page) == before - 6
    page.ask("new Promise(done => setTimeout(done, 600))")  # else it would be a double click
    page.click(toggle)
    page.wait_until(f"{hidden} === 0")
    assert _drawn(page) == before


def test_the_button_changes_the_axes(page: Page) -> None:
    page.click("document.querySelector('[data-target=curves-paper] [data-scale=log]')")
    page.wait_until(f"{CURVES}._fullLayout.xaxis6.type === 'log' && {CURVES}._fullLayout.yaxis.type === 'log'")
    page.click("document.querySelector('[data-target=curves-paper] [data-scale=linear]')")
    page.wait_until(f"{CURVES}._fullLayout.xaxis6.type === 'linear'")


def test_no_button_leads_out_of_the_page(page: Page) -> None:
    page.wait_until(f"{ENTRIES}.length === 5")
    names = page.ask(f"[...{CURVES}.querySelectorAll('.modebar-btn')].map(b => b.dataset.title || b.dataset.attr)")
    assert len(names) == 6
    assert not any(word in name.lower() for name in names for word in ("share", "cloud", "edit", "plotly"))
    assert page.ask("[...document.querySelectorAll('a')].every(a => a.getAttribute('href').startsWith('#'))")


def test_the_page_asks_for_nothing_and_complains_of_nothing(page: Page) -> None:
    page.wait_until(f"{ENTRIES}.length === 5")
    assert page.complaints() == []
    outside = [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert len([url for url in page.requests() if url.startswith("file:")]) == 1
