"""Learners from outside the package: a class in the user's own file, or in a module that can be imported.

``file.py:Class`` names one. Its text travels with the job to worker processes and clusters, as plain data, and is
executed there in a module named after its digest. The file stands alone: it may import installed packages only.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import re
import sys
import traceback
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from praemia.errors import FileError, LearnerFailure, ParameterError, UnknownNameError, did_you_mean
from praemia.files.atomic_io import read_bytes
from praemia.learners.base import Learner
from praemia.learners.registry import names_of, refuse_others

_NAME = re.compile(r"\w[\w.+-]*")
# What Python says of a dataclass on top of a frozen one that has been made already, or of one that is not frozen.
_DECORATED = re.compile(r"Cannot overwrite attribute __(set|del)attr__|cannot inherit non-frozen dataclass")
_REFERENCE = re.compile(r"(?P<file>.+\.py):(?P<kind>\w+)")
MAIN = "__main__"
MAX_LENGTH = 300  # of an error message that is shown on one line


@dataclass(frozen=True)
class LearnerCode:
    """Where to find the class of a learner from outside, as plain data that other processes can use.

    Attributes
    ----------
    place : the file or the module; class_name : the class in it.
    digest : of the file's text. text : the text itself, of a file; None for a module, which is imported.
    """

    place: str
    class_name: str
    digest: str
    text: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, reference: str) -> LearnerCode:
        """Read the file of ``file.py:Class``."""
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            raise UnknownNameError(f"{reference!r} names a file and no class; expected {reference.rstrip(':')}:Class")
        path = Path(match["file"])
        try:
            text = read_bytes(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileError(f"{path}: not a Python file: {error}") from None
        return cls(match["file"], match["kind"], _digest(text.encode()), text)

    @classmethod
    def of(cls, kind: type[Learner]) -> LearnerCode | None:
        """Return where a class is; None for the learners of this package."""
        if kind.__module__.startswith("praemia."):
            return None
        loaded = getattr(sys.modules.get(kind.__module__), "__learner_code__", None)
        if loaded is not None:
            return cls(loaded.place, kind.__qualname__, loaded.digest, loaded.text)
        try:
            source = Path(inspect.getsourcefile(kind) or "")
            text = source.read_bytes() if source.is_file() else inspect.getsource(kind).encode()
        except (OSError, TypeError):
            raise ParameterError(
                f"learner {kind.__qualname__}: the source of its class cannot be found, so a stored run could not say "
                "what was run; put the class in a file"
            ) from None
        return cls(kind.__module__, kind.__qualname__, _digest(text))

    @property
    def origin(self) -> str:
        """The place, the class and the digest, as stored runs name them."""
        return f"{self.place}:{self.class_name}@{self.digest}"

    @property
    def is_portable(self) -> bool:
        """Whether another process can load it: classes of a script, or inside functions, cannot be imported."""
        return self.text is not None or (self.place != MAIN and "<locals>" not in self.class_name)

    def load(self) -> type[Learner]:
        """Return the class; executes the text, or imports the module."""
        return _kind_in_file(self) if self.text is not None else self._imported()

    def _imported(self) -> type[Learner]:
        try:
            kind: Any = import_module(self.place)
            for name in self.class_name.split("."):
                kind = getattr(kind, name)
        except (ImportError, AttributeError) as error:
            raise ParameterError(
                f"{self.place}:{self.class_name} cannot be imported here ({error}); name the learner as file.py:Class, "
                "so that its text comes along"
            ) from None
        here = LearnerCode.of(kind)
        if here is not None and here.digest != self.digest:
            raise ParameterError(f"{self.place}:{self.class_name} is of another version here: {here.digest}")
        return kind  # type: ignore[no-any-return]


def names_a_file(name: str) -> bool:
    """Tell ``file.py:Class`` from the name of a learner."""
    return name.rstrip(":").endswith(".py") or _REFERENCE.fullmatch(name) is not None


def place_of(kind: type) -> str:
    """Return where a class is, as entry points write it; of a class in a file of the user's: file.py:Class."""
    loaded = getattr(sys.modules.get(kind.__module__), "__learner_code__", None)
    return f"{kind.__module__ if loaded is None else loaded.place}:{kind.__qualname__}"


