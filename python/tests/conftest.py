"""What tests share. A test that needs software which is not installed is skipped and says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ppgn

HERE = Path(__file__).resolve()


def _data_dir() -> Path | None:
    given = os.environ.get("PPGN_DATA")
    for folder in ([Path(given)] if given else []) + [parent.parent / "shared" / "data" for parent in HERE.parents[1:4]]:
        if folder.is_dir():
            return folder
    return None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = _data_dir()
    if folder is None:
        pytest.skip("SKIPPED: no data folder (PPGN_DATA, or ../shared/data beside the checkout)")
    return folder


@pytest.fixture(scope="session")
def mutag(data_dir: Path) -> ppgn.Dataset:
    try:
        return ppgn.load("MUTAG", data_dir=data_dir)
    except FileNotFoundError:
        pytest.skip("SKIPPED: MUTAG is not in the data folder")


@pytest.fixture(scope="session")
def csl() -> ppgn.Dataset:
    return ppgn.load("csl:n=11,skips=2+3,copies=8")


@pytest.fixture
def square() -> ppgn.Graph:
    return ppgn.Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])


@pytest.fixture
def featured() -> ppgn.Graph:
    return ppgn.Graph(
        3,
        [(0, 1), (1, 2)],
        node_labels=[6, 8, 1],
        node_attributes=[[0.5, 1.0], [2.0, 3.0], [-1.0, 0.0]],
        edge_labels=[1, 2],
        edge_attributes=[0.25, 0.75],
        positions=[[0, 0, 0], [1, 0, 0], [1, 1, 0.5]],
    )
