"""A kernel perceptron row by row in plain floats, with the attributes that pictures and explanations read."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import pairwise_kernels


class NaiveKernelPerceptron(ClassifierMixin, BaseEstimator):
    """One classifier for two classes, else one for each class against the rest; rows in the order given."""

    def __init__(self, kernel="poly", degree=3, gamma=1.0, coef0=1.0, hypothesis="average", max_iter=10):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.hypothesis = hypothesis
        self.max_iter = max_iter

    def fit(self, X, y):
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_, self.gamma_, self.n_features_in_ = np.unique(y), float(self.gamma), X.shape[1]
        K = self._kernel(X, X)
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        moments = [self._moments(K, np.where(y == label, 1, -1)) for label in positive]
        self.converged_ = all(clean for _, clean in moments)
        runs = [np.array(run) for run, _ in moments]  # the counts after each visit
        order = [i for run in runs for i in np.flatnonzero(run.any(axis=0))]
        self.support_ = np.array(list(dict.fromkeys(order)), dtype=np.int64)
        self.support_vectors_ = X[self.support_]
        self._runs = [run[:, self.support_] for run in runs]
        self.last_dual_coef_ = np.array([run[-1] for run in self._runs])
        self.average_dual_coef_ = np.array([run.mean(axis=0) for run in self._runs])
        return self

    def _moments(self, K, signs):
        counts, run = np.zeros(len(K)), []
        for _ in range(self.max_iter):
            mistakes = 0
            for i, sign in enumerate(signs):
                if sign * (K[i] @ counts) <= 0:
                    counts[i] += sign
                    mistakes += 1
                run.append(counts.copy())
            if not mistakes:
                break
        return run, mistakes == 0

    def _kernel(self, X, Z):
        options = {"degree": self.degree, "gamma": self.gamma_, "coef0": self.coef0}
        return pairwise_kernels(X, Z, metric=self.kernel, filter_params=True, **options)

    @property
    def dual_coef_(self):
        if self.hypothesis == "vote":
            raise AttributeError("a vote has no coefficients of its own")
        return self.average_dual_coef_ if self.hypothesis == "average" else self.last_dual_coef_

    def kernel_values(self, X):
        return self._kernel(np.asarray(X, dtype=float), self.support_vectors_)

    def decision_function(self, X):
        K = self.kernel_values(X) if len(self.support_) else np.zeros((len(X), 0))
        if self.hypothesis == "vote":
            scores = np.column_stack([np.sign(K @ run.T).mean(axis=1) for run in self._runs])
        else:
            scores = K @ self.dual_coef_.T
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X):
        scores = self.decision_function(X)
        return self.classes_[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)]


def nothing_learned(labels=(0, 1)):
    """Return a model of two features without support rows, as from rows of weight 0 only."""
    model = NaiveKernelPerceptron().fit(np.eye(2), labels)
    model.support_, model.support_vectors_ = np.empty(0, np.int64), np.empty((0, 2))
    model.last_dual_coef_ = model.average_dual_coef_ = np.empty((1, 0))
    return model
