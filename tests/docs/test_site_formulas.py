"""Formulas on the site: what Markdown spoils is found, and what it shows as it was written is not."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

markdown = pytest.importorskip("markdown", reason="the site is built with it (pip install 'praemia[docs]')").markdown

TOOLS = Path(__file__).parents[2] / "tools"
FORMULAS = runpy.run_path(str(TOOLS / "site_formulas.py"))
spoiled, plain_bars = FORMULAS["spoiled"], FORMULAS["plain_bars"]

# Each of these loses a star, an underscore or an index on its way through Markdown.
LOST = [
    "Induction. V̄_H = V*_H = 0. If V̄_{h+1} ≥ V*_{h+1}, then T ≥ T*.",
    "W_{k,h} − W*_h ≤ 100·√(H³/N'_{k,h}(o')), and W*_h is fixed",
    "with values in [0, T*], T* = its top",
    "along a policy (B^π), or maximised over actions (B*): J(π*) − J(π̂) ≤ B* + B^π̂",
    "3T*ℓ/n ≤ 2·max{√(2Vℓ/n), 3T*ℓ/n}",
    "*From π* to π.* And so on",
    "p̂(Ȳ − Y*)² ≤ G·(Ȳ − Y*)",
    "*N' = 0* counts as H²",
    "the product a*b*c of three",
]
KEPT = [
    "a *word*, **two words**, (*three*), “*four*”, *five*: *six*.",
    "*f bounds the truth.* `V*_h ≤ V̄_h` and `W*_h`",
    "**7** runs, *4 × 4 warehouse*, *plan → play*, *edges read `label | probability`*, *reward_machines*",
    "- *the last term* is the mean\n- **Optimism**: `Q*`",
    "`V*`*, said in a whisper*",
    "V* is the optimum, and num_episodes its price",
]


def _html(text: str) -> str:
    return str(markdown(text, extensions=["attr_list", "tables", "sane_lists"]))


@pytest.mark.parametrize("text", LOST)
def test_emphasis_around_mathematical_signs_is_found(text: str) -> None:
    html = _html(text)
    assert "<em" in html
    assert len(spoiled(html)) >= 1


@pytest.mark.parametrize("text", KEPT)
def test_emphasis_in_prose_is_left_alone(text: str) -> None:
    assert spoiled(_html(text)) == []


@pytest.mark.parametrize("text", LOST)
def test_a_formula_that_is_written_as_code_keeps_all_its_signs(text: str) -> None:
    assert spoiled(_html(f"`{text}`")) == []


def test_what_is_found_says_where_it_is() -> None:
    (place,) = spoiled("<p>maximised over actions (B<em>): J(π</em>) − J(π̂)</p>")
    assert "actions (B<em>): J(π" in place


def test_bars_in_tables_are_shown_without_backslashes() -> None:
    table = "| guard | |\n|---|---|\n| `a \\| b` | or \\| either, ``c \\| d`` |\n"
    assert len(spoiled(_html(table))) == 2
    html = _html(plain_bars(table))
    assert spoiled(html) == []
    assert "<code>a | b</code>" in html
    assert "or | either, <code>c | d</code>" in html
    assert html.count("<td>") == 2
    assert plain_bars("`a \\| b` outside a table") == "`a \\| b` outside a table"


def test_docstrings_are_markdown_in_which_stars_are_stars() -> None:
    pytest.importorskip("griffe")
    as_markdown = runpy.run_path(str(TOOLS / "site_docstrings.py"))["as_markdown"]
    text = "V*_h ≤ pY*, J(π*) − J(π) with π*(o), the *best* one, ``Q*_h`` and `V*_h`."
    html = _html(as_markdown(text))
    assert spoiled(html) == []
    for formula in ("V*_h ≤ pY*, J(π*) − J(π) with π*(o)", "<em>best</em>", "<code>Q*_h</code>", "<code>V*_h</code>"):
        assert formula in html
