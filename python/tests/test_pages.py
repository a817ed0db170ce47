"""The examples of docs/python.md run as they are written."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python(.*?)\n(.*?)^```", PAGE.read_text(), re.S | re.M) if PAGE.exists() else []


@pytest.mark.parametrize(("needs", "source"), BLOCKS, ids=[f"block{i}" for i in range(len(BLOCKS))])
def test_examples_run(needs: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = needs.split() + (["sklearn"] if "sklearn" in source else []) + (["scipy"] if "sklearn" in source else [])
    for module in wanted:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"SKIPPED: {module} is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(source, str(PAGE), "exec"), {"__name__": "page"})


def test_the_page_was_found() -> None:
    if not PAGE.exists():
        pytest.skip("SKIPPED: docs/python.md is not beside the tests")
    assert len(BLOCKS) >= 6
