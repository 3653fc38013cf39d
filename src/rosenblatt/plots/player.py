"""A page that plays pictures one after the other: one file, which needs nothing from elsewhere."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 1rem; max-width: {width}px; font: 16px/1.4 system-ui, sans-serif; }}
* {{ box-sizing: border-box; }}
img {{ display: block; width: 100%; height: auto; border: 1px solid #8886; border-radius: 6px; }}
input {{ display: block; width: 100%; margin: .9rem 0; accent-color: #0072B2; }}
nav {{ display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }}
button {{ font: inherit; padding: .45rem clamp(.4rem, 2vw, .8rem); border: 1px solid #8888; border-radius: 6px; }}
#play {{ min-width: 4.5rem; background: #0072B2; border-color: #0072B2; color: #fff; }}
output {{ margin-left: auto; font-variant-numeric: tabular-nums; }}
</style>
</head>
<body>
<main>
<img id="picture" alt="">
<input id="place" type="range" min="0" value="0" aria-label="Frame">
<nav aria-label="Frames">
<button id="first" type="button">First</button>
<button id="back" type="button">Back</button>
<button id="play" type="button">Play</button>
<button id="next" type="button">Next</button>
<button id="last" type="button">Last</button>
<output id="where" for="place"></output>
</nav>
</main>
<script>
const frames = {frames}, interval = {interval};
const part = (name) => document.getElementById(name);
const last = frames.length - 1;
let shown = 0, timer = null;
function show(i) {{
  shown = Math.max(0, Math.min(last, i));
  part("picture").src = frames[shown].picture;
  part("picture").alt = frames[shown].words;
  part("place").value = shown;
  part("where").textContent = `${{shown + 1}} of ${{frames.length}}`;
  part("first").disabled = part("back").disabled = shown === 0;
  part("next").disabled = part("last").disabled = shown === last;
}}
function stop() {{
  clearInterval(timer);
  timer = null;
  part("play").textContent = "Play";
}}
function play() {{
  if (timer !== null) return stop();
  if (shown === last) show(0);
  part("play").textContent = "Pause";
  timer = setInterval(() => {{ show(shown + 1); if (shown === last) stop(); }}, interval);
}}
part("place").max = last;
part("place").oninput = (event) => {{ stop(); show(Number(event.target.value)); }};
part("play").onclick = play;
for (const [name, place] of [["first", () => 0], ["back", () => shown - 1], ["next", () => shown + 1],
  ["last", () => last]]) part(name).onclick = () => {{ stop(); show(place()); }};
show(0);
</script>
</body>
</html>
"""


def player_page(title: str, pictures: Sequence[bytes], words: Sequence[str], interval: int, width: int) -> str:
    """Return a page that plays pictures in PNG, so many pixels wide, with ``interval`` milliseconds for each.

    ``words`` say what each picture shows, for those who do not see it.
    """
    frames = [
        {"picture": f"data:image/png;base64,{base64.b64encode(picture).decode()}", "words": said}
        for picture, said in zip(pictures, words, strict=True)
    ]
    listed = json.dumps(frames).replace("<", "\\u003c")  # no word ends the script
    return _PAGE.format(title=html.escape(title), frames=listed, interval=interval, width=width)
