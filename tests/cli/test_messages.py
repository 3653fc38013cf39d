"""Every option that a message names is one of the command that prints it, and what is recommended helps."""

import ast
import json
import re
import shlex
from collections import Counter
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.main import get_command

import rosenblatt
from helpers.commands import AND, command
from rosenblatt.cli.main import app
from rosenblatt.cli.output import as_option, option_names
from rosenblatt.messages import Message, Setting

SOURCE = Path(rosenblatt.__file__).parent
OPTION = re.compile(r"(?<![\w-])(?<!var\()(--[a-z][a-z0-9-]*)(?![\w-]|: #)")  # but for variables of a style sheet
DECLARES = ("option", "Option", "Argument")
READING = ("train", "predict", "test", "explain", "separate", "check", "watch")
INFERRING = ("train", "separate", "check", "watch")


@cache
def commands():
    return get_command(app).commands


def options(name):
    """Return the options of a command, as its help lists them."""
    params = [param for param in commands()[name].params if param.param_type_name == "option"]
    return {word for param in params for word in (*param.opts, *param.secondary_opts)} | {"--help", "-h"}


def test_the_options_that_messages_go_by_are_those_of_the_help():
    for name, one in commands().items():
        assert option_names(one.callback) | {"--help", "-h"} == options(name), name


# what the source says

PRINTED_BY = {
    "options": ("train", "watch"),
    "online_learner": ("watch",),
    "train_run": ("train",),
    "imbalance": ("train",),
    "curve": ("train",),
    "train_cluster": ("train",),
    "report_facts": ("train",),
    "report_page": ("train",),
}
"""The commands that print what a module says, where it is not the one of its name."""
EXCEPTIONS = {
    ("explain", "--scale"): ("train",),  # "rosenblatt train --scale"
    ("explain", "--names"): ("train",),
    ("options", "--kind"): INFERRING,
    ("predict", "--calibrate"): ("train",),  # "train it with --calibrate"
    ("options", "--no-bias"): ("train",),
    ("separate", "--target"): ("separate", "check"),
    ("train_cluster", "--head"): (),  # "ray start --head"
}


