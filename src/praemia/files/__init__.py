"""Task and machine files: load them, with the place of every mistake, save them, and point out what seems odd."""

from praemia.files.building import parse_task
from praemia.files.load_save import (
    load,
    load_machine,
    load_task,
    looks_like_file,
    resolve_task,
    save_machine,
    save_task,
)
from praemia.files.writing import dump

__all__ = [
    "dump",
    "load",
    "load_machine",
    "load_task",
    "looks_like_file",
    "parse_task",
    "resolve_task",
    "save_machine",
    "save_task",
]
