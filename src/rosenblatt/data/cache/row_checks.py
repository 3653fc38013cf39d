"""Checks of files of rows: what a stranger wrote is as harmless as what this library wrote, or is refused."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.row_source import Facts
from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, is_number_type
from rosenblatt.data.tables.list_columns import LISTS
from rosenblatt.kernels.parsing.list_columns import MAX_COLUMNS
from rosenblatt.storage.json_fields import StrictFields

if TYPE_CHECKING:
    import pyarrow as pa

LABEL, WEIGHT, FEATURES = "label", "weight", "features"
"""The columns of a batch; sparse rows have two lists in place of the last."""
_RECORD_BATCH, _COMPRESSION = 2, 3
"""The places of these fields in Arrow's messages, and in the record batches within them."""


def read_places(facts: object, end: int) -> list[list[int]]:
    """Return start, size and checksum of each part of a file: one after the other, up to ``end``."""
    fields = StrictFields(facts, "what it says of its rows")
    fields.flag("checked")
    fields.whole("n_features", 0, MAX_COLUMNS)
    places = fields.values("messages")
    start = 0
    for place in places:
        if type(place) is not list or [type(number) for number in place] != [int] * 3 or place[0] != start:
            raise fields.wrong("messages", "the places of all parts", place)
        start += max(0, place[1])
    if not places or start != end:
        raise ValueError("it has other parts than it says")
    return places


def check_facts(facts: Facts) -> None:
    """Raise a ValueError unless these are the facts that a source told a cache."""
    fields = StrictFields({name: value for name, value in facts.items() if name != "messages"}, "what it says")
    fields.word("key")
    fields.flag("checked")
    fields.words("complaints")
    for name in ("rows", "skipped", "n_features"):
        fields.whole(name)
    unseen, words = fields.take("unseen"), fields.values("words")
    filled = fields.take("filled") if fields.has("filled") else {}  # earlier versions did not count them
    sound = all(type(one) is dict and all(type(count) is int for count in one.values()) for one in (unseen, filled))
    sound = sound and all(type(pair) is list and [type(part) for part in pair] == [int, str] for pair in words)
    if not sound:
        raise ValueError("what it says of words is not as expected")
    fields.end()


def check_schema(schema: pa.Schema) -> None:
    """Raise a ValueError unless the columns are those that blocks are written as."""
    types = import_arrow().types
    dense = schema.names == [LABEL, WEIGHT, FEATURES]
    sound = dense or schema.names == [LABEL, WEIGHT, *LISTS]
    label, weight, *lists = schema.types
    sound = sound and (types.is_string(label) or is_number_type(label)) and types.is_floating(weight)
    sound = sound and all(types.is_fixed_size_list(each) if dense else types.is_list(each) for each in lists)
    if sound:
        *indices, values = (each.value_type for each in lists)
        sound = all(types.is_int32(each) or types.is_int64(each) for each in indices)
        sound = sound and (types.is_float32(values) or types.is_float64(values))
    if not sound:
        raise ValueError("its columns are not those of rows")


def is_compressed(message: pa.Buffer) -> bool:
    """Return whether the numbers of a record batch are compressed, as those of this library never are."""
    metadata = bytes(import_arrow(".ipc").read_message(message).metadata)

    def field(table: int, number: int) -> int:
        """Return where a field of a table points to, 0 where it has none (the layout is that of flatbuffers)."""
        (back,) = struct.unpack_from("<i", metadata, table)
        (size,) = struct.unpack_from("<H", metadata, table - back)
        place = struct.unpack_from("<H", metadata, table - back + 4 + 2 * number)[0] if 4 + 2 * number < size else 0
        return table + place + struct.unpack_from("<I", metadata, table + place)[0] if place else 0

    try:
        return field(field(struct.unpack_from("<I", metadata)[0], _RECORD_BATCH), _COMPRESSION) != 0
    except struct.error:
        raise ValueError("its rows are not as they were written") from None


def check_batch(batch: pa.RecordBatch, width: int) -> None:
    """Raise a ValueError unless rows are finite and their columns ascend and are fewer than ``width``."""
    batch.validate(full=True)
    label, weight, *lists = batch.columns
    sound = not label.null_count and weight.null_count in (0, len(weight)) and not any(one.null_count for one in lists)
    parts = [as_numpy(one.values) for one in lists]
    sound = sound and not any(one.values.null_count for one in lists) and bool(np.isfinite(parts[-1]).all())
    if sound and not weight.null_count:
        sound = bool((np.isfinite(as_numpy(weight)) & (as_numpy(weight) >= 0)).all())
    if sound and len(lists) == 2:
        starts, same = (as_numpy(one.offsets) for one in lists)
        sound = np.array_equal(starts, same) and _is_csr(starts, parts[0], width)
    if not sound:
        raise ValueError("its rows are not as they were written")


def _is_csr(starts: np.ndarray, indices: np.ndarray, width: int) -> bool:
    """Return whether column numbers ascend in each row."""
    if starts[0] != 0 or starts[-1] != len(indices):
        return False
    rising = np.ones(len(indices) + 1, bool)
    rising[1:-1] = indices[1:] > indices[:-1]
    rising[starts] = True  # a row may start anywhere
    return bool(rising.all()) and np.min(indices, initial=0) >= 0 and np.max(indices, initial=-1) < width
