"""Limits on what a client may ask of the server, so that no request can exhaust its memory or stop it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of a server; requests beyond them are refused with a sentence."""

    body: int = 8_000_000
    """Bytes in the body of a request."""
    bodies: int = 64_000_000
    """Bytes in the bodies of all requests that are being answered."""
    line: int = 1_000_000
    """Bytes in a row."""
    rows: int = 100_000
    """Rows in a request."""
    fields: int = 100_000
    """Columns in a row."""
    id: int = 200
    """Characters in an id or a label."""
    seconds: float = 30.0
    """Seconds for a body to arrive."""
    connections: int = 1_000
    """Connections at a time."""
    classes: int = 0
    """Classes of the model in all, if it may get new ones."""
    names: int = 1_000_000
    """Columns of a model that learns by name in all."""
    ids: int = 1_000_000
    """Ids of learned rows that are remembered, so that a retry is recognised."""
    waiting: int = 100_000
    """Predicted rows that are remembered until their label arrives."""
    waiting_bytes: int = 64_000_000
    """Bytes of these rows."""
    group_rows: int = 5_000
    """Rows that are written to the log at once."""
    group_bytes: int = 2_000_000
    """Bytes of these rows, as they came; at least one row is written."""
