"""Pages: templates, and what they are filled with; all of it is escaped, unless it is ``Markup``.

Pages need nothing but themselves.
"""

from __future__ import annotations

import base64
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from praemia._support.text_tables import plural
from praemia.errors import PraemiaError, visible
from praemia.experiments.jobs import slug
from praemia.machines.machine import RewardMachine
from praemia.pictures.drawing import Drawing
from praemia.report.styles import style_sheet
from praemia.tasks.task import Task


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
    environment.filters["kind"] = lambda verdict: {True: "held", False: "failed", None: "open"}[verdict.held]
    environment.filters["anchor"] = lambda verdict: f"claim-{slug(verdict.claim.say).lower()}"
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    text = environment.get_template(template).render(style=resource("page.css") + style_sheet(), **values)
    return visible(text).encode()  # names may be from somebody else's file


def resource(name: str) -> Markup:
    """Return a script or a style sheet that lies beside the templates."""
    return Markup(files("praemia.report").joinpath("templates", name).read_text(encoding="utf-8"))


def address(drawing: Drawing) -> str:
    """Return a drawing as an address that holds it whole: no style or id leaks from it."""
    return "data:image/svg+xml;base64," + base64.b64encode(drawing.svg.encode()).decode()


def picture(item: Task | RewardMachine) -> str | None:
    """Return a drawing as an address; None where a package is missing or it would be too large."""
    try:
        return address(item.draw())
    except PraemiaError:
        return None
