"""The report: whole, the same for the same store, and alive in a real browser without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import REQUIRE, Page, browser, find_browser
from stored_runs import CORRECT, KIND, PRM, PRODUCT, fill, made_up, paper

from praemia import envs
from praemia.cli import execute
from praemia.experiments.loading import Changes, load_experiment
from praemia.experiments.store import StoredRuns
from praemia.files.load_save import save_machine
from praemia.report import page as report_page

CURVES = "document.querySelector('.overview .charts')"
CARD = "claim-ahead-of-ucrl2-rm-b-with-correct-intervals"
LEARNERS = 7  # in the paper's settings
SMALL = 390  # pixels: the width of a phone


def write_report(store: StoredRuns, path: Path) -> Path:
    report_page.write_report(store, path)
    return path


def text_of(store: StoredRuns, path: Path) -> str:
    return write_report(store, path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StoredRuns:
    store = StoredRuns.create(tmp_path_factory.mktemp("runs") / "store")
    regrets = {**KIND, ("riverswim-5", CORRECT): 15.0, ("riverswim-15", CORRECT): 5.0}
    return fill(store, regrets, paper())


@pytest.fixture(scope="module")
def report(store: StoredRuns, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(store, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def page(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.open(report)
        yield page


def _drawn(page: Page) -> int:
    """Count the curves of the first screen that can be seen."""
    lines = f"[...{CURVES}.querySelectorAll('g > polyline:first-of-type')]"
    return int(page.ask(f"{lines}.filter(line => line.getClientRects().length).length"))


def test_the_page_opens_with_verdicts_ratios_and_curves_and_a_section_for_each_group_follows(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    groups = ("the-six-settings-of-the-paper", "regret-against-the-number-of-machine-states")
    ids = (f'id="{name}"' for name in (*groups, "tasks", "made"))
    places = [text.index(part) for part in ('class="strip"', 'class="ratios"', 'class="charts"', *ids)]
    assert places == sorted(places)
    assert f'<section class="claim failed" id="{CARD}">' in text
    assert '<section class="claim held" id="claim-warehouses-lower-regret-than-ucbvi">' in text
    assert "UCBVI-PRM is lower in 5 of 6; UCRL2-RM-B is lower in 1 of 6" in text
    assert "The paper's claims: 8 held." in html.unescape(text)
    assert "Held when every interval of the ratio of regrets, UCBVI-PRM ÷ UCBVI, lies below 1." in text


def test_the_three_outcomes_can_be_told_apart(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for kind, badge in (("held", "held"), ("failed", "did not hold")):
        assert re.search(rf'<section class="claim {kind}" [^>]*><h3><span class="badge">{badge}</span>', text)
    text = text_of(fill(StoredRuns.create(tmp_path / "store"), KIND, paper(num_runs=4)), tmp_path / "report.html")
    assert 'class="claim held"' not in text
    assert '<section class="claim open" id="claim-no-growth-with-the-machine"><h3><span class="badge">not dec' in text
    assert "Not decided: too few runs (4; at least 8 are needed)." in text


@pytest.mark.parametrize("name", ["paper", "league", "mine"])
def test_no_name_of_an_experiment_chooses_its_page(name: str, tmp_path: Path) -> None:
    file, out = tmp_path / f"{name}.yaml", tmp_path / "out"
    file.write_text("tasks: [riverswim-3]\nlearners: [optimal, random]\nruns: 2\nepisodes: 20\n")
    assert execute(["experiment", str(file), "--out", str(out), "--jobs", "1"]) == 0
    text = (out / "report.html").read_text(encoding="utf-8").replace(f">{name}<", ">NAME<")
    assert "<h1>NAME</h1>" in text
    assert "Learners in pairs: 1 comparison<" in text
    assert 'class="ratios"' in text
    assert "claim" not in re.sub("<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)


def test_the_report_says_how_to_repeat_it_and_the_record_does(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for part in ("praemia experiment experiment.json", "bonus_scale = 0.001", "numba"):
        assert part in text
    file, out, again = tmp_path / "mine.yaml", tmp_path / "out", tmp_path / "again"
    file.write_text("tasks: [riverswim-3]\nlearners: [random]\nruns: 2\nepisodes: 20\n")
    assert execute(["experiment", str(file), "--out", str(out), "--jobs", "1"]) == 0
    assert execute(["experiment", str(out / "experiment.json"), "--out", str(again), "--jobs", "1"]) == 0
    runs = [{str(path.relative_to(own)): path.read_bytes() for path in own.glob("*/run-*")} for own in (out, again)]
    assert runs[0] == runs[1]


def test_a_narrower_command_leaves_nothing_out_of_the_report(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.yaml", tmp_path / "out"
    file.write_text("tasks: [riverswim-3, riverswim-4]\nlearners: [optimal, random]\nruns: 2\nepisodes: 20\n")
    command = ["experiment", str(file), "--out", str(out), "--jobs", "1"]
    assert execute(command) == 0
    before = (out / "report.html").read_text(encoding="utf-8")
    assert execute([*command, "--task", "riverswim-4", "--learner", "random", "--runs", "1"]) == 0
    assert (out / "report.html").read_text(encoding="utf-8") == before


def test_regret_is_called_exact_only_where_it_is(tmp_path: Path) -> None:
    store, asked = StoredRuns.create(tmp_path / "store"), paper(2, groups=(2,))
    store.keep(asked)
    for job in asked.jobs():
        run = made_up(job, 3.0)
        store.write(replace(run, path_losses=np.diff(run.regret, prepend=0.0)) if run.title == PRM else run)
    text = text_of(store, tmp_path / "report.html")
    assert f"not sampled. The regret of learners that replan within episodes ({PRM}) is the sum of the losses" in text


def test_nothing_counts_in_bad_grammar(report: Path, tmp_path: Path) -> None:
    one = fill(StoredRuns.create(tmp_path / "store"), {("riverswim-5", PRM): 3.0}, paper(num_runs=1))
    for path in (report, write_report(one, tmp_path / "one.html")):
        text = re.sub("<[^>]*>", " ", path.read_text(encoding="utf-8"))
        assert re.findall(r"\b1 (?:are|runs|tasks|learners|comparisons|episodes|states)\b", text) == []
        assert re.findall(r"\b(?:0|[2-9]|\d\d+) (?:is not|run of|task\b|learner on)", text) == []


def test_the_same_store_gives_the_same_report_and_it_is_small(store: StoredRuns, report: Path, tmp_path: Path) -> None:
    assert write_report(store, tmp_path / "again.html").read_bytes() == report.read_bytes()
    assert report.stat().st_size < 2_000_000


def test_damaged_files_are_named_in_the_report_and_a_damaged_task_does_not_refuse_it(tmp_path: Path) -> None:
    store = fill(StoredRuns.create(tmp_path / "store"), {("riverswim-5", PRM): 3.0}, paper(num_runs=3))
    store.files()[0].write_bytes(b"")
    job = paper(1).jobs()[0]
    store.write(made_up(replace(job, task=replace(job.task, name="odd", text="environment: {name: nowhere}\n")), 3.0))
    text = text_of(store, tmp_path / "report.html")
    assert "1 damaged file left out" in text
    assert "odd, 1,000 episodes" in text


def test_names_from_files_are_text_and_never_markup(tmp_path: Path) -> None:
    evil, loud = "</script><script>alert(1)</script>", r'"\e[2J\x9dloud"'
    file, out = tmp_path / "evil.yaml", tmp_path / "out"
    file.write_text(
        f"title: '{evil}'\ntasks: [{{task: riverswim-3, title: '{evil}'}}]\n"
        f"learners: [{{learner: random, title: '{evil}'}}, {{learner: optimal, title: {loud}}}]\n"
        "runs: 1\nepisodes: 20\n"
        f"claims: [{{say: '{evil}', source: '{evil}', measure: exponent, question: below, of: '{evil}'}}]\n"
    )
    assert execute(["experiment", str(file), "--out", str(out), "--jobs", "1"]) == 0
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert r"\x1b[2J\x9dloud" in text
    assert not set(text) & {"\x1b", "\x9d"}


def test_a_report_on_anybodys_runs_opens_no_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    save_machine(envs.warehouse(size=3).machine, secret)
    store, job = StoredRuns.create(tmp_path / "store"), paper(1).jobs()[0]
    task = replace(job.task, text=f"environment: {{name: riverswim-5}}\nmachine: {secret}\n")
    store.write(made_up(replace(job, task=task), 3.0))
    assert "delivery" not in text_of(store, tmp_path / "report.html")


def test_an_experiment_with_steps_shows_values_beside_published_figures(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.yaml", tmp_path / "out"
    file.write_text(
        "tasks: [{task: office-jair-t1, horizon: 40, published: {CRM: 1000}}]\nruns: 2\nsteps: 2500\ntest_every: 1000\n"
        "source: somebody\nlearners: [optimal, {learner: crm, title: CRM}]\n"
    )
    assert execute(["experiment", str(file), "--out", str(out), "--jobs", "1"]) == 0
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "value ÷ optimum" in text
    assert "Triangles are published figures" in text
    assert "Published: somebody." in text
    assert '<td class="n">1,000</td>' in text


def test_the_report_of_a_large_league_plots_a_task_of_each_kind_and_stays_small(tmp_path: Path) -> None:
    asked = load_experiment("league", Changes(learners=["ucbvi-prm", "headroom"], runs=2, episodes=20))
    kinds = ("chain", "lock", "maze")
    group = asked.groups[0]
    kept = [own for own in group.part.tasks if own.kind in kinds and int(own.task[-3:]) < 309]
    cells = {cell: job for cell, job in group.cells.items() if cell[0] in {own.task for own in kept}}
    part = group.part.model_copy(update={"tasks": kept, "claims": []})
    asked = replace(
        asked, groups=(replace(group, part=part, cells=cells, chosen=[c for c in group.chosen if c in cells]),)
    )
    store = StoredRuns.create(tmp_path / "store")
    store.keep(asked)
    for job in asked.jobs():
        store.write(made_up(job, 3.0))
    path = write_report(store, tmp_path / "report.html")
    assert path.stat().st_size < 1_000_000
    text = path.read_text(encoding="utf-8")
    assert all(f"<td>{own.task}</td>" in text for own in kept)
    panels = re.findall('<figure class="panel"><figcaption><b>([^<]+)</b>', text)
    assert list(dict.fromkeys(panels)) == [f"generated-{kind}-300" for kind in kinds]


def test_a_missing_browser_is_a_skip_or_where_one_is_required_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    for required, outcome in (("0", pytest.skip.Exception), ("1", pytest.fail.Exception)):
        monkeypatch.setenv(REQUIRE, required)
        with pytest.raises(outcome, match="no chromium"):
            find_browser()


def test_the_browser_draws_every_curve(page: Page) -> None:
    assert _drawn(page) == 6 * LEARNERS
    assert page.ask("document.querySelectorAll('.overview .mark').length") == 6 * (LEARNERS - 1)
    assert page.ask("document.querySelectorAll('.legend').length") == 2
    assert page.ask("getComputedStyle(document.querySelector('.overview g > polyline')).stroke").startswith("rgb(")


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
    line = "[...document.querySelectorAll('.overview g > polyline')].filter(c => c.getClientRects().length)[0]"
    page.ask(f"({line}).scrollIntoView({{block: 'center'}})")
    box = page.ask(f"(() => {{ const b = ({line}).getBoundingClientRect(); return [b.right, b.y] }})()")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] - 2.0, y=box[1])
    page.wait_until("!document.querySelector('.reading').hidden")
    lines = page.ask("document.querySelector('.reading').textContent").splitlines()
    values = {name: float(value) for value, name in (line.split("  ") for line in lines[1:])}
    assert values[PRM] == pytest.approx(10.0, rel=0.1)
    assert values[PRODUCT] == pytest.approx(2.0 * values[PRM], rel=0.02)


def test_a_verdict_leads_to_its_card(page: Page) -> None:
    page.click(f"document.querySelector('.strip a[href=\"#{CARD}\"]')")
    page.wait_until(f"location.hash === '#{CARD}'")
    page.wait_until(f"document.querySelector('#{CARD}').getBoundingClientRect().top < innerHeight")
    links = "[...document.querySelectorAll('.strip a, nav a')]"
    assert page.ask(f"{links}.every(a => document.querySelector(a.getAttribute('href')))")


def test_on_a_phone_nothing_leaves_the_screen_and_plots_stand_one_below_the_other(page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=SMALL, height=844, deviceScaleFactor=1, mobile=True)
    page.ask("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.ask("[innerWidth, document.documentElement.scrollWidth]") == [SMALL, SMALL]
    # What is wider than the screen scrolls, and has a shadow where it goes on.
    cut = "[...document.querySelectorAll('table, img, svg')].filter(e => e.getBoundingClientRect().right > innerWidth)"
    assert page.ask(f"{cut}.length") > 0
    assert page.ask(f"{cut}.every(e => /gradient/.test(getComputedStyle(e.closest('.wide')).backgroundImage))")
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
        lines = page.ask(
            f"[...{CURVES}.querySelectorAll('g > polyline')].map(l => {brightness}(getComputedStyle(l).stroke))"
        )
        assert (colour > 0.8, text > 0.8) == (page_is_bright, not page_is_bright)
        assert all(abs(line - colour) > 0.2 for line in lines)


def test_nothing_leads_out_of_the_page_and_it_complains_of_nothing(page: Page) -> None:
    assert page.ask("[...document.querySelectorAll('a')].every(a => a.getAttribute('href').startsWith('#'))")
    assert page.complaints() == []
    outside = [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert len({url.partition("#")[0] for url in page.requests() if url.startswith("file:")}) == 1
