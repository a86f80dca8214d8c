"""Learners from outside the package: a class in the user's own file, or in a module that can be imported.

``file.py:Class`` names one. Its text travels with the job to worker processes and clusters, as plain data, and is
executed there in a module named after its digest. The file stands alone: it may import installed packages only.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
import traceback
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from praemia.errors import FileError, LearnerFailure, ParameterError, UnknownNameError, did_you_mean
from praemia.files.user_code import execute, read_code
from praemia.learners.base import Learner
from praemia.learners.registry import refuse_others

_NAME = re.compile(r"\w[\w.+-]*")
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
        text = read_code(Path(match["file"]))
        return cls(match["file"], match["kind"], _digest(text.encode()), text)

    @classmethod
    def of(cls, kind: type[Learner]) -> LearnerCode | None:
        """Return where a class is, without a digest where its source cannot be found; None for this package's."""
        if kind.__module__.startswith("praemia."):
            return None
        executed = _executed_code(kind)
        if executed is not None:
            return replace(executed, class_name=kind.__qualname__)
        try:
            source = Path(inspect.getsourcefile(kind) or "")
            digest = _digest(source.read_bytes() if source.is_file() else inspect.getsource(kind).encode())
        except (OSError, TypeError):
            digest = ""
        return cls(kind.__module__, kind.__qualname__, digest)

    @property
    def origin(self) -> str:
        """The place, the class and the digest, as stored runs name them."""
        return f"{self.place}:{self.class_name}" + (f"@{self.digest}" if self.digest else "")

    @property
    def is_portable(self) -> bool:
        """Whether another process can load it: classes of a script, or inside functions, cannot be imported."""
        return self.text is not None or (self.place != MAIN and "<locals>" not in self.class_name and bool(self.digest))

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
    executed = _executed_code(kind)
    return f"{kind.__module__ if executed is None else executed.place}:{kind.__qualname__}"


def _executed_code(kind: type) -> LearnerCode | None:
    """Return the file whose text was executed to define a class, if any was."""
    return getattr(sys.modules.get(kind.__module__), "__learner_code__", None)


def why_not_a_learner(kind: object) -> str | None:
    """Say what keeps a class from being a learner; None if nothing does."""
    if not isinstance(kind, type) or not issubclass(kind, Learner):
        return "not a learner; expected a class derived from praemia.Learner"
    if inspect.isabstract(kind):
        return f"an abstract class; it lacks {', '.join(f'{name}()' for name in sorted(kind.__abstractmethods__))}"
    if not isinstance(kind.name, str) or not _NAME.fullmatch(kind.name):
        return f"a learner with the name {kind.name!r}; expected a line such as name: ClassVar[str] = 'my-learner'"
    if names_a_file(kind.name):
        return f"a learner with the name {kind.name!r}, which reads as a file's; choose one that does not end in .py"
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


def _kind_in_file(code: LearnerCode) -> type[Learner]:
    module = _executed(replace(code, class_name=""))
    kind = getattr(module, code.class_name, None)
    if kind is None:
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise FileError(f"{code.place}: it has no class {code.class_name!r}{did_you_mean(code.class_name, own)}")
    reason = why_not_a_learner(kind)
    if reason is not None:
        is_here = isinstance(kind, type) and kind.__module__ == module.__name__
        line = f":{inspect.getsourcelines(kind)[1]}" if is_here else ""
        raise FileError(f"{code.place}{line}: {code.class_name} is {reason}")
    refuse_others(kind)
    return kind  # type: ignore[no-any-return]


@cache
def _executed(code: LearnerCode) -> ModuleType:
    """Execute a learner's file in a module named after the file and its text, which fix the lines to point at."""
    name = f"praemia_learner_{_digest(code.place.encode())}_{code.digest}"
    try:
        return execute(code.place, code.text or "", name, __learner_code__=code)
    except FileError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            raise FileError(f"{error}; a learner's file may import installed packages only") from error.__cause__
        raise
