"""The documentation site: built without a warning, its links lead somewhere, and a real browser shows it well."""

from __future__ import annotations

import html
import os
import re
import runpy
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import Page, browser
from built_site import ROOT, Links, build_once, pages, require_tools

from praemia import cli, patterns
from praemia.envs.registry import FAMILIES
from praemia.learners.registry import BUILT_IN, make

require_tools()

KINDS = (
    "index.html",
    "start/tour.html",
    "tutorials/first-machine.html",
    "how-to/compare-learners.html",
    "how-to/machines-from-formulas.html",
    "concepts/regret.html",
    "reference/python.html",
    "reference/praemia.Task.html",
    "reference/commands.html",
    "reference/environments.html",
    "reference/learners.html",
    "about/comparison.html",
    "concepts/theory.html",
    "concepts/headroom.html",
)
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}

# Whether text is brighter than the ground that it stands on.
_TOTAL = "match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)"
TEXT_IS_BRIGHTER = (
    f"getComputedStyle(document.querySelector('article p')).color.{_TOTAL}"
    f" > getComputedStyle(document.body).backgroundColor.{_TOTAL}"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return build_once(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture(scope="module")
def page(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@cache
def links_of(path: Path) -> Links:
    return Links(path.read_text(encoding="utf-8"))


def wrong(path: Path, target: str) -> bool:
    """Tell whether a link within the site leads nowhere."""
    parts = urlsplit(target)
    file = path.parent / unquote(parts.path) if parts.path else path
    if not file.is_file():
        return True
    return bool(parts.fragment) and file.suffix == ".html" and unquote(parts.fragment) not in links_of(file).anchors


def test_every_link_leads_to_a_page_and_a_heading(site: Path) -> None:
    found = [(path, target) for path in pages(site) for target in links_of(path).links if not urlsplit(target).scheme]
    assert len(found) > 1_000
    assert [(str(path.relative_to(site)), target) for path, target in found if wrong(path, target)] == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = [(path, target) for path in pages(site) for target in links_of(path).loaded]
    outside = [target for _, target in loaded if urlsplit(target).scheme not in {"", "data"}]
    assert outside == []
    assert [target for path, target in loaded if not urlsplit(target).scheme and wrong(path, target)] == []


def test_every_public_name_has_a_page_in_the_index_and_every_command_its_place(site: Path) -> None:
    names = runpy.run_path(str(ROOT / "tools" / "examples.py"))["public_names"]()
    index = links_of(site / "reference" / "python.html").links
    for name, thing in names.items():
        assert f"{name}.html" in index, name
        assert f"{thing.__module__}.{thing.__qualname__}" in links_of(site / "reference" / f"{name}.html").anchors, name
    assert {f"praemia-{name}" for name in cli.COMMANDS} <= links_of(site / "reference" / "commands.html").anchors


def test_the_help_of_commands_keeps_its_lines(site: Path) -> None:
    lines = html.unescape((site / "reference" / "commands.html").read_text(encoding="utf-8")).splitlines()
    assert "  praemia plan data.npz --machine other.yaml" in lines
    assert "  runs: 16          # of each learner on each task" in lines


def test_types_and_entries_of_the_reference_are_linked_and_explained(site: Path) -> None:
    page = site / "reference" / "praemia.explore.html"
    assert "praemia.RewardMachine.html#praemia.machines.machine.RewardMachine" in links_of(page).links
    assert "the exploration coefficient of the method" in page.read_text(encoding="utf-8")


def test_the_page_on_learners_shows_their_recursions_and_parameters(site: Path) -> None:
    text = html.unescape((site / "reference" / "learners.html").read_text(encoding="utf-8"))
    for name, place in BUILT_IN.items():
        module = import_module(place.partition(":")[0])
        formulas = re.findall(r"^    (\S.*)$", module.__doc__ or "", re.MULTILINE)
        assert [line for line in formulas if line not in text] == [], name
        assert [key for key in make(name).parameters if f"<td><code>{key}</code></td>" not in text] == [], name


def test_tutorials_show_what_their_cells_print_and_draw(site: Path) -> None:
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        text = (site / "tutorials" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert 'class="output"><img' in text, path.name
        assert f'href="{path.stem}.ipynb"' in text
        assert (site / "tutorials" / f"{path.stem}.ipynb").is_file()


def test_diagrams_are_drawn(site: Path) -> None:
    source = (ROOT / "docs" / "how-to" / "machines-from-formulas.md").read_text(encoding="utf-8")
    text = (site / "how-to" / "machines-from-formulas.html").read_text(encoding="utf-8")
    assert source.count("- `praemia.patterns.") == text.count('class="diagram"><img') > 0


def test_every_environment_has_a_card_with_pictures_of_it_and_of_its_machine(site: Path) -> None:
    text = (site / "reference" / "environments.html").read_text(encoding="utf-8")
    for family, card in zip(FAMILIES, text.split('<div class="card">')[1:], strict=True):
        for picture in (f"{family}-card.svg", f"{family}-machine.svg"):
            assert f'src="../pictures/{picture}"' in card
            assert (site / "pictures" / picture).read_text(encoding="utf-8").startswith("<svg")


def test_the_reference_draws_the_machine_of_every_pattern(site: Path) -> None:
    for name in patterns.__all__:
        text = (site / "reference" / f"praemia.patterns.{name}.html").read_text(encoding="utf-8")
        assert (name == "Pattern") != (f'class="diagram"><img alt="The machine of {name}"' in text), name


def test_pages_fit_every_screen_in_both_schemes_complain_of_nothing_and_ask_nobody(site: Path, page: Page) -> None:
    for kind in KINDS:
        page.open(site / kind)
        page.wait_until(f"location.href === {str((site / kind).resolve().as_uri())!r}")
        assert page.ask("[...document.images].filter(i => !(i.complete && i.naturalWidth)).length") == 0, kind
        for device, (width, height) in WIDTHS.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": device == "phone"}
            page.call("Emulation.setDeviceMetricsOverride", **size)
            assert page.ask("innerWidth") == width, kind
            assert page.ask("document.querySelector('article h1').getBoundingClientRect().height") > 0, kind
            # What is shown on another screen may still slide away.
            page.wait_until(f"document.documentElement.scrollWidth <= {width} /* {kind} on a {device} */")
        for scheme, is_brighter in (("dark", "true"), ("light", "false")):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            page.wait_until(f"({TEXT_IS_BRIGHTER}) === {is_brighter} /* {kind}, {scheme} */")
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


def test_name_pictures_code_and_doors_of_home_are_on_the_first_screen(site: Path, page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    page.open(site / "index.html")
    for what in ("h1", "img[src$='episode.gif']", "img[src$='lost.svg']", "code", "table td:nth-child(3)"):
        page.wait_until(f"document.querySelector(`article ${{{what!r}}}`).getBoundingClientRect().bottom < 900")


def test_search_finds_a_word_without_a_server(site: Path, page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    page.open(site / "index.html")
    page.ask("document.querySelector('[data-md-component=search-query]').focus()")
    page.wait_until("document.querySelector('.md-search-result__meta').textContent.includes('Type to start')")
    for letter in "occupancy":
        page.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
        page.call("Input.dispatchKeyEvent", type="keyUp", key=letter)
    page.wait_until("document.querySelectorAll('.md-search-result__item').length > 0")
    assert "occupancy" in page.ask("document.querySelector('.md-search-result__list').textContent").lower()
