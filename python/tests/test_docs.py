"""Every example of the docstrings runs."""

from __future__ import annotations

import doctest
import importlib

import pytest

import ppgn

MODULES = ["ppgn", "ppgn.wl", "ppgn.nn", "ppgn._convert", "ppgn._data", "ppgn._labels", "ppgn._kernels", "ppgn._runs"]
MODULES += ["ppgn._estimators"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0 and result.attempted > 0


@pytest.mark.parametrize("kind", [ppgn.Graph, ppgn.Dataset])
def test_examples_of_compiled_classes_run(kind: type) -> None:
    runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder()
    tests = [test for test in finder.find(kind, kind.__name__) if test.examples]
    assert tests and all(runner.run(test).failed == 0 for test in tests)


def test_everything_public_is_documented() -> None:
    for module in (ppgn, ppgn.wl, ppgn.nn):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                assert thing.__doc__, f"{module.__name__}.{name}"
