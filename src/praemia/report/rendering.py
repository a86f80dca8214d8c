"""Fill in the page templates: tables, pictures, and pages that need nothing but themselves.

The templates are in ``templates``. Whatever they are given is escaped, unless it is ``Markup``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from praemia.drawing.style import render
from praemia.errors import MissingExtraError
from praemia.pictures.renderers import render_svg
from praemia.pictures.scene import Scene
from praemia.text_tables import numeric_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Table:
    """A table; the rows numbered in ``strong`` are set in bold."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    strong: Iterable[int] = ()

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers."""
        return numeric_columns(self.header, self.rows)


def render_page(template: str, **values: Any) -> bytes:
    """Return a whole page as the bytes of a file."""
    environment = Environment(
        loader=PackageLoader("praemia.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    return environment.get_template(template).render(style=resource("page.css"), **values).encode()


def resource(name: str) -> Markup:
    """Return a script or a style sheet that lies beside the templates."""
    return Markup(files("praemia.report").joinpath("templates", name).read_text(encoding="utf-8"))


def inline_svg(text: str) -> Markup:
    """Return an SVG document as an element: no header, and no ids, which would not be unique in a page."""
    return Markup(re.sub(r' id="[^"]*"', "", text[text.index("<svg") :]))


def picture(draw: Callable[..., Figure | Scene], *about: Any) -> str | None:
    """Return a figure or a scene as an address that holds it whole; None if a package for it is missing."""
    try:
        drawing = draw(*about)
        svg = render_svg(drawing).encode() if isinstance(drawing, Scene) else render(drawing, "svg")
        return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    except MissingExtraError:
        return None
