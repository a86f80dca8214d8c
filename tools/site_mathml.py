"""Formulas on the site: TeX between dollar signs becomes MathML, which browsers draw without scripts or network."""

from __future__ import annotations

import html
import re
import unicodedata

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of $…$ and $$…$$, so that Markdown leaves them alone.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
BLACKBOARD = re.compile(r'<mi mathvariant="double-struck">([A-Z])</mi>')
# Where browsers need more than latex2mathml says, or something else.
MENDED = [
    # Primes stand high already, without being raised and shrunk.
    (
        r"<msup><mi>(\w|&#x\w+;)</mi><mi>&#x02032;</mi></msup>",
        r"<mrow><mi>\1</mi><mo lspace='0' rspace='0'>&#x02032;</mo></mrow>",
    ),
    # The bars of |x| and ‖x‖ would grow with what surrounds them.
    (r"<mo>(&#x0007C;|&#x02016;)</mo>", r"<mo stretchy='false' lspace='0' rspace='0'>\1</mo>"),
    # Bars over and under letters.
    (r'<mover>(.*?)<mo stretchy="true">&#x000AF;</mo>', r"<mover accent='true'>\1<mo stretchy='true'>&#x0203E;</mo>"),
    (r'<munder>(.*?)<mo accent="true">&#x02015;</mo>', r"<munder accentunder='true'>\1<mo>_</mo>"),
    # Functions: a thin space after them, unless a parenthesis follows.
    (r"<mo>(max|min)</mo>", r"<mo lspace='0.15em' rspace='0.15em'>\1</mo>"),
    (r"<mi>ln</mi>(?!<mo stretchy=\"false\">&#x00028;)", r"<mi>ln</mi><mspace width='0.15em' />"),
]


def with_mathml(page: str) -> str:
    """Return a page of HTML whose formulas are MathML."""
    return FORMULA.sub(lambda formula: mathml(html.unescape(formula[3]), is_block=formula[2] == "["), page)


def mathml(tex: str, is_block: bool = False) -> str:
    """Return a formula as MathML; commands that the converter does not know stay in it as they are."""
    text = BLACKBOARD.sub(_blackboard, convert(tex.strip(), display="block" if is_block else "inline"))
    for pattern, replacement in MENDED:
        text = re.sub(pattern, replacement, text)
    return text


def _blackboard(letter: re.Match[str]) -> str:
    """Return 𝔼 for E: browsers ignore this kind of `mathvariant`."""
    name = f"DOUBLE-STRUCK CAPITAL {letter[1]}"
    return f"<mi>{unicodedata.lookup(name if letter[1] in 'CHNPQRZ' else f'MATHEMATICAL {name}')}</mi>"
