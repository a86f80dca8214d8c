"""Formulas on the site: TeX becomes MathML, and what Markdown spoils is found."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

markdown = pytest.importorskip("markdown", reason="the site is built with it (pip install 'praemia[docs]')").markdown

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"
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


# The formulas of a document, outside code: $…$ on one line, $$…$$ on several.
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
TEX = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
# Stars and underscores that Markdown may take for emphasis, and backslashes that it takes for its own.
UNSAFE = re.compile(r"\*|[)}\]]_|\\[^A-Za-z\s]")


def _html(text: str) -> str:
    math = {"pymdownx.arithmatex": {"generic": True}}
    extensions = ["attr_list", "tables", "sane_lists", *math]
    return str(markdown(text, extensions=extensions, extension_configs=math))


def _mathml(text: str) -> str:
    pytest.importorskip("latex2mathml", reason="the site is built with it (pip install 'praemia[docs]')")
    return str(runpy.run_path(str(TOOLS / "site_mathml.py"))["with_mathml"](_html(text)))


def _formulas() -> list[tuple[str, str]]:
    documents = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    found = ((path.name, TEX.findall(CODE.sub("", path.read_text(encoding="utf-8")))) for path in documents)
    return [(name, block or inline) for name, formulas in found for block, inline in formulas]


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


@pytest.mark.parametrize(
    "text", ["V^{π_k} is exact", "so W_{h+1} is", "<p>a \\le b</p>", "<math><mi>\\foo</mi></math>"]
)
def test_tex_that_would_be_shown_as_text_is_found(text: str) -> None:
    assert len(spoiled(_html(text))) == 1
    assert spoiled(_html(f"`{text}`")) == []


def test_tex_between_dollars_becomes_mathml_whose_letters_are_those_of_the_formula() -> None:
    page = _mathml(
        "the bound $V^\\star_h \\le \\frac{a_1 * b}{\\sqrt{n}}$ and\n\n$$\n\\sum_{o'} p(o' \\mid o, a)\n$$\n"
    )
    assert spoiled(page) == []
    inline, block = (ElementTree.fromstring(math) for math in re.findall(r"<math.*?</math>", page))
    assert "".join(inline.itertext()) == "Vh⋆≤a1*bn"
    assert [element.tag.partition("}")[2] for element in inline.iter()].count("mfrac") == 1
    assert block.get("display") == "block"
    assert "".join(block.itertext()) == "∑o′p(o′∣o,a)"


def test_a_prime_goes_with_its_letter_and_an_index_below_both() -> None:
    (math,) = re.findall(r"<math.*</math>", _mathml(r"$V^\star_h + N'_{k,h}(o')$"))
    assert "".join(ElementTree.fromstring(math).itertext()) == "Vh⋆+N′k,h(o′)"


def test_long_formulas_may_break_after_relations_and_signs_outside_brackets() -> None:
    parts = re.findall(r"<math.*?</math>", _mathml(r"$-a \le f(b + c) + \frac{d + e}{f} \ge -gggggggggggg$"))
    shown = ["".join(ElementTree.fromstring(part).itertext()) for part in parts]
    assert shown == ["−a≤", "f(b+c)+", "d+ef≥", "−gggggggggggg"]
    assert _mathml(r"$-a \le f(b + c)$").count("<math") == 1


def test_what_ends_a_phrase_stays_with_its_formula() -> None:
    page = _mathml("It is $x$, or $y$.")
    assert re.findall(r'<span class="together"><math.*?</math>(.)</span>', page) == [",", "."]
    assert "together" not in _mathml("Let $x$ be large.")


def test_formulas_beside_each_other_are_apart() -> None:
    parts = re.findall(r"<math.*?</math>", _mathml("$$\na = b, \\qquad c = d\n$$\n"))
    assert ["".join(ElementTree.fromstring(part).itertext()) for part in parts] == ["a=b,", "c=d"]


def test_expectations_have_the_letter_of_the_blackboard() -> None:
    assert "<mi>𝔼</mi>" in _mathml(r"$\mathbb E_p[F]$")


def test_dollars_in_code_stay_dollars() -> None:
    assert "<code>$ praemia envs$</code>" in _mathml("`$ praemia envs$`")


def test_the_formulas_of_all_documents_are_understood() -> None:
    formulas = _formulas()
    assert len(formulas) > 300
    for name, tex in formulas:
        page = _mathml(f"${' '.join(tex.split())}$")
        assert spoiled(page) == [], name
        assert ElementTree.fromstring(page.replace("<wbr>", "")).find(".//{*}math") is not None, (name, tex)


def test_no_formula_holds_what_other_markdown_takes_for_its_own() -> None:
    """GitHub, for one, reads emphasis and escapes within formulas."""
    assert [item for item in _formulas() if UNSAFE.search(item[1])] == []


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
    standard = runpy.run_path(str(TOOLS / "site_docstrings.py"))["standard"]
    text = "V*_h ≤ pY*, J(π*) − J(π) with π*(o), the *best* one, ``Q*_h`` and `V*_h`, V_{h+1} and `A^{3/2}`."
    html = _html(standard(text))
    assert spoiled(html) == []
    for formula in (
        "V*_h ≤ pY*, J(π*) − J(π) with π*(o)",
        "<em>best</em>",
        "<code>Q*_h</code>",
        "<code>V*_h</code>",
        "V<sub>h+1</sub>",
        "<code>A^{3/2}</code>",
    ):
        assert formula in html


def test_entries_of_docstrings_stand_on_two_lines() -> None:
    pytest.importorskip("griffe")
    standard = runpy.run_path(str(TOOLS / "site_docstrings.py"))["standard"]
    text = (
        "Do it.\n\nParameters\n----------\na, b : sizes. c : V*,\n    exact.\nd : e.\n\nExamples\n--------\n>>> f : g\n"
    )
    expected = "a, b\n    sizes.\nc\n    V\\*,\n    exact.\nd\n    e.\n\nExamples\n--------\n>>> f : g"
    assert standard(text) == f"Do it.\n\nParameters\n----------\n{expected}"
