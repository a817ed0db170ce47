"""Cross-validation and search on joblib's backends: processes (loky) and Dask workers share nothing but pickles."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ppgn

sklearn = pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed")
joblib = pytest.importorskip("joblib", reason="SKIPPED: joblib is not installed")

MODEL = {"epochs": 2, "blocks": [8], "random_state": 0}


def scores(data: ppgn.Dataset, n_jobs: int | None) -> np.ndarray:
    from sklearn.model_selection import cross_val_score

    return cross_val_score(ppgn.PPGNClassifier(**MODEL), data, data.y, cv=4, n_jobs=n_jobs, error_score="raise")


@pytest.fixture(scope="module")
def data(csl: ppgn.Dataset) -> ppgn.Dataset:
    return ppgn.load("csl:n=13,skips=2+3+5,copies=8")


def test_loky_gives_the_same_scores(data: ppgn.Dataset) -> None:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert np.array_equal(scores(data, None), scores(data, 1))


def test_threads_give_the_same_scores(data: ppgn.Dataset) -> None:
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert np.array_equal(scores(data, None), scores(data, 1))


def test_dask_gives_the_same_scores(data: ppgn.Dataset) -> None:
    distributed = pytest.importorskip("distributed", reason="SKIPPED: dask.distributed is not installed")
    from sklearn.model_selection import GridSearchCV

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        assert np.array_equal(scores(data, -1), scores(data, 1))
        search = GridSearchCV(ppgn.PPGNClassifier(**MODEL), {"depth": [1, 2]}, cv=2, n_jobs=-1).fit(data, data.y)
    alone = GridSearchCV(ppgn.PPGNClassifier(**MODEL), {"depth": [1, 2]}, cv=2, n_jobs=1).fit(data, data.y)
    assert np.array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert np.array_equal(search.predict_proba(data), alone.predict_proba(data))


def test_estimators_pickle_compactly(data: ppgn.Dataset) -> None:
    assert len(pickle.dumps(ppgn.PPGNClassifier(**MODEL))) < 2000
    fitted = ppgn.PPGNClassifier(**MODEL).fit(data, data.y)
    numbers = sum(value.size for value in fitted.network_.parameters.values())
    assert len(pickle.dumps(fitted)) < 4 * numbers + 12_000
