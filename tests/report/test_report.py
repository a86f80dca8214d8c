"""The report: whole, the same for the same store, and alive in a real browser without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import REQUIRE, Page, browser, find_browser
from stored_runs import CORRECT, KIND, PRM, PRODUCT, fill, made_up, small

from praemia.cli import execute
from praemia.experiments.runner import run_into_store
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.experiments.store import Store
from praemia.report import page as report_page
from praemia.statistics.stored_runs import discover, gather

CURVES = "document.querySelector('.overview .charts')"
LEARNERS = 7  # in the paper's settings
SMALL = 390  # pixels: the width of a phone


def write_report(store: Store, path: Path, experiments: Iterable[Experiment] | None = None) -> Path:
    """Write the report, without figures, on some experiments or on all that the store was asked for."""
    found = discover(store) if experiments is None else gather(store, experiments)
    return report_page.write_report(found, store.damaged.values(), path, figures=False)[0]


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
    """Count the curves of the first screen that can be seen."""
    return int(page.ask(f"[...{CURVES}.querySelectorAll('.line')].filter(line => line.getClientRects().length).length"))


def test_the_page_opens_with_verdicts_ratios_and_curves_and_a_section_for_each_question_follows(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    parts = ('class="strip"', 'class="ratios"', 'class="charts"', 'id="paper"', 'id="machine-size"', 'id="made"')
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert '<section class="claim failed" id="claim-correct-intervals">' in text
    assert '<section class="claim held" id="claim-warehouse-lowest">' in text
    assert "UCBVI-PRM is lower in 5 of 6; UCRL2-RM-B is lower in 1 of 6" in text
    assert "The paper's claims: 8 held." in html.unescape(text)
    assert '<a href="#machine-size">Regret against the number of machine states</a>' in text
    assert "claim-horizon" not in text  # nobody asked for these runs


def test_the_three_outcomes_can_be_told_apart(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for kind, badge in (("held", "held"), ("failed", "did not hold")):
        assert re.search(rf'<section class="claim {kind}" [^>]*><h3><span class="badge">{badge}</span>', text)
    few = fill(Store.create(tmp_path / "store"), KIND, small(num_runs=4))
    text = write_report(few, tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="claim held"' not in text
    assert '<section class="claim open" id="claim-machine-size"><h3><span class="badge">not decided</span>' in text
    assert "Not decided: too few runs (4; at least 8 are needed)." in text


@pytest.mark.parametrize("kept", [True, False])
def test_a_policy_that_was_stored_is_shown_on_its_map(kept: bool, tmp_path: Path) -> None:
    choices = (LearnerChoice.of("random"), LearnerChoice.of("optimal"))
    setting = Setting(TaskText.builtin("warehouse-3"), choices, num_runs=1, num_episodes=5)
    store = Store.create(tmp_path / "store")
    assert run_into_store(setting.jobs(), store, num_workers=1, keep_policies=kept) == []
    text = write_report(store, tmp_path / "report.html", [Experiment("mine", "try", (setting,))]).read_text("utf-8")
    assert (f"<figcaption>{choices[1].title} on warehouse-3</figcaption>" in text) == kept
    assert f"<figcaption>{choices[0].title} on" not in text


def test_the_report_says_how_to_repeat_it(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "praemia reproduce --only paper\npraemia reproduce --only machine-size" in text
    for part in ("bonus_scale = 0.001", "0-0 … 0-7", "numba"):
        assert part in text


def test_a_report_is_small(report: Path) -> None:
    assert report.stat().st_size < 4_000_000


def test_ones_own_experiment_is_headed_by_its_name_and_repeated_by_its_command(tmp_path: Path) -> None:
    file, out = tmp_path / "my-study.yaml", tmp_path / "out"
    file.write_text("tasks: [riverswim-3]\nlearners: [optimal, random]\nruns: 2\nepisodes: 20\n")
    assert execute(["experiment", str(file), "--out", str(out), "--jobs", "1"]) == 0
    for path in (out / "report.html", write_report(Store.open(out), tmp_path / "again.html")):
        text = path.read_text(encoding="utf-8")
        assert "<h1>my-study</h1>" in text
        assert f"praemia experiment {file}" in text
        assert "Learners in pairs: 1 comparison<" in text
        assert "reproduce" not in text


def test_regret_is_called_exact_only_where_it_is(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path / "store"), {}, small(2))
    for job in small(2)[1].jobs():
        run = made_up(job, 3.0)
        store.write(replace(run, path_losses=np.diff(run.regret, prepend=0.0)) if run.title == PRM else run)
    text = write_report(store, tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"not sampled. Only {PRM} replans within episodes; its regret sums what the actions taken lose" in text
    assert "unbiased, but not exact" in text


def test_nothing_counts_in_bad_grammar(report: Path, tmp_path: Path) -> None:
    one = fill(Store.create(tmp_path / "store"), {("riverswim-5", PRM): 3.0}, small(num_runs=1))
    for path in (report, write_report(one, tmp_path / "one.html")):
        text = re.sub("<[^>]*>", " ", path.read_text(encoding="utf-8"))
        assert re.findall(r"\b1 (?:are|runs|tasks|learners|comparisons|episodes|states)\b", text) == []
        assert re.findall(r"\b(?:0|[2-9]|\d\d+) (?:is not|run of|task\b|learner on)", text) == []


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
    report, *figures = report_page.write_report(
        discover(store), store.damaged.values(), tmp_path / "report.html", figures=True
    )
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


def test_a_missing_browser_is_a_skip_or_where_one_is_required_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv(REQUIRE, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no chromium"):
        find_browser()
    monkeypatch.setenv(REQUIRE, "1")
    with pytest.raises(pytest.fail.Exception, match="no chromium"):
        find_browser()


def test_the_browser_draws_every_curve(page: Page) -> None:
    assert _drawn(page) == 6 * LEARNERS
    assert page.ask("document.querySelectorAll('.overview .mark').length") == 6 * (LEARNERS - 1)
    assert page.ask("document.querySelectorAll('.legend').length") == 2
    assert page.ask("getComputedStyle(document.querySelector('.overview .line')).stroke") != "none"


def test_a_click_on_a_name_hides_its_curves_and_another_shows_them(page: Page) -> None:
    key = "[...document.querySelectorAll('.overview .legend button')].find(b => b.dataset.key === 'UCBVI')"
    page.click(key)
    assert _drawn(page) == 6 * (LEARNERS - 1)
    assert page.ask(f"({key}).getAttribute('aria-pressed')") == "false"
    page.click(key)
    assert _drawn(page) == 6 * LEARNERS
    page.ask(f"({key}).dispatchEvent(new MouseEvent('dblclick'))")
    assert _drawn(page) == 6
    page.ask(f"[...document.querySelectorAll('.overview .legend button')].forEach(b => b === {key} || b.click())")
    assert _drawn(page) == 6 * LEARNERS


def test_the_buttons_choose_the_axes(page: Page) -> None:
    charts = "[...document.querySelectorAll('.overview .chart')].filter(c => c.getClientRects().length)"
    kinds = f"[...new Set({charts}.flatMap(c => [c.dataset.x, c.dataset.y].map(d => d.split(' ')[0])))]"
    for scale in ("log", "linear"):
        page.click(f"document.querySelector('.overview .switch [data-scale={scale}]')")
        assert page.ask(kinds) == [scale]


def test_the_pointer_reads_values_off_a_chart(page: Page) -> None:
    """Regrets that rise by 0.8 and then as much again: the last of the small RiverSwim, to the width of a pixel."""
    page.click("document.querySelector('.overview .switch [data-scale=linear]')")
    plot = "[...document.querySelectorAll('.overview .plot')].filter(c => c.getClientRects().length)[0]"
    page.ask(f"({plot}).scrollIntoView({{block: 'center'}})")
    box = page.ask(f"(() => {{ const b = ({plot}).getBoundingClientRect(); return [b.right, b.y, b.height] }})()")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] - 1.0, y=box[1] + box[2] / 2)
    page.wait_until("!document.querySelector('.reading').hidden")
    lines = page.ask("document.querySelector('.reading').textContent").splitlines()
    values = {name: float(value) for value, name in (line.split("  ") for line in lines[1:])}
    assert values[PRM] == pytest.approx(10.0, rel=0.1)
    assert values[PRODUCT] == pytest.approx(2.0 * values[PRM], rel=0.02)


def test_a_verdict_leads_to_its_card(page: Page) -> None:
    page.click("document.querySelector('.strip a[href=\"#claim-correct-intervals\"]')")
    page.wait_until("location.hash === '#claim-correct-intervals'")
    page.wait_until("document.querySelector('#claim-correct-intervals').getBoundingClientRect().top < innerHeight")
    links = "[...document.querySelectorAll('.strip a, nav a')]"
    assert page.ask(f"{links}.every(a => document.querySelector(a.getAttribute('href')))")


def test_on_a_phone_nothing_leaves_the_screen_and_plots_stand_one_below_the_other(page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=SMALL, height=844, deviceScaleFactor=1, mobile=True)
    page.ask("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.ask("[innerWidth, document.documentElement.scrollWidth]") == [SMALL, SMALL]
    lefts = f"[...{CURVES}.querySelectorAll('.panel')].map(p => p.getBoundingClientRect().left)"
    assert len(set(page.ask(lefts))) == 1
    assert page.ask("document.querySelector('.strip').getBoundingClientRect().bottom + scrollY") < 844
    page.ask("document.querySelectorAll('details').forEach(d => { d.open = false })")
    page.call("Emulation.clearDeviceMetricsOverride")


def test_a_dark_page_is_dark_and_its_curves_are_not(page: Page) -> None:
    brightness = "(c => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 765)"
    for scheme, page_is_bright in (("dark", False), ("light", True)):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colour = page.ask(f"{brightness}(getComputedStyle(document.body).backgroundColor)")
        text = page.ask(f"{brightness}(getComputedStyle(document.body).color)")
        lines = page.ask(f"[...{CURVES}.querySelectorAll('.line')].map(l => {brightness}(getComputedStyle(l).stroke))")
        assert (colour > 0.8, text > 0.8) == (page_is_bright, not page_is_bright)
        assert all(abs(line - colour) > 0.2 for line in lines)


def test_nothing_leads_out_of_the_page_and_it_complains_of_nothing(page: Page) -> None:
    assert page.ask("[...document.querySelectorAll('a')].every(a => a.getAttribute('href').startsWith('#'))")
    assert page.complaints() == []
    outside = [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert len({url.partition("#")[0] for url in page.requests() if url.startswith("file:")}) == 1


def test_the_report_of_a_large_league_draws_a_task_of_each_kind_and_stays_small(tmp_path: Path) -> None:
    choices = (LearnerChoice.of("ucbvi-prm"), LearnerChoice.of("headroom"))
    tasks = [f"generated-{kind}-{seed}" for kind in ("chain", "lock", "queue") for seed in range(300, 309)]
    league = Experiment("league", "The league", tuple(Setting(TaskText.builtin(t), choices, 2, 20) for t in tasks))
    store = fill(Store.create(tmp_path / "store"), {}, [league])
    for job in league.jobs():
        store.write(made_up(job, 3.0))
    report = write_report(store, tmp_path / "report.html")
    assert report.stat().st_size < 1_000_000
    text = report.read_text(encoding="utf-8")
    assert all(f"<td>{task}</td>" in text for task in tasks)
    drawn = re.findall('alt="the machine of ([^"]+)"', text)
    assert drawn == [f"generated-{kind}-300" for kind in ("chain", "lock", "queue")]
