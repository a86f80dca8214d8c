"""Something drawn: the one way in which maps, policies and machines are shown in notebooks, printed and saved."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from praemia.errors import ParameterError
from praemia.files.atomic_io import write_whole
from praemia.pictures.renderers import render_png, render_svg
from praemia.pictures.scene import Scene


class Drawing(ABC):
    """A scene and a text that show the same: a notebook displays it, ``print`` writes it as text, ``save`` a file."""

    text_ending: ClassVar[str] = ".txt"

    @property
    @abstractmethod
    def scene(self) -> Scene:
        """What is drawn."""

    @abstractmethod
    def __str__(self) -> str:
        """Return the text, without an end of its last line."""

    @property
    def svg(self) -> str:
        """The drawing as an SVG document."""
        return render_svg(self.scene)

    def _repr_svg_(self) -> str:
        return self.svg

    @property
    def writers(self) -> Mapping[str, Callable[[], bytes]]:
        """What a file holds, by its ending."""
        return {
            ".svg": lambda: self.svg.encode(),
            ".png": lambda: render_png(self.scene),
            self.text_ending: lambda: f"{self}\n".encode(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file; its ending chooses one of ``writers``."""
        *others, last = self.writers
        write = self.writers.get(Path(path).suffix.lower())
        if write is None:
            raise ParameterError(f"cannot draw {str(path)!r}; expected a file {', '.join(others)} or {last}")
        write_whole(Path(path), write())
