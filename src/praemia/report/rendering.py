"""How figures and pages look: one look per learner, Matplotlib without its global state, and filled-in templates.

The templates are in ``templates``. Whatever they are given is escaped, unless it is ``Markup``. Pages need nothing but
themselves.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from praemia.displayed import Displayed
from praemia.errors import MissingExtraError, require
from praemia.experiments.paper import UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_B_PUBLISHED, UCRL2_L
from praemia.files.atomic_io import write_whole
from praemia.pictures.renderers import render_svg
from praemia.pictures.scene import Scene
from praemia.text_tables import numeric_columns, plural, table_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, GRID = "#22272E", "#6B7280", "#DDE1E6"


@dataclass(frozen=True)
class Look:
    """A line's look.

    Attributes
    ----------
    colour : as ``#RRGGBB``; dash : lengths of marks and gaps in units of the line's width, empty for a solid line.
    marker : the name of a marker in matplotlib.
    """

    colour: str
    dash: tuple[float, ...]
    marker: str

    @property
    def rgb(self) -> tuple[int, int, int]:
        """The colour as three numbers from 0 to 255."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return red, green, blue


BLUE = Look("#0072B2", (), "o")
_ORANGE = Look("#E69F00", (6.0, 2.0), "s")
_GREEN = Look("#009E73", (6.0, 2.0, 1.5, 2.0), "^")
_VERMILLION = Look("#D55E00", (1.5, 1.5), "D")
_PURPLE = Look("#CC79A7", (3.0, 1.5), "v")
_SKY = Look("#56B4E9", (9.0, 2.0, 1.5, 2.0, 1.5, 2.0), "P")
_BLACK = Look("#000000", (1.0, 3.0), "X")

_OWN = {
    UCBVI_PRM.title: BLUE,
    UCBVI.title: _ORANGE,
    UCRL2_L.title: _GREEN,
    UCRL2_B_PUBLISHED.title: _VERMILLION,
    UCRL2_B.title: _PURPLE,
}
_CYCLE = (_SKY, _BLACK, _ORANGE, _GREEN, _VERMILLION, _PURPLE, BLUE)


def looks(titles: Iterable[str]) -> dict[str, Look]:
    """Give each learner its look: the paper's learners always the same, the others those that are left, in turn."""
    names = list(dict.fromkeys(titles))
    look_of = {name: _OWN[name] for name in names if name in _OWN}
    free = [look for look in _CYCLE if look not in look_of.values()] or list(_CYCLE)
    others = [name for name in names if name not in _OWN]
    look_of.update({name: free[i % len(free)] for i, name in enumerate(others)})
    return look_of


DPI = 160
# No date here and a fixed salt below: the same runs give the same bytes.
_METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def new_figure(width: float, height: float, title: str) -> Figure:
    """Make an empty figure of a size in inches, with a title."""
    require("matplotlib.figure")
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook displays, though pyplot does not know it."""

        def _repr_svg_(self) -> str:
            return render(self, "svg").decode()

    figure = NotebookFigure(figsize=(width, height), facecolor="white", layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK, parse_math=False)
    return figure


def tidy(axes: Axes, title: str, across: str, up: str) -> None:
    """Set a panel's titles and remove clutter."""
    axes.set_title(title, fontsize=10, loc="left", color=INK, parse_math=False)
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(up, fontsize=9)
    axes.tick_params(labelsize=8, colors=GREY, labelcolor=INK)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)


def render(figure: Figure, form: str) -> bytes:
    """Return a figure as the bytes of a file, ``png`` or ``svg``."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "praemia"}):
        figure.savefig(buffer, format=form, dpi=DPI, metadata=_METADATA[form])
    return buffer.getvalue()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as PNG and as SVG, each whole or not at all."""
    paths = []
    for form in ("png", "svg"):
        path = stem.with_name(f"{stem.name}.{form}")
        write_whole(path, render(figure, form))
        paths.append(path)
        figure.set_layout_engine("none")  # the layout is the same for the next form
    return paths


@dataclass(frozen=True)
class Table(Displayed):
    """A table; the rows numbered in ``strong`` are set in bold."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    strong: Iterable[int] = ()

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers."""
        return numeric_columns(self.header, self.rows)

    def __str__(self) -> str:
        return table_text(self.header, self.rows)

    def __repr__(self) -> str:
        return f"Table({plural(len(self.rows), 'row')}: {', '.join(self.header)})"


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
    environment.filters["plural"] = plural
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
        return address(draw(*about))
    except MissingExtraError:
        return None


def address(drawing: Figure | Scene | str) -> str:
    """Return a figure, a scene or an SVG document as an address that holds it whole: no style or id leaks from it."""
    if isinstance(drawing, Scene):
        drawing = render_svg(drawing)
    svg = drawing.encode() if isinstance(drawing, str) else render(drawing, "svg")
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
