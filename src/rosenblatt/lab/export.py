"""Export of a run as one HTML file with the page and the server's answers, so that no server is needed."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "page"
_MAIN = "main.js"
_LINK = re.compile(r"<link\b[^>]*>", re.IGNORECASE)
_SCRIPT = re.compile(rf'<script\b[^>]*\bsrc="(?:\./)?{re.escape(_MAIN)}"[^>]*>\s*</script>', re.IGNORECASE)
_CHARSET = re.compile(r'<meta\s+charset="?utf-8"?\s*/?>', re.IGNORECASE)
_SPECIFIER = re.compile(r"""(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}/[^"'\n]+\.js)\2""")
_IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}


def export_html(answers: dict[str, dict[str, Any]], page: Path = PAGE) -> str:
    """Return the page as HTML that contains the server's answers and needs neither a server nor a network.

    ``answers`` maps the name of each question to its answer. The answers to "start" and "run" are required.

    Style sheets are inlined. Modules become data: URLs in an import map, because browsers do not load modules from
    files. The element with the id ``recording`` contains the answers.
    """
    html = (page / "index.html").read_text(encoding="utf-8")
    if not _SCRIPT.search(html) or not _CHARSET.search(html):
        raise RuntimeError(f"index.html must have <meta charset='utf-8'> and a script with src='{_MAIN}'.")
    styles: list[str] = []
    html = _LINK.sub(lambda link: _inlined(link.group(), page, styles), html)
    imports = {f"lab/{name}": _data_url("text/javascript", text) for name, text in _modules(page).items()}
    scripts = [_script_json({"imports": imports}), f'import "lab/{_MAIN}";']
    recording = {"state": answers["start"]["state"], "answers": answers}
    elements = [
        f'<script type="importmap">{scripts[0]}</script>',
        f'<script type="application/json" id="recording">{_script_json(recording)}</script>',
        f'<script type="module">{scripts[1]}</script>',
    ]
    html = _SCRIPT.sub(lambda _: "\n".join(elements), html, count=1)
    return _CHARSET.sub(lambda charset: f"{charset.group()}\n{_policy(scripts, styles)}", html, count=1)


def _policy(scripts: list[str], styles: list[str]) -> str:
    """Return a <meta> element with a Content-Security-Policy that allows only these scripts and styles.

    It also allows modules and images from data: URLs. The page cannot open connections.
    """
    of_scripts = " ".join(map(_digest, scripts))
    of_styles = " ".join(map(_digest, styles)) or "'none'"
    policy = (
        f"default-src 'none'; script-src {of_scripts} data:; style-src {of_styles}; "
        "img-src data: blob:; form-action 'none'; base-uri 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inlined(link: str, page: Path, styles: list[str]) -> str:
    """Return HTML that replaces a <link> by the content of its file. A style sheet is also appended to ``styles``."""
    attributes = {name.lower(): value for name, value in re.findall(r'([\w-]+)="([^"]*)"', link)}
    kind, file = attributes.get("rel", "").lower(), page / attributes.get("href", "")
    if kind == "stylesheet":
        styles.append(file.read_text(encoding="utf-8").replace("</", "<\\/"))
        media = f' media="{attributes["media"]}"' if "media" in attributes else ""
        return f"<style{media}>{styles[-1]}</style>"
    if kind == "modulepreload":
        return ""
    if file.suffix in _IMAGES and file.is_file():
        return link.replace(attributes["href"], _data_url(_IMAGES[file.suffix], file.read_bytes()))
    return link


def _modules(page: Path) -> dict[str, str]:
    """Return the source of the main module and of all modules that it imports, by path.

    In import statements, relative paths are replaced by the names in the import map.
    """
    found: dict[str, str] = {}
    wanted = [_MAIN]
    while wanted:
        name = wanted.pop()
        if name in found or not (page / name).is_file():  # types are imported in comments, from files that are none
            continue

        def renamed(match: re.Match[str], folder: str = posixpath.dirname(name)) -> str:
            target = posixpath.normpath(posixpath.join(folder, match[3]))
            if target.startswith("../"):
                return match[0]
            wanted.append(target)
            return f"{match[1]}{match[2]}lab/{target}{match[2]}"

        found[name] = _SPECIFIER.sub(renamed, (page / name).read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def _data_url(media: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return f"data:{media};base64,{base64.b64encode(data).decode()}"


def _script_json(data: Any) -> str:
    """Return data as JSON that is safe inside a <script> element, because < is written as an escape.

    >>> _script_json({"a": "</script>"})
    '{"a":"\\\\u003c/script>"}'
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
