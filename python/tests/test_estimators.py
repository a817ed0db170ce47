"""Classifier and regressor: scikit-learn's conventions, pickles, errors, progress."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import ppgn

SMALL = {"epochs": 3, "blocks": [8, 8], "random_state": 1}


@pytest.fixture(scope="module")
def fitted(csl: ppgn.Dataset) -> ppgn.PPGNClassifier:
    return ppgn.PPGNClassifier(**{**SMALL, "epochs": 40}, validation=None).fit(csl, csl.y)


def test_a_classifier_learns(fitted: ppgn.PPGNClassifier, csl: ppgn.Dataset) -> None:
    assert fitted.score(csl, csl.y) == 1.0 and fitted.classes_.tolist() == sorted(set(csl.y.tolist()))
    proba = fitted.predict_proba(csl)
    assert proba.shape == (16, 2) and np.allclose(proba.sum(axis=1), 1)
    assert fitted.transform(csl).shape == (16, 32) and np.allclose(np.exp(fitted.predict_log_proba(csl)), proba)
    assert fitted.n_iter_ == 40 and len(fitted.history_) == 40 and fitted.history_[0]["epoch"] == 1
    assert fitted.settings_["training"]["epochs"] == 40
    assert np.allclose(fitted.network_.embed(csl), fitted.transform(csl), atol=1e-6)


def test_pickles_predict_the_same_bits(fitted: ppgn.PPGNClassifier, csl: ppgn.Dataset) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(csl), fitted.predict_proba(csl))
    assert again.get_params() == fitted.get_params() and again.history_ == fitted.history_
    unfitted = pickle.loads(pickle.dumps(ppgn.PPGNClassifier(epochs=7)))
    assert unfitted.epochs == 7


def test_the_same_seed_gives_the_same_bits(csl: ppgn.Dataset) -> None:
    def proba(**settings: object) -> np.ndarray:
        return ppgn.PPGNClassifier(**{**SMALL, **settings}).fit(csl, csl.y).predict_proba(csl)

    assert np.array_equal(proba(threads=1), proba(threads=3))
    assert not np.array_equal(proba(), proba(random_state=2))
    assert np.array_equal(proba(random_state=np.random.RandomState(3)), proba(random_state=np.random.RandomState(3)))
    assert np.array_equal(proba(random_state=None, seed=5), proba(random_state=5))


def test_classes_may_be_text_and_graphs_a_list(csl: ppgn.Dataset, tmp_path: Path) -> None:
    words = np.where(csl.y == csl.y[0], "yes", "no")
    by_number = ppgn.PPGNClassifier(**SMALL).fit(csl, csl.y)
    by_word = ppgn.PPGNClassifier(**SMALL).fit(list(csl), words)
    assert by_word.classes_.tolist() == ["no", "yes"]
    assert set(by_word.predict(list(csl)).tolist()) <= {"no", "yes"}
    assert by_number.predict_proba(csl).shape == by_word.predict_proba(csl).shape
    # The folder has the names, for the command line and for `open_run`.
    kept = ppgn.PPGNClassifier(**SMALL, run=tmp_path / "run").fit(list(csl), words.astype(object))
    opened = ppgn.open_run(tmp_path / "run")
    assert opened.classes == ["no", "yes"] and opened.predict(csl).tolist() == kept.predict(csl).tolist()
    assert ppgn.PPGNClassifier(**SMALL).fit(csl).score(csl) >= 0


def test_a_regressor_has_one_target_or_several() -> None:
    graphs = list(ppgn.load("gnp:n=8,p=0.5,count=40,seed=1"))
    edges = np.array([g.edges for g in graphs], dtype=float)
    settings = {**SMALL, "epochs": 30, "random_state": 0}
    one = ppgn.PPGNRegressor(**settings, pooling="sum", validation=None).fit(graphs, edges)
    assert one.predict(graphs).shape == (40,) and one.score(graphs, edges) > 0.8
    both = np.stack([edges, -edges], axis=1)
    two = ppgn.PPGNRegressor(**SMALL).fit(graphs, both)
    assert two.predict(graphs).shape == (40, 2) and two.n_outputs_ == 2
    assert np.array_equal(pickle.loads(pickle.dumps(two)).predict(graphs), two.predict(graphs))


def test_validation_chooses_the_epoch(csl: ppgn.Dataset) -> None:
    share = ppgn.PPGNClassifier(**SMALL, validation=0.25).fit(csl, csl.y)
    assert "validation" in share.history_[0] and "test" not in share.history_[0]
    none = ppgn.PPGNClassifier(**SMALL, validation=None).fit(csl, csl.y)
    assert "validation" not in none.history_[0]
    given = ppgn.PPGNClassifier(**SMALL, validation=(csl[::3], csl[::3].y)).fit(csl, csl.y)
    assert len(given.history_) == 3 and "validation" in given.history_[0] and "test" not in given.history_[0]
    assert ppgn.PPGNClassifier(**SMALL, validation=(csl[::3], csl[::3].y), patience=1).fit(csl, csl.y).n_iter_ <= 3
    for wrong in (0.0, 1.5, "some"):
        with pytest.raises(ValueError, match="validation"):
            ppgn.PPGNClassifier(**SMALL, validation=wrong).fit(csl, csl.y)


def test_run_folders_are_the_command_lines(csl: ppgn.Dataset, tmp_path: Path) -> None:
    run = tmp_path / "run"
    model = ppgn.PPGNClassifier(**SMALL, run=run).fit(csl, csl.y)
    opened = ppgn.open_run(run)
    assert np.array_equal(opened.predict_proba(csl), model.predict_proba(csl))
    assert np.array_equal(opened.predict(csl), model.predict(csl)) and opened.classes == model.classes_.tolist()
    assert opened.history == model.history_ and opened.summary is not None and opened.summary["epochs"] == 3
    assert opened.network.parameters.keys() == model.network_.parameters.keys()
    with pytest.raises(FileExistsError):
        ppgn.PPGNClassifier(**SMALL, run=run).fit(csl, csl.y)
    with pytest.raises(FileNotFoundError):
        ppgn.open_run(tmp_path)


@pytest.mark.parametrize("keep", [False, True])
def test_a_warm_start_goes_on_as_if_it_had_not_stopped(csl: ppgn.Dataset, tmp_path: Path, keep: bool) -> None:
    whole = ppgn.PPGNClassifier(**{**SMALL, "epochs": 5}, decay_every=2).fit(csl, csl.y)
    run = tmp_path / "run" if keep else None
    parts = ppgn.PPGNClassifier(**{**SMALL, "epochs": 2}, decay_every=2, warm_start=True, run=run).fit(csl, csl.y)
    parts = parts if keep else pickle.loads(pickle.dumps(parts))
    parts.set_params(epochs=3).fit(csl, csl.y)
    assert parts.n_iter_ == 5 and parts.history_ == whole.history_
    assert np.array_equal(parts.predict_proba(csl), whole.predict_proba(csl))
    with pytest.raises(ValueError, match="rate"):
        parts.set_params(rate=0.5).fit(csl, csl.y)
    with pytest.raises(ValueError, match="data"):
        parts.set_params(rate=None).fit(csl[:12], csl[:12].y)


def test_missing_targets_are_left_out() -> None:
    graphs = list(ppgn.load("gnp:n=6,p=0.5,count=20,seed=1"))
    y = np.array([[float(g.edges), -float(g.edges)] for g in graphs])
    y[::3, 1] = np.nan
    model = ppgn.PPGNRegressor(**SMALL).fit(graphs, y)
    assert np.isfinite(model.predict(graphs)).all() and np.isfinite(model.score(graphs, y))


def test_every_setting_of_the_command_line_is_a_keyword(csl: ppgn.Dataset) -> None:
    model = ppgn.PPGNClassifier(**SMALL, patience=1, weight_decay=0.01, clip=1.0, dropout=0.1, class_weights="balanced")
    assert model.fit(csl, csl.y).n_iter_ <= 3 and model.settings_["training"]["patience"] == 1


def test_progress_and_stopping(csl: ppgn.Dataset) -> None:
    seen: list[int] = []
    model = ppgn.PPGNClassifier(**{**SMALL, "epochs": 9}, progress=lambda e: seen.append(e["epoch"]) or len(seen) == 4)
    assert model.fit(csl, csl.y).n_iter_ == 4 and seen == [1, 2, 3, 4] and model.predict(csl).shape == (16,)

    def fails(epoch: dict) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ppgn.PPGNClassifier(**SMALL, progress=fails).fit(csl, csl.y)
    tqdm = pytest.importorskip("tqdm", reason="SKIPPED: tqdm is not installed")
    assert tqdm and ppgn.PPGNClassifier(**SMALL, progress=True).fit(csl, csl.y).n_iter_ == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": "fast"}, "rate="),
        ({"blocks": [8, "x"]}, "blocks="),
        ({"epochs": 0}, "at least 1"),
        ({"preset": "large"}, "not a preset"),
        ({"device": "cuda"}, "device=\"cuda\".*choose cpu, gpu"),
        ({"device": "gpu:1"}, "device=.gpu:1"),
        ({"random_state": -1}, "negative"),
        ({"model": "mp-lin"}, "model="),
        ({"encoding": object()}, "encoding="),
        ({"random_state": 1, "seed": 1}, "the same"),
    ],
)
def test_wrong_settings_are_value_errors(csl: ppgn.Dataset, settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ppgn.PPGNClassifier(**{**SMALL, **settings}).fit(csl, csl.y)


def test_wrong_data_is_a_value_error(csl: ppgn.Dataset) -> None:
    model = ppgn.PPGNClassifier(**SMALL)
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        ppgn.PPGNClassifier(epoch=3)
    with pytest.raises((ValueError, AttributeError), match="not fitted"):
        model.predict(csl)
    for graphs, y in (([], []), (csl, csl.y[:3]), (list(csl), None), (csl, np.zeros(16)), (csl, np.full(16, np.nan))):
        with pytest.raises(ValueError):
            model.fit(graphs, y)
    model.fit(csl, csl.y)
    with pytest.raises(ValueError, match="graph 0"):
        model.predict([ppgn.Graph(2, [(0, 1)], node_labels=[1, 2])])
    with pytest.raises(ValueError, match="no nodes"):
        model.predict([ppgn.Graph(0)])
    with pytest.raises(MemoryError):
        ppgn.PPGNClassifier(**SMALL, max_memory=1000).fit(csl, csl.y)
    with pytest.raises(FloatingPointError):
        ppgn.PPGNClassifier(**SMALL, rate=1e30, scale="none", norm="none", pooling="sum").fit(csl, csl.y)


def test_parameters_without_work_in_init() -> None:
    model = ppgn.PPGNClassifier(preset="paper-1", epochs="not a number")
    assert model.get_params()["epochs"] == "not a number" and model.set_params(epochs=3).epochs == 3
    assert set(dict(ppgn._ppgn.settings())) <= set(model.get_params())
    assert "epochs=3" in repr(model)
    with pytest.raises(ValueError, match="nothing"):
        model.set_params(nothing=1)


def test_scikit_learns_tools(mutag: ppgn.Dataset) -> None:
    pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed")
    from sklearn.base import clone, is_classifier, is_regressor
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline

    data, y = mutag[::3], mutag[::3].y
    model = ppgn.PPGNClassifier(**SMALL)
    assert is_classifier(model) and is_regressor(ppgn.PPGNRegressor()) and not is_regressor(model)
    assert clone(model).get_params() == model.get_params()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert cross_val_score(model, data, y, cv=folds).shape == (3,)
    search = GridSearchCV(model, {"depth": [1, 2], "rate": [0.001, 0.01]}, cv=2).fit(data, y)
    assert search.best_params_.keys() == {"depth", "rate"} and search.predict(list(data)).shape == (63,)
    pipe = make_pipeline(ppgn.PPGNClassifier(**SMALL), LogisticRegression(max_iter=1000))
    assert pipe.fit(data, y).predict(data).shape == (63,)
