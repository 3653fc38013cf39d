"""Small files in MNIST's format."""

import gzip
import struct

import numpy as np

NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def idx_bytes(array):
    """Return an array of bytes as an IDX file has it."""
    array = np.asarray(array, np.uint8)
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def small_images(n, seed, tied=True):
    """Return n images of 3 x 2 pixels, and labels 0, 3 and 7 that depend on them, with noise, and ties if wanted."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([0, 3, 7], n)
    images = rng.integers(0, 3, (n, 3, 2)) * 60 if tied else rng.integers(0, 130, (n, 3, 2))
    images[np.arange(n), [{0: 0, 3: 1, 7: 2}[label] for label in labels], 0] += 120
    return images.astype(np.uint8), labels.astype(np.uint8)


def write_mnist(folder, packed=False, rows=(40, 30), tied=True):
    """Write four files with so many rows to train and to test on; return the arrays in their order."""
    arrays = [array for n, seed in zip(rows, (0, 1), strict=True) for array in small_images(n, seed, tied)]
    for name, array in zip(NAMES, arrays, strict=True):
        content = idx_bytes(array)
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(content) if packed else content)
    return arrays
