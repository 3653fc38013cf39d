"""Check a built site: every link inside it leads to a file and an anchor that are there, and none loads from afar.

``python docs/check_links.py out/docs`` prints each fault with its page, and ends with 1 if there are any.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "source": "src", "video": "src", "iframe": "src", "link": "href"}
NOT_FOLLOWED = ("mailto", "javascript", "data")


class Page(HTMLParser):
    """The anchors and links of a page, and what is loaded to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.nested: list[str] = []
        self._in_link = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one tag."""
        found = {name: value for name, value in attrs if value is not None}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
            if self._in_link:
                self.nested.append(found["href"])
            self._in_link = True
        elif found.get(LOADED.get(tag, "")):
            self.loaded.append(found[LOADED[tag]])

    def handle_endtag(self, tag: str) -> None:
        """Take note of the end of a link."""
        self._in_link = self._in_link and tag != "a"


def pages_of(folder: Path) -> list[Path]:
    """Return the pages of a site: not what lies among the theme's own files."""
    return sorted(path for path in folder.rglob("*.html") if path.relative_to(folder).parts[0] != "_static")


def faults(folder: Path) -> list[str]:
    """Return a line for each link inside the site that leads nowhere, and for each thing loaded from another host."""
    read = cache(lambda path: Page(path.read_text()))
    lines = []
    for path in pages_of(folder):
        page = read(path)
        name = path.relative_to(folder)
        lines += [f"{name}: {url} is a link inside a link" for url in page.nested]
        for url in dict.fromkeys([*page.links, *page.loaded]):
            parts = urlsplit(url)
            if parts.scheme in NOT_FOLLOWED:
                continue
            if parts.scheme or parts.netloc:
                if url in page.loaded:
                    lines.append(f"{name}: {url} is loaded from another host")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                lines.append(f"{name}: {url} leads to no file")
            elif anchor and target.suffix == ".html" and anchor not in read(target).anchors:
                lines.append(f"{name}: {url} leads to no anchor")
    return lines


def main() -> int:
    """Check the folder that the command line names."""
    folder = Path(sys.argv[1])
    found = faults(folder)
    for line in found:
        print(line)
    pages = len(pages_of(folder))
    print(f"{pages:,} pages, {len(found):,} faults in links.")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
