"""Formulas on the site: Markdown must not take their stars, underscores and bars for its own."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser
from typing import NamedTuple

EMPHASIS = ("em", "strong")
LITERAL = ("code", "pre", "script", "style")
# Relations, operators, Greek letters, accents as in p̂, indices and powers. × stands in prose too: 4 × 4.
SIGN = re.compile("[=<>+^{}|\\\\·\u0300-\u036f\u0370-\u03ff\u2070-\u209f\u2200-\u22ff²³¹‖]")
# Emphasis in prose does not begin right after one of these, nor end right before one.
BEFORE, AFTER = re.compile(r"[\w)\]}'*]"), re.compile(r"[\w(\[{*]")
ROW = re.compile(r"^\|.*$", re.MULTILINE)
CODE = re.compile(r"(`+).*?\1")
BLOCK = re.compile(r"<(pre|script|style)\b.*?</\1>", re.DOTALL)
BAR = re.compile(r".{0,30}\\\|.{0,30}")
RAW = re.compile(r".{0,30}(?:[\^_]\{|\\[A-Za-z]).{0,30}")
SHOWN = 30


def plain_bars(markdown: str) -> str:
    """Write the bars of code in tables without backslashes, which GitHub needs and this site would show."""
    return ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0]), markdown)


def spoiled(html: str) -> list[str]:
    """Return what is wrong with the formulas of a page: emphasis within them, raw TeX, bars with their backslash."""
    parser = _Emphases()
    parser.feed(html)
    parser.close()
    bars = (f"a bar with its backslash: {found[0]!r}" for found in BAR.finditer(BLOCK.sub("", html)))
    return [*parser.found, *bars]


class _Emphasis(NamedTuple):
    """A part in italics or bold: the text before it, its own, and the attributes that Markdown gave it."""

    before: str
    has_attributes: bool
    text: list[str]

    def is_spoiled(self, after: str) -> bool:
        last = self.before[-1:]
        is_glued = BEFORE.match(last) or unicodedata.combining(last or " ") or AFTER.match(after)
        return bool(is_glued or self.has_attributes or SIGN.search("".join(self.text)))


class _Emphases(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._text = ""  # since the last tag that is no emphasis
        self._literal = 0
        self._open: list[_Emphasis] = []
        self._closed: list[_Emphasis] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in EMPHASIS:
            self._open.append(_Emphasis(self._text, bool(attrs), []))
        else:
            self._judge("")
            self._text = ""
            self._literal += tag in LITERAL

    def handle_endtag(self, tag: str) -> None:
        if tag in EMPHASIS and self._open:
            self._closed.append(self._open.pop())
        else:
            self._judge("")
            self._text = ""
            self._literal -= tag in LITERAL

    def handle_data(self, data: str) -> None:
        if self._literal:
            return
        self._judge(data)
        self.found += (f"TeX that is shown as it was written: {found[0]!r}" for found in RAW.finditer(data))
        self._text += data
        for emphasis in self._open:
            emphasis.text.append(data)

    def close(self) -> None:
        super().close()
        self._judge("")

    def _judge(self, after: str) -> None:
        for emphasis in self._closed:
            if emphasis.is_spoiled(after):
                words = f"{emphasis.before[-SHOWN:]}<em>{''.join(emphasis.text)[:SHOWN]}"
                self.found.append(f"Markdown took part of a formula for emphasis: {' '.join(words.split())!r}")
        self._closed = []
