"""What identifies the data of a run, so that it goes on with no other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from rosenblatt.storage.json_fields import StrictFields
from rosenblatt.training.batches import as_blocks

Records = list[dict[str, Any]]
"""What has been read of each file: "size", "modified" (its time), "read" (so many bytes), "digest" (of these)."""


class Contents(Protocol):
    """What has been read of the files that blocks come from, as `data.io.contents` notes it."""

    def records(self) -> Records:
        """Return what is known of each file."""

    def restore(self, records: Records | None) -> None:
        """Take over what an earlier run knew of the same files, if it knew something."""

    def changed_size(self, records: Records) -> str:
        """Return what is different about the sizes of files, "" if nothing is."""

    def changed_bytes(self, records: Records, progress: Callable[[float], None]) -> str:
        """Return which file has other bytes than those that were read, "" if none has."""


def watch_contents(blocks: Iterable[Any]) -> Contents | None:
    """Have what is read from now on noted, where blocks come from files; to be called before the first is read."""
    watch = getattr(blocks, "watch_contents", None)
    return None if watch is None else watch()


class RunData:
    """The fingerprint of blocks and, where they come from files that are watched, what has been read of these."""

    def __init__(self, blocks: Iterable[Any], contents: Contents | None = None) -> None:
        self.fingerprint, self._contents = fingerprint(blocks), contents

    def records(self) -> Records | None:
        """Return what has been read of the files, None if that is not known."""
        return None if self._contents is None else self._contents.records()

    def changed(self, then: Any, records: Records | None, progress: Callable[[float], None]) -> str | None:
        """Return what has changed since a run knew its data by this fingerprint and these records, None if nothing has.

        It is "" where nothing more is known. Without records, as 0.1 wrote none, the fingerprint decides alone.
        """
        contents, same = self._contents, self.fingerprint == then
        if contents is None or records is None:
            changed = None if same else ""
        else:
            changed = contents.changed_bytes(records, progress) or None if same else contents.changed_size(records)
        if contents is not None and changed is None:
            contents.restore(records)
        return changed


def records_from_plain(found: Any) -> Records | None:
    """Return what a checkpoint says about files, if it does; a ValueError where that is not valid."""
    if found is None:
        return None
    if type(found) is not list:
        raise ValueError("what it says of the files is no list.")
    for record in found:
        fields = StrictFields(record, "the header: 'files'")
        fields.whole("size", most=2**63)
        fields.whole("modified", -(2**63), 2**63)
        fields.whole("read", most=2**63)
        if fields.take("digest") is not None:
            StrictFields(record, "the header: 'files'").word("digest")
        fields.end()
    return found


def fingerprint(blocks: Iterable[Any]) -> str:
    """Return what identifies these blocks: their own fingerprint, or a digest of their first rows."""
    known = getattr(blocks, "fingerprint", None)
    if known is not None:
        return str(known)
    digest = hashlib.sha256()
    rows = 0
    for block in as_blocks(blocks):
        few = min(block.X.shape[0], 1000 - rows)
        X = block.X[:few]
        X = sp.csr_array(X) if sp.issparse(X) else sp.csr_array(np.asarray(X, dtype=np.float64))
        X.sum_duplicates()
        X.eliminate_zeros()
        labels = block.y[:few].tolist()
        for i in range(few):
            row = slice(X.indptr[i], X.indptr[i + 1])
            digest.update(X.indices[row].astype(np.int64).tobytes() + X.data[row].astype(np.float64).tobytes())
            digest.update(repr(labels[i]).encode())
        rows += few
        if rows >= 1000:
            break
    return digest.hexdigest()
