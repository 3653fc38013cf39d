"""``rosenblatt export``: export of a model to other programs, as ONNX or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.options import MODEL, command
from rosenblatt.cli.output import print_text


@command
def export(
    *,
    model: str = MODEL,
    out: Path = typer.Argument(metavar="OUT", help="File to write; its extension selects the format: .onnx or .json."),
) -> None:
    """Write a model for other programs: as ONNX, or as readable JSON.

    \b
    Example:
      rosenblatt export adult.model adult.onnx
    """
    import rosenblatt

    writers = {".onnx": "export_onnx", ".json": "export_json"}
    if out.suffix.lower() not in writers:
        raise ValueError(f"the name of the output file must end in .onnx or .json, got {str(out)!r}.")
    check_out(out, [model])
    learned = rosenblatt.load(model, max_features=None)
    if isinstance(learned, rosenblatt.KernelPerceptron):
        raise ValueError(
            f"{model} holds a KernelPerceptron, which has support vectors and no weights, so it cannot be exported: "
            "use the file with rosenblatt predict, or rosenblatt.load in Python."
        )
    getattr(rosenblatt, writers[out.suffix.lower()])(learned, out)
    print_text(f"{_written(learned)} written to {out}.")
    print_text(_note(learned, out.suffix.lower()))


def _written(model: Any) -> str:
    """Return a description of the exported model: learner, number of features, and preceding pipeline steps."""
    from rosenblatt.messages import count_of

    learner = model[-1] if hasattr(model, "steps") else model
    steps = [type(step).__name__ for _, step in model.steps[:-1]] if learner is not model else []
    after = f" after {', '.join(steps)}" if steps else ""
    return f"{type(learner).__name__} with {count_of(int(learner.n_features_in_), 'feature')}{after}"


def _note(model: Any, ending: str) -> str:
    """Return a sentence about the inputs that an ONNX file expects, or about the contents of a JSON file."""
    from rosenblatt.inspection.geometry import linear_rule
    from rosenblatt.messages import count_of, name_some
    from rosenblatt.persistence.onnx import hashes_words

    if hasattr(model, "steps"):
        return "It takes the inputs of the pipeline." if ending == ".onnx" else "It includes the steps of the pipeline."
    preparation = getattr(model, "preparation_", None) or {}
    if ending == ".json":
        w = linear_rule(model).w
        zeros = int((w == 0).sum())
        return f"{zeros:,} of {count_of(w.size, 'weight')} are 0 and left out." if zeros else "No weight is 0."
    scaled = bool(preparation.get("scale"))
    if hashes_words(preparation):
        before = ", before scaling" if scaled else ""
        return f"ONNX cannot hash words, so its input is X, the features after hashing{before}."
    if preparation.get("columns"):
        names = name_some([column["name"] for column in preparation["columns"]])
        return f"Its inputs are the columns {names}. The graph encodes{' and scales' if scaled else ''} them."
    return f"Its input is X, one row per example{'; the graph scales it' if scaled else ''}."
