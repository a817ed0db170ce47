"""scikit-learn's `check_estimator`, by name.

Its checks feed arrays of numbers. Here every row of an array becomes a graph, a path with the numbers as node attributes,
and the estimators below do nothing else: what they are checked for is ours. Checks that scikit-learn itself skips need
pandas or array API support. Checks on the estimators as they are, without this, end after `check_estimator_cloneable`,
because their tags say that they take no arrays.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import ppgn

sklearn = pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed")

from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import validate_data  # noqa: E402


class _OnRows:
    """Rows of numbers as graphs."""

    def _rows(self, X: Any, reset: bool) -> list[ppgn.Graph]:
        X = validate_data(self, X, reset=reset, dtype="numeric")
        path = [(i, i + 1) for i in range(X.shape[1] - 1)]
        return [ppgn.Graph(X.shape[1], path, node_attributes=row) for row in np.asarray(X, dtype=float)]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        if y is None and hasattr(self, "predict"):
            raise ValueError("requires y to be passed, but the target y is None")
        graphs = self._rows(X, reset=True)
        return super().fit(graphs, y, sample_weight=sample_weight)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = True
        tags.no_validation = False
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True
        return tags


def _on_rows(name: str) -> Any:
    def method(self: Any, X: Any) -> Any:
        ppgn._base.not_fitted(self, "n_features_in_")
        return getattr(super(type(self), self), name)(self._rows(X, reset=False))

    method.__name__ = name
    return method


class RowClassifier(_OnRows, ppgn.PPGNClassifier):
    predict, transform = _on_rows("predict"), _on_rows("transform")
    predict_proba, predict_log_proba = _on_rows("predict_proba"), _on_rows("predict_log_proba")


class RowRegressor(_OnRows, ppgn.PPGNRegressor):
    predict, transform = _on_rows("predict"), _on_rows("transform")


#: All graphs in one batch, so that a weight of 2 can be a graph twice: who shares a batch is drawn by position. In f64,
#: because scikit-learn compares the two to 1e-7.
SETTINGS: dict[str, Any] = {
    "epochs": 1,
    "blocks": [4],
    "batch": 1000,
    "precision": "f64",
    "random_state": 0,
    "validation": None,
}

ESTIMATORS = [RowClassifier(**SETTINGS), RowRegressor(**SETTINGS)]

#: The checks of scikit-learn 1.6 and later that pass; newer versions have more.
PASS = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_fit_score_takes_y",
    "check_estimators_overwrite_params",
    "check_estimators_fit_returns_self",
    "check_readonly_memmap_input",
    "check_requires_y_none",
    "check_n_features_in_after_fitting",
    "check_mixin_order",
    "check_positive_only_tag_during_fit",
    "check_estimators_dtypes",
    "check_complex_data",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_pipeline_consistency",
    "check_estimators_nan_inf",
    "check_estimator_sparse_tag",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_supervised_y_no_nan",
    "check_supervised_y_2d",
    "check_estimators_unfitted",
    "check_parameters_default_constructible",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_get_params_invariance",
    "check_set_params",
    "check_dict_unchanged",
    "check_fit_idempotent",
    "check_fit_check_is_fitted",
    "check_n_features_in",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_all_zero_sample_weights_error",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_check_passes(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    by_status: dict[str, set[str]] = {}
    for result in results:
        by_status.setdefault(result["status"], set()).add(result["check_name"])
    failed = {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}
    assert not failed, failed
    known = {result["check_name"] for result in results}
    missing = set(PASS) & known - by_status["passed"]
    assert not missing and len(by_status["passed"]) >= 45, missing
    assert by_status.get("skipped", set()) <= {
        "check_array_api_input",
        "check_classifier_data_not_an_array",
        "check_regressor_data_not_an_array",
        "check_sample_weights_pandas_series",
    }
