"""States of kernel perceptrons for tests of files: trained, stored, changed in between, read back."""

from __future__ import annotations

import functools
import json

import numpy as np
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import state_from_plain, state_to_plain
from helpers.naive_dual import dual_run, kernel_values
from rosenblatt.training.options import Kernel

LAYOUTS = {
    "dense": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr of float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "matrix": sp.csr_matrix,
    "wide indices": lambda X: sp.csr_array((sp.csr_array(X).data, *_wide(sp.csr_array(X))), shape=X.shape),
}
CLASSES = [(2, False), (3, False), (3, True)]


def _wide(X):
    return X.indices.astype(np.int64), X.indptr.astype(np.int64)


@functools.cache
def trained(name="poly", classes=2, direct=False, hypothesis="last", layout="dense", kind="gauss", weighted=False):
    X, y = small_set(kind, n=40, classes=classes, seed=3)
    kernel = Kernel(name, gamma=0.25, coef0=0.5)
    X = kernel_values(Kernel("rbf"), X) if name == "precomputed" else LAYOUTS[layout](X)
    steps = np.random.default_rng(0).choice([0.0, 0.3, 2.0], len(y)) if weighted else None
    state = dual_run(X, y, kernel, classes, direct, hypothesis, passes=3, steps=steps)
    state.feature_ranges, state.validation_error = np.arange(float(X.shape[1])), [0.5, 0.25]
    return state


def back(state, edit=lambda header, arrays: None, classes=None):
    header, arrays = state_to_plain(state)
    arrays = {name: array.copy() for name, array in arrays.items()}
    edit(header, arrays)
    classes = state.n_classes if classes is None else classes
    return state_from_plain(json.loads(json.dumps(header)), arrays, classes, "KernelPerceptron")
