"""The WL subtree kernel (Shervashidze et al. 2011) as scikit-learn transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _ppgn
from ._base import BaseEstimator, TransformerMixin, graph_tags, not_fitted
from ._convert import Options, as_graphs
from .wl import _asked


class _OnColours(TransformerMixin, BaseEstimator):
    """What both transformers share: options, validation, the fitted graphs."""

    n_iter: int
    labels: bool
    attributes: bool
    node_label: str | None
    edge_label: str | None
    strings: str

    def __init__(
        self, n_iter: int, labels: bool, attributes: bool, node_label: str | None, edge_label: str | None, strings: str
    ) -> None:
        self.n_iter = n_iter
        self.labels = labels
        self.attributes = attributes
        self.node_label = node_label
        self.edge_label = edge_label
        self.strings = strings

    def _graphs(self, X: Any) -> list[_ppgn.Graph]:
        options = Options.of(node_label=self.node_label, edge_label=self.edge_label, strings=self.strings)
        graphs = as_graphs(X, options)
        if not graphs:
            raise ValueError("0 sample(s): at least one graph is needed")
        return graphs

    def _checked(self) -> tuple[int, dict[str, Any]]:
        if not isinstance(self.n_iter, (int, np.integer)) or self.n_iter < 0:
            raise ValueError(f"n_iter={self.n_iter!r}: an integer of at least 0 is needed")
        return int(self.n_iter), _asked(self.labels, self.attributes)

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__())  # type: ignore[misc]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "graphs_")


class WLKernel(_OnColours):
    """The Gram matrix of the WL subtree kernel.

    The kernel of two graphs is the inner product of their colour histograms after rounds 0, 1, ..., `n_iter` of 1-WL.
    `fit` keeps the training graphs; `transform` gives one row per graph and one column per training graph, as
    `sklearn.svm.SVC(kernel="precomputed")` takes it.

    Parameters
    ----------
    n_iter : int, default 5
        Rounds of colour refinement.
    normalize : bool, default False
        Divide by the root of both graphs' kernels with themselves, so that the diagonal is 1.
    labels, attributes : bool
        Whether node and edge labels (attributes, bit by bit) are initial colours.
    node_label, edge_label, strings
        How graphs of other software are converted: see `ppgn.as_graph`.

    Attributes
    ----------
    graphs_ : list of Graph
        The training graphs.

    Examples
    --------
    >>> import ppgn
    >>> path, edge = ppgn.Graph(3, [(0, 1), (1, 2)]), ppgn.Graph(2, [(0, 1)])
    >>> ppgn.wl.WLKernel(n_iter=1).fit_transform([path, edge])
    array([[14., 10.],
           [10.,  8.]])
    """

    def __init__(
        self,
        n_iter: int = 5,
        *,
        normalize: bool = False,
        labels: bool = True,
        attributes: bool = False,
        node_label: str | None = None,
        edge_label: str | None = None,
        strings: str = "auto",
    ) -> None:
        super().__init__(n_iter, labels, attributes, node_label, edge_label, strings)
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> WLKernel:
        """Keep the training graphs."""
        self._checked()
        self.graphs_ = self._graphs(X)
        self.n_features_out_ = len(self.graphs_)
        return self

    def _scaled(
        self, gram: npt.NDArray[np.float64], rows: npt.NDArray[np.float64], columns: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        if self.normalize:
            gram /= np.sqrt(rows)[:, None]
            gram /= np.sqrt(columns)[None, :]
        return gram

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> npt.NDArray[np.float64]:
        """The Gram matrix of the training graphs: shape (graphs, graphs)."""
        self.fit(X)
        n_iter, asked = self._checked()
        gram, diagonal = _ppgn.wl_gram(self.graphs_, None, n_iter, asked)
        self._diagonal = diagonal
        return self._scaled(gram, diagonal, diagonal)

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """The kernel of graphs with the training graphs: shape (graphs, training graphs)."""
        not_fitted(self, "graphs_")
        n_iter, asked = self._checked()
        gram, rows = _ppgn.wl_gram(self.graphs_, self._graphs(X), n_iter, asked)
        if not self.normalize:
            return gram
        _, columns = _ppgn.wl_gram(self.graphs_, None, n_iter, asked)
        return self._scaled(gram, rows, columns)


class WLVectorizer(_OnColours):
    """Colour histograms as sparse features: what the WL subtree kernel is the inner product of.

    One column per round and colour of the training graphs. `transform` leaves out colours that no training graph has, as
    scikit-learn's vectorizers leave out unknown words.

    Parameters
    ----------
    n_iter : int, default 5
        Rounds of colour refinement.
    sparse : bool, default True
        A SciPy CSR matrix, or else a NumPy array.
    labels, attributes, node_label, edge_label, strings
        As in `WLKernel`.

    Attributes
    ----------
    graphs_ : list of Graph
        The training graphs, together with which later graphs are coloured.
    n_features_out_ : int
        The number of columns.

    Examples
    --------
    >>> import ppgn
    >>> path, edge = ppgn.Graph(3, [(0, 1), (1, 2)]), ppgn.Graph(2, [(0, 1)])
    >>> ppgn.wl.WLVectorizer(n_iter=1, sparse=False).fit_transform([path, edge])
    array([[3, 2, 1],
           [2, 2, 0]])
    """

    def __init__(
        self,
        n_iter: int = 5,
        *,
        sparse: bool = True,
        labels: bool = True,
        attributes: bool = False,
        node_label: str | None = None,
        edge_label: str | None = None,
        strings: str = "auto",
    ) -> None:
        super().__init__(n_iter, labels, attributes, node_label, edge_label, strings)
        self.sparse = sparse

    def fit(self, X: Any, y: Any = None) -> WLVectorizer:
        """Find the colours of the training graphs."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """The features of the training graphs: shape (graphs, columns)."""
        n_iter, asked = self._checked()
        graphs = self._graphs(X)
        rows = _ppgn.wl_features(graphs, n_iter, asked)
        self.graphs_ = graphs
        self.n_features_out_ = rows[3]
        return self._matrix(rows)

    def transform(self, X: Any) -> Any:
        """The features of graphs, in the columns of the training graphs."""
        not_fitted(self, "graphs_")
        n_iter, asked = self._checked()
        return self._matrix(_ppgn.wl_seen(self.graphs_, self._graphs(X), n_iter, asked))

    def _matrix(self, rows: tuple[Any, Any, Any, int]) -> Any:
        values, indices, indptr, columns = rows
        shape = (len(indptr) - 1, columns)
        if self.sparse:
            try:
                from scipy.sparse import csr_matrix
            except ImportError:
                raise ImportError("sparse features need SciPy: pip install scipy, or sparse=False") from None
            return csr_matrix((values, indices, indptr), shape=shape)
        out = np.zeros(shape, dtype=np.int64)
        out[np.repeat(np.arange(shape[0]), np.diff(indptr)), indices] = values
        return out
