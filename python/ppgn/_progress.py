"""What is heard of a training while it runs: a bar, or a function that may stop it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any


class Watch:
    """Shows progress, and asks a callback whether to stop."""

    def __init__(self, progress: bool | Callable[[dict[str, Any]], Any], epochs: int | None) -> None:
        self.callback = progress if callable(progress) else None
        self.bar: Any = None
        self.history: list[dict[str, Any]] = []
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm, or give a function") from None
            self.bar = tqdm(total=epochs, unit="epoch")

    def __call__(self, kind: str, *what: Any) -> Any:
        if kind == "note":
            warnings.warn(what[0], stacklevel=4)
        if kind != "epoch":
            return None
        epoch = {**json.loads(what[0]), "seconds": what[1]}
        self.history.append(epoch)
        if self.bar is not None:
            self.bar.set_postfix(loss=f"{epoch['train']['loss']:.4g}", refresh=False)
            self.bar.update()
        return self.callback(epoch) if self.callback is not None else None

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
