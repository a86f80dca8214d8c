"""Execute the user's own Python: files of learners, and what a task file names where the user allows it.

A file of learners stands alone, because its text travels to other processes. What a task file names is looked for
beside it, and imports what lies there, as a script does.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from praemia.errors import FileError, PraemiaError, did_you_mean
from praemia.files.atomic_io import read_bytes

MODULES = "praemia_code_"  # how the names of modules begin that are executed, not imported
_numbers = count()


def execute(file: str, text: str, name: str, **attributes: Any) -> ModuleType:
    """Execute the text of a file in a module of its own; an error names the line of the file."""
    module = ModuleType(name)
    module.__dict__.update(__file__=file, **attributes)
    # Dataclasses look their module up; tracebacks show the text that was executed, whatever becomes of the file.
    sys.modules[name] = module
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _not_imported(file, error) from error
    return module


def _not_imported(file: str, error: BaseException) -> FileError:
    """Say in one line why a file cannot be imported, with the last of its lines that was executed."""
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else own[-1] if own else 1
    if isinstance(error, PraemiaError):
        return FileError(f"{file}:{line}: {error}")
    message = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return FileError(f"{file}:{line}: cannot be imported: {type(error).__name__}: {message}")


def read_code(path: Path) -> str:
    """Return the text of a Python file."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a Python file: {error}") from None


def place_of(reference: str, folder: Path) -> tuple[str, str]:
    """Return where ``module:name`` or ``file.py:name`` points, and the name; a file beside the task's has its path."""
    place, _, name = reference.rpartition(":")
    own = folder / (place if place.endswith(".py") else f"{place}.py")
    return str(own.resolve()) if place.endswith(".py") or own.is_file() else place, name


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Look for modules in a folder first."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def function_of(place: str, name: str) -> Callable[..., Any]:
    """Return a function of a file, which is executed, or of a module, which is imported."""
    if place.endswith(".py"):
        with importing_from(Path(place).parent):
            module = execute(place, read_code(Path(place)), f"{MODULES}{next(_numbers)}")
    else:
        module = _imported(place)
    function = getattr(module, name, None)
    if not callable(function):
        own = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise FileError(f"{place} has no function {name!r}{did_you_mean(name, own)}")
    return function  # type: ignore[no-any-return]


@contextmanager
def environments_of(place: str) -> Iterator[None]:
    """Import a file or a module that registers environments, if one is named; they are then made within."""
    if not place.endswith(".py"):
        if place:
            _imported(place)
        yield
        return
    path = Path(place)
    with importing_from(path.parent):
        module = _imported(path.stem)
        found = getattr(module, "__file__", None) or "Python itself"
        if found != place:
            raise FileError(f"{place} cannot be imported: {found} is imported under this name; rename the file")
        yield


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except PraemiaError:
        raise
    except (Exception, SystemExit) as error:  # the user's own code may raise anything
        raise FileError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def reference_of(function: Any) -> str | None:
    """Return the reference by which a function is found again; None if it has none."""
    name, place = getattr(function, "__qualname__", ""), getattr(function, "__module__", "__main__")
    module = sys.modules.get(place)
    if not name.isidentifier() or place == "__main__" or not callable(getattr(module, name, None)):
        return None
    return f"{module.__file__ if place.startswith(MODULES) else place}:{name}"  # type: ignore[union-attr]
