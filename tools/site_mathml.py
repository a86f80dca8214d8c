"""Formulas on the site: TeX between dollar signs becomes MathML, which browsers draw without scripts or network."""

from __future__ import annotations

import html
import re
import unicodedata
from copy import copy
from xml.etree import ElementTree

from latex2mathml.converter import convert

ElementTree.register_namespace("", "http://www.w3.org/1998/Math/MathML")

# What pymdownx.arithmatex makes of $…$ and $$…$$, so that Markdown leaves them alone.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
PHRASE_END = re.compile(r"(<math(?:(?!</math>).)*</math>[.,;:)]+)", re.DOTALL)
QQUAD = "2em"
LONG = 20  # characters; shorter formulas stay on one line
BREAKS_AFTER = frozenset("=<>≤≥≈≲↦+−")
NESTING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
STYLED = re.compile(r'<(m[in]) mathvariant="(script|double-struck)">(\w)</m[in]>')
# Browsers ignore `mathvariant`: 𝔼, 𝒬 and 𝟙 are letters of their own.
ALPHABETS = (chr(code) for code in (*range(0x2100, 0x2150), *range(0x1D400, 0x1D800)))
NAME = re.compile(r"(?:MATHEMATICAL )?(SCRIPT|DOUBLE-STRUCK) (?:CAPITAL|DIGIT) \w+")
LETTERS = {
    (name[1].lower(), unicodedata.normalize("NFKC", letter)): letter
    for letter in ALPHABETS
    if (name := NAME.fullmatch(unicodedata.name(letter, "")))
}
PRIME = '<mo lspace="0" rspace="0">′</mo>'
# Where browsers need more than latex2mathml says, or something else.
MENDED = [
    # Primes stand high already, without being raised and shrunk: o′, N′ with an index.
    (r"<msup><mi>(\w)</mi><mi>′</mi></msup>", rf"<mrow><mi>\1</mi>{PRIME}</mrow>"),
    (r"<msubsup>(<mi>\w</mi>)((?:(?!msubsup).)*)<mi>′</mi></msubsup>", rf"<msub><mrow>\1{PRIME}</mrow>\2</msub>"),
    # The bars of |x| and ‖x‖ would grow with what surrounds them.
    (r"<mo>([|‖])</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'),
    # Bars over and under letters.
    (r'<mover>(.*?)<mo stretchy="true">¯</mo>', r'<mover accent="true">\1<mo stretchy="true">‾</mo>'),
    (r'<munder>(.*?)<mo accent="true">―</mo>', r'<munder accentunder="true">\1<mo>_</mo>'),
    # Functions: a thin space on either side, but none before a parenthesis.
    (r"<(m[io])>(max|min|ln|exp)</\1>", r'<mo lspace="0.15em" rspace="0.15em">\2</mo>'),
    (r'rspace="0.15em">(\w+)</mo>(?=<mo stretchy="false">\()', r'rspace="0">\1</mo>'),
]


def with_mathml(page: str) -> str:
    """Return a page of HTML whose formulas are MathML; what ends a phrase stays on the line of its formula."""
    page = FORMULA.sub(lambda formula: mathml(html.unescape(formula[3]), is_block=formula[2] == "["), page)
    return PHRASE_END.sub(r'<span class="together">\1</span>', page)


def mathml(tex: str, is_block: bool = False) -> str:
    """Return a formula as MathML; commands that the converter does not know stay in it as they are."""
    formula = ElementTree.fromstring(convert(tex.strip(), display="block" if is_block else "inline"))
    if is_block:
        text = f'<div class="formulas">{"".join(map(_text, side_by_side(formula)))}</div>'
    else:
        text = "<wbr>".join(map(_text, breakable(formula)))
    text = STYLED.sub(lambda found: f"<mi>{LETTERS[found[2], found[3]]}</mi>", text)
    for pattern, replacement in MENDED:
        text = re.sub(pattern, replacement, text)
    return text


def side_by_side(formula: ElementTree.Element) -> list[ElementTree.Element]:
    r"""Cut what stands on one line at every \qquad: on narrow screens the parts stand below each other."""
    parts: list[list[ElementTree.Element]] = [[]]
    for element in formula[0]:
        if element.get("width") == QQUAD:
            parts.append([])
        else:
            parts[-1].append(element)
    return [_with_children(formula, part) for part in parts]


def breakable(formula: ElementTree.Element) -> list[ElementTree.Element]:
    """Cut a long formula after relations and signs outside brackets: no browser breaks a line within a formula."""
    if len("".join(formula.itertext())) < LONG:
        return [formula]
    parts: list[list[ElementTree.Element]] = [[]]
    depth = 0
    for element in formula[0]:
        parts[-1].append(element)
        depth += NESTING.get(element.text or "", 0)
        if element.text in BREAKS_AFTER and depth == 0 and len(parts[-1]) > 1:
            element.set("form", "infix")
            parts.append([])
    return [_with_children(formula, part) for part in parts if part]


def _text(formula: ElementTree.Element) -> str:
    return ElementTree.tostring(formula, encoding="unicode")


def _with_children(formula: ElementTree.Element, children: list[ElementTree.Element]) -> ElementTree.Element:
    part, row = copy(formula), copy(formula[0])
    row[:] = children
    part[:] = [row]
    return part
