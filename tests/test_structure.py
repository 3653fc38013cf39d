"""The house: what every source file keeps to, beyond the import contracts of pyproject.toml."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import rosenblatt
from mutants import CHECKOUT, MUTANTS, place_of, read_sources

SRC = Path(rosenblatt.__file__).parent
NAMED_TUPLES = ("_fields", "_replace", "_asdict")
FILES = sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_no_file_uses_the_private_names_of_another(path):
    tree = ast.parse(path.read_text())
    ours = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rosenblatt")
        for alias in node.names
    }
    private = [name for name in ours if name.startswith("_") and not name.startswith("__")]
    assert not private
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ours:
            public = not node.attr.startswith("_") or node.attr.startswith("__") or node.attr in NAMED_TUPLES
            assert public, f"line {node.lineno}: {node.attr}"


def test_no_method_exists_to_do_nothing():
    empty = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ClassDef):
                continue
            if any(ast.unparse(base).partition("[")[0] == "Protocol" for base in node.bases):
                continue
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and _is_empty(method):
                    empty.add(node.name)
    hooks = {"Observer", "RunOptions", "RunState"}  # for others to fill in
    assert empty == hooks | {"_PartLibrary"}, "which leaves out steps of numba"


def _is_empty(method):
    abstract = "abstractmethod" in map(ast.unparse, method.decorator_list)
    return not abstract and all(
        isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) for line in method.body
    )


def test_no_public_name_hides_a_module():
    hidden = set()
    for path in FILES:
        if path.name != "__init__.py" or path.parent == SRC:
            continue
        package = importlib.import_module("rosenblatt." + ".".join(path.parent.relative_to(SRC).parts))
        modules = {file.stem for file in path.parent.iterdir() if file.suffix == ".py" or any(file.glob("*.py"))}
        names = modules.intersection(getattr(package, "__all__", ()))
        hidden |= {f"{package.__name__}.{name}" for name in names if not inspect.ismodule(getattr(package, name))}
    assert not hidden, "whichever is imported later wins"


def test_every_file_of_the_package_says_what_it_is():
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_every_mutant_has_one_place_and_tests():
    texts = read_sources(SRC)
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    for mutant in MUTANTS:
        text = texts[place_of(mutant, texts)]
        assert mutant.new != mutant.old, mutant.name
        ast.parse(text.replace(mutant.old, mutant.new))  # a fault, which does not show by failing to load
        for path in mutant.tests:
            assert (CHECKOUT / path).exists(), f"{mutant.name}: {path}"
