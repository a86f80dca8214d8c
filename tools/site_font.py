"""Make the site's font of formulas, docs/assets/stix-two-math.woff, from STIX Two Math (TrueType, as .ttf or .woff).

Usage: python tools/site_font.py STIXTwoMath-Regular.ttf
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter, load_font, parse_unicodes, save_font
from fontTools.ttLib import TTFont

RADICAL = 0x221A
# Latin, Greek, accents, operators, arrows, brackets; letters in italics, in script and of the blackboard.
CHARACTERS = (
    "20-7E,A0-FF,131,237,2C6,2C7,2DC,300-338,391-3C9,3D1,3D5,3F1,3F5,2010-2026,2032-2034,203E,2061-2064,210E,2113,2115,"
    "2119,211D,2190-21A6,21D2,2200-22FF,2308-230B,23DC-23E1,25A0,25A1,25FB,27E8,27E9,2A7D,2A7E,1D434-1D467,1D4A6,1D4AC,"
    "1D53C,1D54D,1D54E,1D6A4,1D6A5,1D6E2-1D71B,1D7D9"
)
OPTIONS = Options(layout_features=["ccmp"], hinting=False, flavor="woff")


def narrow_tall_radicals(font: TTFont) -> None:
    """Make tall radicals as narrow as the smallest: Chromium reserves the widest one's room after every root."""
    variants = font["MATH"].table.MathVariants
    smallest = font.getBestCmap()[RADICAL]
    radicals = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(smallest)]
    names = {record.VariantGlyph for record in radicals.MathGlyphVariantRecord}
    names |= {part.glyph for part in radicals.GlyphAssembly.PartRecords}
    for name in names - {smallest}:
        width, bearing = font["hmtx"][name]
        factor = font["hmtx"][smallest][0] / width
        pen = TTGlyphPen(None)
        font.getGlyphSet()[name].draw(TransformPen(pen, (factor, 0, 0, 1, 0, 0)))
        font["glyf"][name] = glyph = pen.glyph()
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][name] = (round(width * factor), round(bearing * factor))


def main(source: Path) -> None:
    """Write the part of a font that formulas use."""
    font = load_font(str(source), OPTIONS)
    subsetter = Subsetter(OPTIONS)
    subsetter.populate(unicodes=parse_unicodes(CHARACTERS))
    subsetter.subset(font)
    narrow_tall_radicals(font)
    save_font(font, str(Path(__file__).parents[1] / "docs" / "assets" / "stix-two-math.woff"), OPTIONS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
