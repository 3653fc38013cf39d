"""Input that reaches new code, found by Atheris: bytes for certificates, model files and text."""

from __future__ import annotations

import json
import pkgutil
import random
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

RUNS, SECONDS = 20_000, 15


def attack(rng: random.Random) -> str | None:
    """Let Atheris work on one kind of input for some seconds, from a seed."""
    target = rng.choice(["certificate", "container", "preparation", "npz"])
    folder = Path(tempfile.mkdtemp())
    words = [sys.executable, __file__, target, f"-seed={rng.randrange(1, 2**31)}", f"-runs={RUNS}"]
    words += [f"-max_total_time={SECONDS}", "-rss_limit_mb=4000", "-timeout=20", f"-artifact_prefix={folder}/"]
    ran = subprocess.run([*words, str(folder / "corpus")], capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return None
    found = [file.read_bytes() for file in folder.iterdir() if file.is_file()]
    return f"{target} {found!r}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"


def _examples(target: str) -> list[bytes]:
    """Return healthy input to start from."""
    from attack.forged_files import stored
    from attack.mutated_files import healthy_files
    from helpers.forging import compact, forge
    from helpers.stored_files import files
    from rosenblatt import separability

    if target == "certificate":
        square = [[0, 0], [0, 1], [1, 0], [1, 1]]
        return [separability(square, y).to_json().encode() for y in ([0, 1, 1, 0], [0, 1, 1, 1])]
    if target == "container":
        return [forge(compact(header), arrays) for header, arrays, _ in stored().values()]
    if target == "npz":
        return [content for name, content in healthy_files() if name.endswith(".npz")]
    folder = Path(tempfile.mkdtemp())
    return [json.dumps(header).encode() for name, (header, _, _) in files(folder).items() if name == "preparation"]


def _use(target: str, content: bytes, path: Path) -> None:
    """Read the input as a user would; a ValueError is an answer."""
    from rosenblatt import Certificate, data, load

    try:
        if target == "certificate":
            certificate = Certificate.from_json(content)
            str(certificate), certificate.to_json()
            if hasattr(certificate, "check"):
                certificate.check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
        elif target == "preparation":
            record = json.loads(content)
            data.open(path.with_name("a.csv"), preparation=record).read()
        else:
            path.write_bytes(content)
            load(path) if target == "container" else data.open(path, "y", format="npz").read()
    except (ValueError, RecursionError) as refusal:
        if isinstance(refusal, RecursionError) and target != "preparation":
            raise


def main(target: str, corpus: str) -> None:
    """Run Atheris on one kind of input."""
    import atheris

    import rosenblatt.kernels

    for module in pkgutil.walk_packages(rosenblatt.kernels.__path__, "rosenblatt.kernels."):
        import_module(module.name)  # before the rest, so that they are compiled as they are
    with atheris.instrument_imports(include=["rosenblatt"]):
        for name in ("data.npz", "data.tables.source", "persistence.files", "theory.verdicts"):
            import_module(f"rosenblatt.{name}")
    from helpers.stored_files import TABLE

    Path(corpus).mkdir(parents=True)
    for i, example in enumerate(_examples(target)):
        (Path(corpus) / f"{i}").write_bytes(example)
    path = Path(tempfile.mkdtemp()) / "input"
    path.with_name("a.csv").write_text(TABLE)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], lambda content: _use(target, content, path))
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[-1])
