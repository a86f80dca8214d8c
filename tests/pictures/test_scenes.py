"""Scenes: every item is drawn where it lies, by every back end."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

import praemia
from praemia import envs
from praemia.pictures.colours import DARK, GREY, INK, LIT, NODE, ON_LIT, PAPER, ROLES, UNVISITED, tint
from praemia.pictures.diagrams import machine_beside
from praemia.pictures.renderers import render_image, render_svg
from praemia.pictures.scene import Area, Item, Line, Scene, Text, arrow, place

RED = "#ff0000"


def red(*items: Item, scale: float = 1.0) -> NDArray[np.bool_]:
    """Draw items on a page of 60 × 40 pixels and tell which pixels are red, [y, x]."""
    image = np.asarray(render_image(Scene(60, 40, items), scale)).astype(int)
    mask: NDArray[np.bool_] = (image[..., 0] > 200) & (image[..., 1] < 100)
    return mask


def box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """The first and the last column and row that are marked: x, x', y, y'."""
    y, x = np.nonzero(mask)
    return int(x.min()), int(x.max()), int(y.min()), int(y.max())


def test_areas_cover_their_pixels_and_no_others() -> None:
    mask = red(Area(20, 15, 10, 6, RED))
    assert box(mask) == pytest.approx((15, 24, 12, 17), abs=1)
    assert mask[12:18, 15:25].all()
    oval = red(Area(30, 20, 40, 30, RED, is_round=True))
    assert oval.sum() == pytest.approx(np.pi / 4 * 40 * 30, rel=0.03)
    assert not oval[6, 11]
    outline = red(Area(30, 20, 20, 20, "", RED, 4))
    assert box(outline) == pytest.approx((18, 41, 8, 31), abs=1)
    assert not outline[14:26, 24:36].any()
    assert red(Area(20, 15, 10, 6, RED), scale=2).sum() == pytest.approx(4 * 60, rel=0.1)


@pytest.mark.parametrize("end", [(50, 20), (10, 20), (30, 38), (30, 2)])
def test_an_arrow_is_wider_at_its_head_and_ends_at_its_tip(end: tuple[float, float]) -> None:
    tip = np.array(end)
    start = np.array([30, 20]) - (tip - (30, 20))
    mask = red(arrow((float(start[0]), float(start[1])), end, RED, 2.0))
    y, x = np.nonzero(mask)
    along = (np.stack((x, y), axis=1) - start) @ (tip - start) / np.linalg.norm(tip - start)
    length = float(np.linalg.norm(tip - start))
    assert along.max() == pytest.approx(length, abs=2)
    at_head, at_tail = (np.sum(np.abs(along - place) < 1) for place in (length - 8, 5))
    assert at_head > 2 * at_tail


@pytest.mark.parametrize(("anchor", "share"), [("start", 0.0), ("middle", 0.5), ("end", 1.0)])
def test_a_text_is_anchored_and_its_middle_is_its_place(anchor: str, share: float) -> None:
    first, last, top, bottom = box(red(Text(30, 20, "HHH", 12, RED, bold=True, anchor=anchor)))
    assert first + share * (last - first) == pytest.approx(30, abs=2)
    assert (top + bottom) / 2 == pytest.approx(20, abs=1)


def test_svg_has_an_element_for_each_item_with_its_numbers() -> None:
    items = (
        Area(20, 15, 10, 6, RED),
        Area(5, 6, 4, 2, RED, is_round=True),
        Line(((1, 2), (3, 4.5)), RED, 2),
        Line(((1, 2), (3, 4), (5, 2)), RED),
        Text(1, 2, "a<b", 10),
    )
    root = ElementTree.fromstring(render_svg(Scene(60, 40, items)))
    _, paper, rect, ellipse, line, area, text = root
    assert paper.get("width") == "100%"
    assert [rect.get(key) for key in ("x", "y", "width", "height")] == ["15", "12", "10", "6"]
    assert [ellipse.get(key) for key in ("cx", "cy", "rx", "ry")] == ["5", "6", "2", "1"]
    assert (line.get("points"), line.get("stroke-width"), line.get("fill")) == ("1,2 3,4.5", "2", "none")
    assert (area.get("points"), area.get("fill")) == ("1,2 3,4 5,2", RED)
    assert text.text == "a<b"


def test_items_that_are_placed_twice_are_where_both_lead() -> None:
    items: tuple[Item, ...] = (
        Area(1, 2, 3, 4, RED, RED, 0.5),
        Line(((1, 2), (3, 4)), RED, 0.5),
        Text(1, 2, "a", 3),
    )
    assert place(place(items, 10, 20, 2), 1, 2, 4) == place(items, 41, 82, 8)
    assert place(items, 0, 0) == list(items)


def test_every_colour_has_a_partner_on_dark_pages_but_amber() -> None:
    task = envs.warehouse(3)
    run = praemia.simulate(task, "ucbvi", num_episodes=20)
    drawings = [task.draw(), praemia.show(task, run), praemia.show(envs.make("office-mail")), run.plot()]
    drawings += [envs.make(name).machine.draw() for name in ("office-mail", "random-20x4x5-0")]
    for drawing in drawings:
        used = set(re.findall(r'(?:fill|stroke)="(#[^"]*)"', drawing.svg))
        assert len(used) > 2
        assert used <= DARK.keys()
        for colour in used:
            assert f'="{colour}"] {{' in drawing.svg
    lit = machine_beside(task.machine, 900, 900, lit="loaded")
    assert lit is not None
    assert [item.text for item in lit.items if isinstance(item, Text) and item.colour == ON_LIT] == ["loaded"]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    shares = [[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in (one, other)]
    linear = [
        [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in own] for own in shares
    ]
    low, high = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in linear)
    return (high + 0.05) / (low + 0.05)


def test_texts_are_legible_on_light_pages_and_on_dark_ones() -> None:
    grounds = [(PAPER, INK), (PAPER, GREY), (NODE, INK), (UNVISITED, INK), (LIT, ON_LIT)]
    grounds += [(inside, INK) for inside, _ in ROLES.values()]
    grounds += [(tint(shade), INK if shade <= 0.6 else PAPER) for shade in np.linspace(0, 1, 25).tolist()]
    for ground, text in grounds:
        for own in ((ground, text), (DARK.get(ground, ground), DARK.get(text, text))):
            assert contrast(*own) >= 3.0, own
