"""Drawings: how maps, policies and machines are shown in notebooks, printed and saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from praemia.errors import ParameterError, visible
from praemia.files.atomic_io import write_whole
from praemia.pictures.renderers import render_png, render_svg
from praemia.pictures.scene import Scene


class Drawing:
    """A scene and a text that show the same: a notebook displays it, ``print`` writes it as text, ``save`` a file."""

    def __init__(
        self, name: str, make_scene: Callable[[], Scene], make_text: Callable[[], str], text_ending: str = ".txt"
    ) -> None:
        self._name, self._make_scene, self._make_text = name, make_scene, make_text
        own = {".svg": lambda: self.svg.encode(), ".png": lambda: render_png(self.scene)}
        self._writers = {**own, text_ending: lambda: f"{self}\n".encode()}

    @cached_property
    def scene(self) -> Scene:
        """The scene that is rendered."""
        return self._make_scene()

    @property
    def svg(self) -> str:
        """The drawing as an SVG document."""
        return render_svg(self.scene)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return visible(self._make_text())

    def __repr__(self) -> str:
        return visible(f"Drawing({self._name})")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file, in the format of its ending."""
        *others, last = self._writers
        write = self._writers.get(Path(path).suffix.lower())
        if write is None:
            raise ParameterError(f"cannot draw {str(path)!r}; expected a file {', '.join(others)} or {last}")
        write_whole(Path(path), write())
