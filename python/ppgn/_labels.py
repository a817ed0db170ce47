"""Text labels as integers, the same everywhere.

Graphs keep labels as 64-bit integers. A text becomes an integer that depends on the text alone, so that graphs that were
converted in different calls, processes or years agree. Up to seven bytes of UTF-8 are packed into the integer and can be
read back; a longer text is represented by 59 bits of its SHA-256. Codes begin at 2**62, beyond the labels that files have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

_TEXT = 1 << 62
_LONG = 1 << 59
_PACKED = 7


def code(text: str) -> int:
    """The integer of a text.

    >>> code("C") == code("C"), code("C") == code("c")
    (True, False)
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= _PACKED:
        return _TEXT | len(data) << 56 | int.from_bytes(data, "big")
    return _TEXT | _LONG | int.from_bytes(hashlib.sha256(data).digest()[:8], "big") % _LONG


def text(number: int) -> str | None:
    """The text of an integer, or None where it is a plain label or the code of a long text.

    >>> text(code("C")), text(6)
    ('C', None)
    """
    if not _TEXT <= number < _TEXT | _LONG:
        return None
    length = (number >> 56) & 7
    packed: int = number & ((1 << 56) - 1)
    try:
        return packed.to_bytes(_PACKED, "big")[_PACKED - length :].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def codes(array: Iterable[Any], what: str = "labels") -> npt.NDArray[np.int64]:
    """An array of labels (text, integers, booleans) as integers of the same shape."""
    values = np.asarray(array)
    if values.dtype.kind in "iub":
        return values.astype(np.int64)
    known: dict[Any, int] = {}
    texts: dict[int, str] = {}

    def number(value: Any) -> int:
        if isinstance(value, str):
            made = code(value)
            if texts.setdefault(made, value) != value:
                raise ValueError(f"{what}: {value!r} and {texts[made]!r} cannot be kept apart: rename one of them")
            return made
        if isinstance(value, (bool, int, np.integer, np.bool_)):
            return int(value)
        raise ValueError(f"{what}: a label must be an integer or a text, not {value!r} ({type(value).__name__})")

    flat = values.reshape(-1).tolist() if values.dtype.kind != "O" else list(values.reshape(-1))
    out = np.empty(len(flat), dtype=np.int64)
    for i, value in enumerate(flat):
        try:
            found = known.get(value)
        except TypeError:
            raise ValueError(
                f"{what}: a label must be an integer or a text, not {value!r} ({type(value).__name__})"
            ) from None
        if found is None:
            # True and 1, 1.0 and 1 are equal as keys: only what is accepted is remembered.
            found = number(value)
            if not isinstance(value, bool):
                known[value] = found
        out[i] = found
    return out.reshape(values.shape)


def plain(labels: npt.NDArray[np.int64]) -> list[Any]:
    """Labels for other software: integers, and the text of those that are one."""
    return [number if (known := text(number)) is None else known for number in labels.tolist()]
