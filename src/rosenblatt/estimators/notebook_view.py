"""How an estimator looks in a notebook: scikit-learn's diagram, and below it what was found in training."""

from __future__ import annotations

from typing import Any


class NotebookView:
    """Adds to the HTML that scikit-learn shows; ``set_config(display="text")`` shows text alone, as ever."""

    def _found_html(self) -> str:
        """Return what training has found, as HTML; "" before it."""
        return ""

    # scikit-learn 1.6 to 1.9 have both; notebooks prefer the second

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._found_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._found_html()
        return bundle