def origin_of(kind: type[Learner]) -> str:
    """Return the origin of a class as a run records it; without a digest where its source cannot be found."""
    try:
        code = LearnerCode.of(kind)
    except ParameterError:
        return place_of(kind)
    return "" if code is None else code.origin


def why_not_a_learner(kind: object) -> str | None:
    """Say what keeps a class from being a learner; None if nothing does."""
    if not isinstance(kind, type) or not issubclass(kind, Learner):
        return "not a learner; expected a class derived from praemia.Learner"
    if inspect.isabstract(kind):
        return f"an abstract class; it lacks {', '.join(f'{name}()' for name in sorted(kind.__abstractmethods__))}"
    for name in kind.variants or [getattr(kind, "name", None)]:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return f"a learner with the name {name!r}; expected a line such as name: ClassVar[str] = 'my-learner'"
        if names_a_file(name):
            return f"a learner with the name {name!r}, which reads as a file's; choose one that does not end in .py"
    lacking = [f.name for f in fields(kind) if f.init and f.default is MISSING and f.default_factory is MISSING]
    return f"a learner whose parameters need defaults: {', '.join(lacking)}" if lacking else None


def failure(error: BaseException, kind: type[Learner]) -> LearnerFailure:
    """Say in one line that a learner raised an error, and where: the last line of its own file, if any."""
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    own = [frame for frame in frames if frame.filename == file]
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    message = " ".join(str(error).split())
    if len(message) > MAX_LENGTH:
        message = f"{message[:MAX_LENGTH]}… (praemia.simulate shows all of it)"
    reason = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return LearnerFailure(f"learner {kind.name!r} failed: {reason}{place}")


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:12]


@cache
def _kind_in_file(code: LearnerCode) -> type[Learner]:
    module = _executed(code.place, code.text or "", code.digest)
    if not hasattr(module, code.class_name):
        kinds = {
            name: kind for name, kind in vars(module).items() if isinstance(kind, type) and issubclass(kind, Learner)
        }
        own = [name for name, kind in kinds.items() if kind.__module__ == module.__name__]
        raise FileError(f"{code.place}: it has no class {code.class_name!r}{did_you_mean(code.class_name, own)}")
    kind = getattr(module, code.class_name)
    reason = why_not_a_learner(kind)
    if reason is not None:
        raise FileError(f"{code.place}{_line_of(code)}: {code.class_name} is {reason}")
    for name in names_of(kind):
        refuse_others(name, place_of(kind))
    return kind  # type: ignore[no-any-return]


@cache
def _executed(file: str, text: str, digest: str) -> ModuleType:
    """Execute a learner's file in a module of its own."""
    # The name tells the file too: the same text in another file has other line numbers to point at.
    module = ModuleType(f"praemia_learner_{_digest(file.encode())}_{digest}")
    module.__file__ = file
    module.__dict__["__learner_code__"] = LearnerCode(file, "", digest, text)
    # Dataclasses look their module up; tracebacks show the text that was executed, whatever becomes of the file.
    sys.modules[module.__name__] = module
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise _not_imported(file, error) from error
    return module


def _not_imported(file: str, error: BaseException) -> FileError:
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else own[-1] if own else 1
    message = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    if _DECORATED.match(message):
        return FileError(f"{file}:{line}: a learner is a dataclass by itself: remove the decorator")
    alone = "; a learner's file may import installed packages only" if isinstance(error, ModuleNotFoundError) else ""
    return FileError(f"{file}:{line}: cannot be imported: {type(error).__name__}: {message}{alone}")


def _line_of(code: LearnerCode) -> str:
    """Return ":line" of where a class is defined; nothing where it comes from elsewhere."""
    lines = [node.lineno for node in ast.parse(code.text or "").body if getattr(node, "name", None) == code.class_name]
    return f":{lines[-1]}" if lines else ""
