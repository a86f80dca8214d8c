"""Formulas on the site: TeX becomes MathML, and what Markdown spoils is found."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

markdown = pytest.importorskip("markdown", reason="the site is built with it (pip install 'praemia[docs]')").markdown
pytest.importorskip("latex2mathml", reason="the site is built with it (pip install 'praemia[docs]')")

ROOT = Path(__file__).parents[2]


def tool(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / f"{name}.py"))


spoiled, plain_bars = (tool("site_formulas")[name] for name in ("spoiled", "plain_bars"))
with_mathml = tool("site_mathml")["with_mathml"]

# Each of these loses a star, an underscore or an index on its way through Markdown.
LOST = [
    "Induction. V̄_H = V*_H = 0. If V̄_{h+1} ≥ V*_{h+1}, then T ≥ T*.",
    "with values in [0, T*], T* = its top",
    "along a policy (B^π), or maximised over actions (B*): J(π*) − J(π̂) ≤ B* + B^π̂",
    "*From π* to π.* And so on",
    "*N' = 0* counts as H²",
    "the product a*b*c of three",
]
KEPT = [
    "a *word*, **two words**, (*three*), “*four*”, *five*: *six*.",
    "*f bounds the truth.* `V*_h ≤ V̄_h` and `W*_h`",
    "**7** runs, *4 × 4 warehouse*, *plan → play*, *edges read `label | probability`*, *reward_machines*",
    "- *the last term* is the mean\n- **Optimism**: `Q*`",
    "V* is the optimum, and num_episodes its price",
]

# The formulas of a document, outside code: $…$ on one line, $$…$$ on several.
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
TEX = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
# Stars and underscores that Markdown may take for emphasis, and backslashes that it takes for its own.
UNSAFE = re.compile(r"\*|[)}\]]_|\\[^A-Za-z\s]")


def _html(text: str) -> str:
    math = {"pymdownx.arithmatex": {"generic": True}}
    extensions = ["attr_list", "tables", "sane_lists", *math]
    return str(markdown(text, extensions=extensions, extension_configs=math))


def _shown(text: str) -> list[str]:
    """Return the formulas of a text as they are shown, without their layout."""
    page = with_mathml(_html(text))
    assert spoiled(page) == []
    return ["".join(ElementTree.fromstring(math).itertext()) for math in re.findall(r"<math.*?</math>", page)]


def _formulas() -> list[tuple[str, str]]:
    documents = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    found = ((path.name, TEX.findall(CODE.sub("", path.read_text(encoding="utf-8")))) for path in documents)
    return [(name, block or inline) for name, formulas in found for block, inline in formulas]


@pytest.mark.parametrize("text", LOST)
def test_emphasis_around_mathematical_signs_is_found_but_not_in_code(text: str) -> None:
    assert len(spoiled(_html(text))) >= 1
    assert spoiled(_html(f"`{text}`")) == []


@pytest.mark.parametrize("text", KEPT)
def test_emphasis_in_prose_is_left_alone(text: str) -> None:
    assert spoiled(_html(text)) == []


@pytest.mark.parametrize(
    "text", ["V^{π_k} is exact", "so W_{h+1} is", "<p>a \\le b</p>", "<math><mi>\\foo</mi></math>"]
)
def test_tex_that_would_be_shown_as_text_is_found(text: str) -> None:
    assert len(spoiled(_html(text))) == 1
    assert spoiled(_html(f"`{text}`")) == []


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        (r"$V^\star_h \le \frac{a_1 * b}{\sqrt{n}}$", ["Vh⋆≤a1*bn"]),
        ("$$\n\\sum_{o'} p(o' \\mid o, a)\n$$", ["∑o′p(o′∣o,a)"]),
        # a prime goes with its letter, and an index below both
        (r"$V^\star_h + N'_{k,h}(o')$", ["Vh⋆+N′k,h(o′)"]),
        # long formulas may break after relations and signs outside brackets, short ones not
        (r"$-a \le f(b + c) + \frac{d + e}{f} \ge -gggggggggggg$", ["−a≤", "f(b+c)+", "d+ef≥", "−gggggggggggg"]),
        (r"$-a \le f(b + c)$", ["−a≤f(b+c)"]),
        # formulas beside each other are apart
        ("$$\na = b, \\qquad c = d\n$$", ["a=b,", "c=d"]),
        # browsers ignore styles of letters: each is a letter of its own
        (r"$\mathbb E_p[\mathcal Q] + \mathbb 1$", ["𝔼p[𝒬]+𝟙"]),
    ],
)
def test_tex_between_dollars_becomes_mathml_with_the_letters_of_the_formula(tex: str, shown: list[str]) -> None:
    assert _shown(f"Let\n\n{tex}\n\nbe so.") == shown


def test_what_ends_a_phrase_stays_with_its_formula() -> None:
    page = with_mathml(_html("It is $x$, or $y$. `$ praemia envs$`"))
    assert re.findall(r'<span class="together"><math.*?</math>(.)</span>', page) == [",", "."]
    assert "<code>$ praemia envs$</code>" in page


def test_the_formulas_of_all_documents_are_understood_and_the_font_has_their_letters() -> None:
    formulas = _formulas()
    assert len(formulas) > 300
    font = pytest.importorskip("fontTools.ttLib").TTFont(ROOT / "docs" / "assets" / "stix-two-math.woff")
    letters = {letter for name, tex in formulas for part in _shown(f"${' '.join(tex.split())}$") for letter in part}
    assert {letter for letter in letters if ord(letter) not in font.getBestCmap()} == set()


def test_no_formula_holds_what_other_markdown_takes_for_its_own() -> None:
    """GitHub, for one, reads emphasis and escapes within formulas."""
    assert [item for item in _formulas() if UNSAFE.search(item[1])] == []


def test_bars_in_tables_are_shown_without_backslashes() -> None:
    table = "| guard | |\n|---|---|\n| `a \\| b` | or \\| either, ``c \\| d`` |\n"
    assert len(spoiled(_html(table))) == 2
    html = _html(plain_bars(table))
    assert spoiled(html) == []
    assert "<code>a | b</code>" in html
    assert "or | either, <code>c | d</code>" in html
    assert plain_bars("`a \\| b` outside a table") == "`a \\| b` outside a table"


def test_docstrings_are_markdown_with_stars_indices_and_entries_on_two_lines() -> None:
    pytest.importorskip("griffe")
    standard = tool("site_docstrings")["standard"]
    html = _html(standard("V*_h ≤ pY*, π*(o), N'_h, the *best* one, `V*_h`, V_{h+1}, γ^h, num_episodes, `A^{3/2}`."))
    assert spoiled(html) == []
    assert html == (
        "<p>V*<sub>h</sub> ≤ pY*, π*(o), N'<sub>h</sub>, the <em>best</em> one, <code>V*_h</code>, V<sub>h+1</sub>, "
        "γ<sup>h</sup>, num_episodes, <code>A^{3/2}</code>.</p>"
    )
    text = "Do it.\n\nParameters\n----------\na, b : sizes. c : V*,\n    exact.\n\nExamples\n--------\n>>> f : g\n"
    expected = "a, b\n    sizes.\nc\n    V\\*,\n    exact.\n\nExamples\n--------\n>>> f : g"
    assert standard(text) == f"Do it.\n\nParameters\n----------\n{expected}"
