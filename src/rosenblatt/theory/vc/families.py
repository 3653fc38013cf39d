"""The four families: what input each takes, which subsets it cuts, and its VC dimension."""

from __future__ import annotations

from rosenblatt.parameters import check_choice, check_integer
from rosenblatt.plurals import count_of
from rosenblatt.theory.vc.arrangements import balls, halfspaces
from rosenblatt.theory.vc.points import Integers, Note, ignore
from rosenblatt.theory.vc.shapes import boxes, polygons

FAMILIES = ("halfspaces", "discs", "rectangles", "convex-k-gons")
OTHER_NAMES = {
    **dict.fromkeys(("lines", "half-planes", "halfplanes", "half-spaces", "hyperplanes"), "halfspaces"),
    **dict.fromkeys(("circles", "disks", "balls", "spheres"), "discs"),
    **dict.fromkeys(("boxes", "axis-parallel rectangles"), "rectangles"),
    "triangles": "convex-k-gons",
}
"""What else people call a family; triangles are convex k-gons with k = 3."""

MOST_POLYGON_POINTS = 20  # every subset is tried: a second for 14 points, minutes for 20


def check_family(family: str, k: int | None, d: int) -> tuple[str, int]:
    """Return the family's own name, and k, 0 where it has none; a ValueError where family, k or dimension is not valid.

    >>> check_family("lines", None, 2), check_family("triangles", None, 2)
    (('halfspaces', 0), ('convex-k-gons', 3))
    """
    given, family = family, OTHER_NAMES.get(family, family) if isinstance(family, str) else family
    check_choice("family", family, FAMILIES)
    if family != "convex-k-gons":
        return family, 0
    if given == "triangles" and k not in (None, 3):
        raise ValueError(f'triangles have 3 vertices, got k={k}: leave k out, or use the family "convex-k-gons".')
    k = 3 if given == "triangles" else k
    if k is None:
        raise ValueError('the family "convex-k-gons" needs k, the most vertices of a polygon: give k=3 for triangles.')
    k = check_integer("k", k, 3)
    if d != 2:
        found = count_of(d, "coordinate")
        raise ValueError(
            f'the family "convex-k-gons" needs points of the plane, got {found} in each: '
            'give two, or use "halfspaces", "discs" or "rectangles", which take any number.'
        )
    return family, k


def shapes_text(family: str, k: int) -> str:
    """Return what the shapes of a family are called, by its own name and k.

    >>> shapes_text("discs", 0), shapes_text("convex-k-gons", 3)
    ('discs', 'convex 3-gons')
    """
    return family.replace("-k-", f" {k}-")


def cut(rows: Integers, family: str, k: int, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points that the family cuts, as bit masks."""
    if family == "halfspaces":
        return halfspaces(rows, note)
    if family == "discs":
        return balls(rows, note)
    if family == "rectangles":
        return boxes(rows, note)
    if len(rows) > MOST_POLYGON_POINTS:
        raise ValueError(
            f'the family "convex-k-gons" takes at most {MOST_POLYGON_POINTS} different points, got {len(rows)}: '
            "it tries all 2^n subsets; choose some of the points."
        )
    return polygons(rows, k, note)


def known_vc_dimension(family: str, d: int, k: int) -> int:
    """Return the size that no shattered set exceeds, by theorem.

    Halfspaces: d + 2 points have a Radon partition. Balls: if two balls cut the two sides of a Radon partition, the
    difference of their powers is affine and a halfspace would cut one side. Boxes: of 2 d + 1 points leave out one that
    is not needed to span the box. Convex polygons: of 2 k + 2 points on a convex curve every second one cannot be cut,
    and in a set that is not convex the corners of the hull cannot.

    >>> known_vc_dimension("halfspaces", 2, 0), known_vc_dimension("convex-k-gons", 2, 3)
    (3, 7)
    """
    return {"halfspaces": d + 1, "discs": d + 1, "rectangles": 2 * d, "convex-k-gons": 2 * k + 1}[family]
