"""Settings of training by the names of the command line, and their values as it would be given them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _ppgn

#: Every setting with its description; `None` keeps the preset's value.
SETTINGS: dict[str, str] = {name: " ".join(text.split()) for name, text in _ppgn.settings()}


def text(name: str, value: Any) -> str:
    """A value as the command line takes it: `[32, 32]` is `32,32`."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(text(name, item) for item in value)
    if isinstance(value, (float, np.floating)):
        # `repr` is the shortest text that is read back as the same number.
        return repr(float(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, str):
        return value
    raise ValueError(f"{name}={value!r}: a number, a text or a list of numbers is needed")


def pairs(values: dict[str, Any]) -> list[tuple[str, str]]:
    """All values that are set."""
    return [(name, text(name, value)) for name, value in values.items() if value is not None]


def described() -> str:
    """The settings as a section of a docstring."""
    lines = []
    for name, about in SETTINGS.items():
        lines.append(f"    {name}")
        lines.append(f"        {about}.")
    return "\n".join(lines)


def folder(run: str | os.PathLike[str]) -> str:
    """The path of a run folder."""
    return os.path.abspath(os.fspath(run))
