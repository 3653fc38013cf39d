"""What tests ask of pictures: axes without a window, and what is drawn on them."""

from matplotlib.figure import Figure


def axes():
    """Return empty axes that no screen is needed for."""
    return Figure().subplots()


def legend(ax):
    """Return the names in the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def lines(ax):
    """Return the lines by their names."""
    return {line.get_label(): line for line in ax.get_lines()}


def rings(ax, what):
    """Return the places of the rings that the legend calls so."""
    (found,) = [part for part in ax.collections if str(part.get_label()).startswith(what)]
    return found.get_offsets()
