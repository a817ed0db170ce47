"""Sample weights, checked as scikit-learn checks them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def sample_weights(given: Any, number: int) -> npt.NDArray[np.float64] | None:
    """One weight per graph, finite and not negative; None where none were given. A single number is every graph's.

    >>> sample_weights([1, 0.5], 2)
    array([1. , 0.5])
    """
    if given is None:
        return None
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight: one number per graph is needed") from None
    if weights.ndim == 0:
        weights = np.full(number, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != number:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(number,)}!")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"sample_weight of graph {place} is {weights[place]}: weights are finite and not negative")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights
