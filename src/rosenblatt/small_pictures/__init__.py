"""Small pictures for notebooks, as inline SVG: no script, no style sheet, no ids, nothing from elsewhere.

Letters and axes have the colour of the text around them, so that light and dark pages look right; the other colours
stand out on both, and each comes with a stroke or a mark of its own. A picture says in words what it shows
(``aria-label``), and takes a few kilobytes, however many numbers there are.
"""

from rosenblatt.small_pictures.charts import DOTS_UP_TO, Curve, bars, chart
from rosenblatt.small_pictures.marks import arrows, circle, number_line
from rosenblatt.small_pictures.markup import BLUE, GREEN, MOST_ROWS, RED, described, short_name

__all__ = [
    "BLUE",
    "DOTS_UP_TO",
    "GREEN",
    "MOST_ROWS",
    "RED",
    "Curve",
    "arrows",
    "bars",
    "chart",
    "circle",
    "described",
    "number_line",
    "short_name",
]
