"""``rosenblatt export``: a model for other programs."""

from __future__ import annotations

from pathlib import Path

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.output import say


def export(path: str, out: Path) -> None:
    """Write a model for other programs, as the ending of ``out`` says."""
    import rosenblatt

    writers = {".onnx": "export_onnx", ".json": "export_json"}
    if out.suffix.lower() not in writers:
        raise ValueError(f"the file to write must end in .onnx or .json, got {str(out)!r}.")
    check_out(out, [path])
    model = rosenblatt.load(path, max_features=None)
    if isinstance(model, rosenblatt.KernelPerceptron):
        raise ValueError(
            f"{path} holds a KernelPerceptron, which has support rows and no weights, so it cannot be exported: "
            "rosenblatt predict, or rosenblatt.load in Python, takes the file as it is."
        )
    getattr(rosenblatt, writers[out.suffix.lower()])(model, out)
    say(f"{type(model).__name__} with {model.n_features_in_:,} features written to {out}.")
