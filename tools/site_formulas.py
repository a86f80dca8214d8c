"""Formulas on the site: Markdown must not take their stars, underscores and bars for its own."""

from __future__ import annotations

import re

# Relations, operators, Greek letters, accents as in p̂, indices and powers. × stands in prose too: 4 × 4.
SIGN = "[=+^{}|\\\\·\u0300-\u036f\u0370-\u03ff\u2070-\u209f\u2200-\u22ff²³¹‖]|&[lg]t;"
# Emphasis in prose has no attributes and no such signs. It begins after no letter, and ends before none.
SPOILED = re.compile(
    rf".{{0,30}}(?:[\w)\]}}'*\u0300-\u036f]<(?:em|strong)>|<(?:em|strong) |<(?:em|strong)>[^<]*?(?:{SIGN})|"
    r"</(?:em|strong)>[\w(\[{*]).{0,30}",
    re.DOTALL,
)
BAR = re.compile(r".{0,30}\\\|.{0,30}")
RAW = re.compile(r".{0,30}(?:[\^_]\{|\\[A-Za-z]).{0,30}")
BLOCK = re.compile(r"<(pre|script|style)\b.*?</\1>", re.DOTALL)
CODE = re.compile(r"<code\b.*?</code>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
ROW = re.compile(r"^\|.*$", re.MULTILINE)
TICKS = re.compile(r"(`+).*?\1")


def plain_bars(markdown: str) -> str:
    """Write the bars of code in tables without backslashes, which GitHub needs and this site would show."""
    return ROW.sub(lambda row: TICKS.sub(lambda code: code[0].replace(r"\|", "|"), row[0]), markdown)


def spoiled(html: str) -> list[str]:
    """Return what is wrong with the formulas of a page: emphasis within them, raw TeX, bars with their backslash."""
    html = BLOCK.sub("", html)
    prose = CODE.sub("", html)
    return [
        *(f"a bar with its backslash: {found[0]!r}" for found in BAR.finditer(html)),
        *(f"Markdown took part of a formula for emphasis: {found[0]!r}" for found in SPOILED.finditer(prose)),
        *(f"TeX that is shown as it was written: {found[0]!r}" for found in RAW.finditer(TAG.sub("", prose))),
    ]