def literals(path):
    """Return the options in the strings of a module, but for docstrings and declarations of options."""
    tree = ast.parse(path.read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)]
    left_out = {id(node.body[0].value) for node in nodes if node.body and isinstance(node.body[0], ast.Expr)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in DECLARES:
            left_out |= {id(node) for node in ast.walk(call)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {option for text in texts if id(text) not in left_out for option in OPTION.findall(text.value)}


def test_options_in_the_source_of_the_command_are_those_of_who_prints_them():
    seen = set()
    for path in sorted(path for room in ("cli", "serving") for path in (SOURCE / room).glob("*.py")):
        for option in literals(path) if path.stem not in ("main", "output") else ():  # the latter spell parameters
            printed_by = ("serve",) if path.parent.name == "serving" else PRINTED_BY.get(path.stem, (path.stem,))
            for name in EXCEPTIONS.get((path.stem, option), printed_by):
                assert option in options(name), (path.name, option, name)
                seen.add(name)
    assert seen >= {"train", "watch", "explain", "separate", "check", "reproduce"}


def test_no_other_room_names_options():
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in ("cli", "serving") and OPTION.search(path.read_text()):
            said = {"--target"} if path.name == "demos.py" else {"--upgrade"}  # of train, to try next; of pip
            assert literals(path) <= said, path


PYTHON_ONLY = {
    "preparation",
    "cache",
    "first_rows",
    "block_rows",
    "threads",
    "labels",
    "on_ambiguous",
    "keep_words",
    "passthrough",
    "scale",
}
"""Parameters of data.open that the commands which read rows by a model or certificate cannot be given wrongly."""
ONLY_INFERRING = {"schema.py", "column_kinds.py", "npz.py", "scaling.py", "describe.py"}
MESSAGES = ("Message", "ParameterError", "DataError")


def settings(tree):
    """Return the parameters that the messages of a module name, but for hints, which are dropped without options."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    hints = {id(node) for call in calls if call.func.id == "Hint" for node in ast.walk(call)}
    names = set()
    for call in calls:
        text = call.args[0] if call.args else None
        if id(call) in hints or not isinstance(text, ast.Constant):
            continue
        if call.func.id == "Setting":
            names.add(text.value)
        elif call.func.id in MESSAGES:
            values = {keyword.arg: "" for keyword in call.keywords if keyword.arg}
            names |= {setting.name for setting in Message(text.value, **values).settings()}
    return names


def test_settings_about_rows_are_options_of_all_commands_that_read_rows():
    checked = 0
    for path in sorted((SOURCE / "data").rglob("*.py")):
        if path.name == "generators.py":  # it makes rows and reads none
            continue
        names = INFERRING if path.name in ONLY_INFERRING else READING
        given = {"missing"} if path.name == "source.py" else set()  # named as given
        for setting in settings(ast.parse(path.read_text())) - PYTHON_ONLY - given:
            option = as_option(Setting(setting))
            for name in names if option in options("train") else ():
                assert option in options(name), f"{path.name} says {option}, which {name} has not"
                checked += 1
    assert checked


# what the commands say

FILES = {
    "and.csv": AND,
    "dates.csv": "when,a,label\n" + "".join(f"2024-01-{k % 28 + 1:02},{k % 3},{k % 2}\n" for k in range(40)),
    "ids.csv": "id,a,label\n" + "".join(f"n{k}z{k * k},{k % 3},{k % 2}\n" for k in range(60)),
    "gap.csv": AND + ",1,no\n",
    "hole.csv": AND + "1,,no\n,1,yes\n",
    "ragged.csv": AND + "1,2,3,4,no\n",
    "words.csv": AND + "".join(f"{k},1,no\n" for k in range(30)) + "many,1,no\n",
    "comma.csv": "a;b;label\n" + "".join(f"{k},5;{k % 3};{k % 2}\n" for k in range(30)),
    "bare.csv": "1,2,x\n3,4,y\n5,6,x\n",
    "all-text.csv": "red,big,yes\nblue,small,no\nred,small,yes\n",
    "one.csv": "a,b,label\n1,2,x\n3,4,x\n",
    "none.csv": "a,b,label\n",
    "empty.csv": "",
    "twice.csv": "a,a,label\n1,2,x\n3,4,y\n",
    "quote.csv": 'a,b,label\n1,"2,x\n3,4,y\n',
    "semicolon.csv": "a;b;label\n0;0;no\n1;1;yes\n",
    "extra.csv": "a,b,c,label\n0,0,7,no\n1,1,8,yes\n",
    "less.csv": "b,label\n0,no\n1,yes\n",
    "other-labels.csv": "a,b,label\n0,0,0\n1,1,1\n",
    "long.csv": AND + "1," + "1" * 300 + ",no\n",
    "good.svm": "1 1:1\n-1 2:1\n" * 3,
    "bad.svm": "1 1:1\n-1 2:abc\n",
    "zero.svm": "1 1:1\n-1 0:1\n",
    "wide.svm": "1 1:1\n-1 99999999:1\n",
    "good.vw": "1 |f a b\n-1 |f c\n" * 3,
    "bad.vw": "1 |f a:x\n-1 |f c\n",
    "new.jsonl": '{"a": 0, "b": 1, "label": "no"}\n{"a": 1, "b": 1, "label": "yes"}\n',
    "bad.jsonl": '{"a": 0, "b": 1, "label": "no"}\n[1]\n',
    "nested.jsonl": '{"a": {"x": 1}, "label": "no"}\n{"a": {"x": 2}, "label": "yes"}\n',
    "odd.xyz": "what is this\n",
    "text.model": "no model",
}
DATA = [name for name in FILES if not name.endswith(".model")] + [
    "dense.npz",
    "nan.npz",
    "lists.parquet",
    "no-file.csv",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files of all kinds, two models and a certificate."""
    folder = tmp_path_factory.mktemp("messages")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    np.savez(folder / "dense.npz", X=np.eye(4), y=np.arange(4) % 2)
    np.savez(folder / "nan.npz", X=np.array([[1.0, np.nan], [0.0, 1.0]]), y=np.arange(2))
    lists = {"indices": [[0], [1]], "values": [[1.0], [2.0]], "extra": [1, 2], "label": [0, 1]}
    pq.write_table(pa.table(lists), folder / "lists.parquet")
    assert command("train", folder / "and.csv", "-t", "label", "-o", folder / "table.model").exit_code == 0
    assert command("train", folder / "good.svm", "-o", folder / "svm.model").exit_code == 0
    assert command("separate", folder / "and.csv", "-t", "label", "-o", folder / "table.cert").exit_code == 0
    return folder


def invocations():
    """Yield command lines, most of which cannot work, as words and the file for standard input."""
    for name in DATA:
        table = not name.endswith((".svm", ".vw", ".npz"))
        some = ([], ["-t", "nothing"], ["-t", "-1", "--drop", "a,b"], ["-t", "label", "--max-line", "100"])
        for given in (["-t", "label"] if table else [], *(some if name in ("and.csv", "bare.csv", "long.csv") else ())):
            yield ["train", name, "-p", "2", *given], None
            yield ["separate", name, "--max-seconds", "1", *given], None
            yield ["watch", *given, *([] if table else ["--format", Path(name).suffix[1:]])], name
        for model in ("table.model", *(["svm.model"] if name in ("and.csv", "bad.svm", "wide.svm") else [])):
            for verb in ("predict", "test"):
                yield [verb, model, name], None
            yield ["explain", model, "--row", f"{name}:1"], None
            yield ["watch", "--model", model], name
        yield ["predict", "table.model", name, "--id", "nothing"], None
        yield ["check", "table.cert", name], None
    yield ["check", "table.cert", "and.csv", "--drop", "a"], None
    for verb in ("predict", "test"):
        for model in ("text.model", "no.model", "and.csv", "table.cert"):
            yield [verb, model, "and.csv"], None
        for option in ("--format", "--on-error", "--delimiter", "--max-line"):
            yield [verb, "table.model", "and.csv", option, "0"], None
        yield [verb, "table.model", "and.csv", "--no-header"], None
    for name in ("train", "separate", "check"):
        first = ["table.cert"] if name == "check" else []
        for option in ("--format", "--on-error", "--missing", "--kind", "--bits", "--ngrams", "--drop", "--features"):
            for value in ("0", "x=y", "99"):
                yield [name, *first, "and.csv", "-t", "label", option, value], None
    for words in (
        *(
            ["--learner", "svm"],
            ["--kernel", "rbf"],
            ["-l", "kernel", "--degree", "-1"],
            ["--resume"],
            ["--seeds", "3"],
        ),
        *(["-l", "kernel", "--gamma", "x"], ["-l", "kernel", "--kernel", "x"], ["--passes", "0"], ["--scale", "x"]),
        *(
            ["--every", "x"],
            ["-l", "kernel", "--max-support", "0"],
            ["-l", "kernel", "--device", "tpu"],
            ["--seed", "-1"],
        ),
    ):
        yield ["train", "and.csv", "-t", "label", *words], None
        yield ["watch", "-t", "label", "--format", "csv", *words], "and.csv"
    yield ["explain", "table.model", "--top", "0"], None
    yield ["explain", "table.model", "--row", "and.csv"], None
    yield ["explain", "table.model", "--row", "and.csv:99"], None
    yield ["reproduce", "nothing"], None
    yield ["reproduce", "freund-schapire-1999", "--data", "nowhere"], None
    yield ["reproduce", "freund-schapire-1999", "--small", "--degrees", "0"], None


def run(folder, words, stdin):
    """Run a command on the files of the folder."""
    placed = [str(folder / word) if (folder / word.partition(":")[0]).is_file() else word for word in words]
    return command(*placed, input=(folder / stdin).read_bytes() if stdin and (folder / stdin).exists() else None)


def is_flag(name, option):
    return any(option in (*param.opts, *param.secondary_opts) and param.is_flag for param in commands()[name].params)


def recommended(name, message):
    """Return the options with values that a message says to give, as words of a command line."""
    found = []
    for give in re.findall(r"(?:give|by|with|or) ((?:--[a-z-]+(?: (?:'[^']*'|[\w=.+-]+))?(?: (?=--))?)+)", message):
        words = [word for word in shlex.split(give) if word not in ("if", "to")]
        bare = [word for word, after in pairwise([*words, "--"]) if word.startswith("--") and after.startswith("--")]
        minutes = words[-1] == "99999999"  # columns, of which a dense vector takes most of a gigabyte
        if all(is_flag(name, word) for word in bare) and not minutes:
            found.append(words)
    return found


NAMED = {
    "train": {"--target", "--on-error"},
    "predict": {"--on-error"},
    "separate": {"--target", "--on-error"},
    "watch": {"--target"},
}
"""Options that messages of a command must name at least once."""
HELPFUL = {"separate": {"--missing", "--drop", "--kind"}}
"""Options that messages of a command must recommend at least once."""


def test_many_commands_are_tried():
    counts = Counter(words[0] for words, _ in invocations())
    assert sum(counts.values()) > 300
    assert counts.keys() >= {"train", "separate", "watch", "predict", "test", "explain", "check", "reproduce"}


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_messages_name_options_of_their_command_and_what_they_recommend_helps(folder, step):
    named, helped, wrong = set(), set(), []
    for words, stdin in islice(invocations(), 0, None, step):
        name = words[0]
        result = run(folder, words, stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), (words, stdin, result.exception)
        message = " ".join(result.stderr.split())
        if "Usage:" in message:  # typer's own, about numbers and unknown words
            continue
        fault = message.partition("Error: ")[2]
        assert fault or result.exit_code != 2, words
        others = re.sub(r"rosenblatt train (--[a-z-]+)", "", f"{message} {' '.join(result.stdout.split())}")
        for option in OPTION.findall(others):
            named.add((name, option))
            if option not in options(name):
                wrong.append(f"{shlex.join(words)} has no {option}, but says: {message}")
        for more in recommended(name, fault):
            again = run(folder, [*words, *more], stdin)
            helped.add((name, more[0]))
            if " ".join(again.stderr.split()).partition("Error: ")[2] == fault:
                wrong.append(f"{shlex.join([*words, *more])} says the same again: {fault}")
    assert not wrong
    if step == 1:
        assert named >= {(name, option) for name, options in NAMED.items() for option in options}
        assert helped >= {(name, option) for name, options in HELPFUL.items() for option in options}


def test_json_is_json(folder):
    for words in (
        ["train", "and.csv", "-t", "label", "--json"],
        ["predict", "table.model", "and.csv", "--json"],
        ["test", "table.model", "and.csv", "--json"],
        ["explain", "table.model", "--json"],
        ["separate", "and.csv", "-t", "label", "--json"],
        ["check", "table.cert", "and.csv", "--json"],
    ):
        for line in run(folder, words, None).stdout.splitlines():
            assert isinstance(json.loads(line), dict)
