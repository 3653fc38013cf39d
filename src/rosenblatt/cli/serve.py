"""``rosenblatt serve``: predictions and learning over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rosenblatt.cli.options import command, option
from rosenblatt.cli.output import enable_gc, print_note

if TYPE_CHECKING:
    from rosenblatt.serving.served import Service

_TOKEN = "ROSENBLATT_TOKEN"


@command
def serve(
    *,
    models: list[Path] = typer.Argument(metavar="MODEL", help="Model files; they are never changed."),
    host: str = option("127.0.0.1", "HOST", "Address to listen on. Other machines cannot reach 127.0.0.1."),
    port: int = option(8000, "PORT", "Port to listen on; 0 picks a free port."),
    state: Path | None = option(
        None, "FOLDER", "Folder for what the model learns.  [default: MODEL.state; several models: FOLDER/NAME]"
    ),
    read_only: bool = option(False, None, "Only predict. Needs no state folder.", "--read-only"),
    token: str | None = option(
        None, "TOKEN", f"Secret that requests must send; needed beyond this machine.  [default: ${_TOKEN}]"
    ),
    target: str | None = option(None, "COL", "Field with the label.  [default: the target of training, or label]"),
    weight: str | None = option(None, "COL", "Field with the weight of a row.  [default: weight]"),
    max_classes: int = option(0, "N", "Learn new labels until the model has N classes.  [default: learn none]"),
    max_names: int = option(1_000_000, "N", "Most columns of a model that learned from records by name."),
    max_body: int = option(8_000_000, "BYTES", "Longest body of a request."),
    snapshot_rows: int = option(100_000, "N", "Rows in the log after which the model is saved."),
) -> None:
    """Predict and learn over HTTP, and lose nothing: a row is acknowledged when it is on the disk.

    What the model learns lies in the state folder. The same command continues from there, also after a crash, with
    the same weights bit for bit. Other machines and web pages cannot reach the server unless --host says so.

    \b
    Examples:
      rosenblatt serve spam.model
      curl localhost:8000/learn --json '{"words": 12, "kind": "spam"}'
      curl localhost:8000/predict --json '{"words": 12}'
      curl localhost:8000/model -o learned.model
    """
    from rosenblatt.messages import escape_unprintable
    from rosenblatt.serving.launch import check_address, serve_models
    from rosenblatt.serving.limits import Limits
    from rosenblatt.serving.served import Service, names_of

    token = os.environ.get(_TOKEN, "") if token is None else token
    check_address(host, port, token)
    for name, value in (("max-body", max_body), ("snapshot-rows", snapshot_rows), ("max-names", max_names)):
        if value < 1:
            raise ValueError(f"--{name} must be at least 1, got {value:,}.")
    if read_only and state is not None:
        raise ValueError("--read-only keeps no state: leave out --state.")
    limits = Limits(body=max_body, bodies=8 * max_body, classes=max_classes, names=max_names)
    services: dict[str, Service] = {}
    named = names_of(models)
    for name, path in named.items():
        folder = None if read_only else path.with_name(path.name + ".state")
        if state is not None:
            folder = state / name if len(named) > 1 else state
        services[name] = Service(path, folder, limits, target, weight, snapshot_rows)
        _note_state(services[name], folder)
    enable_gc()

    def started(address: str) -> None:
        what = escape_unprintable(", ".join(map(str, models)))
        print(f"Serving {what} at {address}; Ctrl-C stops it.", flush=True)  # on one line, for programs

    serve_models(services, limits, host, port, token, started)
    print_note("The server is closed.")


def _note_state(service: Service, folder: Path | None) -> None:
    """Print what was found in the state folder."""
    from rosenblatt.messages import count_of

    if service.torn:
        cut = count_of(service.torn, "byte")
        print_note(f"the last write to {folder} was torn, so {cut} at its end, which nobody was told of, are cut off.")
    if service.memory.rows:
        replayed = f", {service.replayed:,} of them from the log" if service.replayed else ""
        print_note(f"{service.path} continues from {folder}: {count_of(service.memory.rows, 'row')} learned{replayed}.")
    if service.reader.weight is None:
        print_note("weight is a column of the model, so rows have no weights: name their field with --weight.")
