"""The page as one HTML file that needs nothing else: style sheets and modules are in it, and what it opens with."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from rosenblatt.exercises.table import table_text

PAGE = Path(__file__).parent / "page"
_SCRIPT = '<script type="module" src="main.js"></script>'
_LINK = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_GIVEN = '<script type="application/json" id="given">'
_EXERCISES = '<script type="application/json" id="exercises">'
_CHARSET = '<meta charset="utf-8">'
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"\n]+)";$', re.MULTILINE)
_COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def bundle(given: dict[str, Any]) -> str:
    """Return the page as HTML with ``given`` in it: the ``state`` to open with, or the text of a ``table``.

    Its Content-Security-Policy allows this one script and its workers, and no connection.
    """
    html, styles, program = (PAGE / "index.html").read_text(encoding="utf-8"), [], _program()

    def inlined(link: re.Match[str]) -> str:
        styles.append((PAGE / link[1]).read_text(encoding="utf-8").replace("</", "<\\/"))
        return f"<style>{styles[-1]}</style>"

    html = _LINK.sub(inlined, html)
    for place, content in {
        _GIVEN: _GIVEN + _data(given),
        _EXERCISES: _EXERCISES + _data(json.loads(table_text())["exercises"]),
        _SCRIPT: f'<script id="program">{program}</script>',
        _CHARSET: f"{_CHARSET}\n{_policy(program, styles)}",
    }.items():
        before, found, after = html.partition(place)
        assert found, f"index.html has no {place}"
        html = before + content + after
    return html


def _data(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _policy(program: str, styles: list[str]) -> str:
    policy = (
        f"default-src 'none'; script-src {_digest(program)}; worker-src blob:; "
        f"style-src {' '.join(map(_digest, styles))}; img-src data: blob:; form-action 'none'; base-uri 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _program() -> str:
    """Return all modules as one script, without comments. In a worker it answers questions, else it starts the page."""
    modules: dict[str, str] = {}
    _collect("main.js", modules)
    _collect("engine/worker.js", modules)
    defined = "\n".join(f"{json.dumps(name)}() {{\n{text}}}," for name, text in modules.items())
    return f"""(() => {{
"use strict";
const loaded = {{}};
const need = (name) => (loaded[name] ??= modules[name]());
const modules = {{
{defined}
}};
globalThis.labModule = need; // for scripts and tests
need(typeof document === "undefined" ? "engine/worker.js" : "main.js");
}})();""".replace("</script", "<\\/script")


def _collect(name: str, modules: dict[str, str]) -> None:
    """Add a module and those it imports to ``modules``, each as the body of a function that returns its exports."""
    if name in modules:
        return
    text = (PAGE / name).read_text(encoding="utf-8")
    modules[name] = ""
    exports = ", ".join(_EXPORT.findall(text))

    def needed(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
        _collect(target, modules)
        return f"const {{{match[1].replace(' as ', ': ')}}} = need({json.dumps(target)});"

    body = _EXPORT.sub("", _IMPORT.sub(needed, _COMMENT.sub("", text)))
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise RuntimeError(f"{name} imports or exports in a way that is not known here: name what, one by one.")
    modules[name] = f"{body}return {{ {exports} }};\n"
