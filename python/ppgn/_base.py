"""The base of everything that follows scikit-learn's conventions: its own classes where it is installed, else the few
methods that they need."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The package is typed without scikit-learn, which has no types.
    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...

    class TransformerMixin:
        pass

    class ClassifierMixin:
        pass

    class RegressorMixin:
        pass

    class NotFittedError(ValueError, AttributeError):
        pass

    class DataConversionWarning(UserWarning):
        pass

    HAS_SKLEARN: bool
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
        from sklearn.exceptions import DataConversionWarning, NotFittedError

        HAS_SKLEARN = True
    except ImportError:
        HAS_SKLEARN = False

        class NotFittedError(ValueError, AttributeError):
            """An estimator is used before it is fitted."""

        class DataConversionWarning(UserWarning):
            """What was given was converted."""

        class BaseEstimator:
            """Parameters by name, as in scikit-learn."""

            @classmethod
            def _get_param_names(cls):
                parameters = inspect.signature(cls.__init__).parameters.values()
                return sorted(p.name for p in parameters if p.name != "self" and p.kind != p.VAR_KEYWORD)

            def get_params(self, deep=True):
                return {name: getattr(self, name) for name in self._get_param_names()}

            def set_params(self, **params):
                known = self._get_param_names()
                for name, value in params.items():
                    if name not in known:
                        raise ValueError(f"Invalid parameter {name!r} for estimator {self}: there are {known}")
                    setattr(self, name, value)
                return self

            def __repr__(self):
                defaults = inspect.signature(type(self)).parameters
                given = {k: v for k, v in self.get_params().items() if repr(v) != repr(defaults[k].default)}
                return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"

        class TransformerMixin:
            """`fit_transform` of transformers that have none of their own."""

            def fit_transform(self, X, y=None, **params):
                return self.fit(X, y, **params).transform(X)

        class ClassifierMixin:
            """Marks a classifier."""

        class RegressorMixin:
            """Marks a regressor."""


def not_fitted(estimator: object, attribute: str) -> None:
    """An error where the estimator has not been fitted."""
    if not hasattr(estimator, attribute):
        name = type(estimator).__name__
        raise NotFittedError(
            f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
        )


def graph_tags(tags: Any) -> Any:
    """The tags of an estimator whose input is a sequence of graphs."""
    tags.input_tags.two_d_array = False
    tags.input_tags.one_d_array = False
    tags.input_tags.sparse = False
    tags.no_validation = True
    return tags
