"""Dichotomies, shattering and VC dimension of given points, and the bounds of Sauer and Cover."""

from __future__ import annotations

from functools import partial
from math import comb

from rosenblatt.messages import check_integer
from rosenblatt.progress import Progress
from rosenblatt.tables import Table
from rosenblatt.theory.vc.families import (
    Integers,
    Note,
    PointsLike,
    check_family,
    cut,
    ignore,
    known_vc_dimension,
    read_points,
    shapes_text,
    to_integers,
)


def dichotomies(points: PointsLike, family: str, k: int | None = None, verbose: int = 0) -> frozenset[frozenset[int]]:
    """Return the subsets that the family cuts from the points, each as a frozenset of row numbers.

    A shape cuts a subset of the points if it contains the points of the subset and no others. The empty set and the
    whole set are always cut, and equal points are always in the same subsets. For finite sets it makes no difference
    whether shapes are open or closed.

    The arithmetic is exact. For n points in R^d the time grows like n^(d + 1) for halfspaces, n^(d + 2) for discs,
    n^(2 d) for rectangles, and 2^n for convex k-gons. Halfspaces take seconds for 20 points in R^5, a minute for 30
    points in R^6, and ten times as long for each further dimension.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Integers, Fractions or floats; a float is read as its exact binary value.
    family : {"halfspaces", "discs", "rectangles", "convex-k-gons"}
        Halfspaces: the points strictly on one side of a hyperplane. Discs: the inside of a ball, in any dimension;
        neither the outside of a ball nor a halfspace is a disc. Rectangles: boxes with sides along the axes, in any
        dimension. Convex k-gons: bounded polygons in the plane with at most k vertices. Synonyms are accepted: "lines"
        and "half-planes" for halfspaces, "circles" and "balls" for discs, "boxes" for rectangles, "triangles" for
        convex 3-gons.
    k : int, default=None
        The maximum number of vertices of a polygon, at least 3. Only convex k-gons use it.
    verbose : int, default=0
        If not 0, a long computation shows its progress and the time left on standard error.

    See Also
    --------
    shatters : Whether the family cuts all subsets.
    why_not : The reason why one subset cannot be cut.

    Examples
    --------
    Half-planes cut all sixteen subsets of the corners of a square except the two diagonals:

    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> cut = dichotomies(square, "halfspaces")
    >>> len(cut)
    14
    >>> frozenset({0, 1}) in cut, frozenset({0, 3}) in cut
    (True, False)

    Discs cut all subsets of four points except one (Har-Peled 30.3.1). Which subset is missing depends on the points.
    Here it is the longer diagonal:

    >>> kite = [[0, 0], [2, 0], [0, 2], [3, 3]]
    >>> discs = dichotomies(kite, "discs")
    >>> len(discs), frozenset({0, 3}) in discs
    (15, False)
    """
    groups, family, sides = _groups(points, family, k)
    names = list(groups.values())
    masks = _cut(list(groups), family, sides, Progress(verbose))
    return frozenset(_rows(names, mask) for mask in masks)


def shatters(points: PointsLike, family: str, k: int | None = None, verbose: int = 0) -> bool:
    """Return whether the family shatters the n points, that is, cuts all 2^n subsets.

    The parameters are the same as for `dichotomies`.

    See Also
    --------
    dichotomies : The subsets that the family cuts.
    vc_dimension : The size of the largest shattered subset.

    Examples
    --------
    >>> shatters([[0, 0], [0, 1], [1, 0]], "halfspaces")
    True
    >>> shatters([[0, 0], [1, 1], [2, 2]], "halfspaces")  # collinear: the middle point cannot be cut
    False
    >>> shatters([[0, 1], [1, 3], [2, 0], [3, 2]], "rectangles")
    True
    """
    groups, family, sides = _groups(points, family, k)
    if any(len(names) > 1 for names in groups.values()):
        return False  # equal points cannot be separated
    return len(_cut(list(groups), family, sides, Progress(verbose))) == 1 << len(groups)


def vc_dimension(points: PointsLike, family: str, k: int | None = None, verbose: int = 0) -> int:
    """Return the size of the largest subset of the points that the family shatters.

    This is the VC dimension of the family on these points. Over all point sets it is d + 1 for halfspaces and discs,
    2 d for rectangles and 2 k + 1 for convex k-gons. The parameters are the same as for `dichotomies`.

    See Also
    --------
    largest_shattered : A subset of this size that is shattered.
    sauer_bound : The bound on the number of subsets that follows from the VC dimension.

    Examples
    --------
    >>> corners = [[0, 0], [2, 0], [0, 2], [3, 3], [1, 1]]
    >>> vc_dimension(corners, "halfspaces"), vc_dimension(corners, "discs"), vc_dimension(corners, "rectangles")
    (3, 3, 3)
    >>> vc_dimension([[1], [2], [3]], "halfspaces")
    2
    """
    return len(largest_shattered(points, family, k, verbose))


def largest_shattered(points: PointsLike, family: str, k: int | None = None, verbose: int = 0) -> frozenset[int]:
    """Return the row indices of a largest shattered subset; of several, return the lexicographically first.

    The search stops at the VC dimension of the family over all point sets (see `vc_dimension`). The parameters are the
    same as for `dichotomies`.

    See Also
    --------
    vc_dimension : The size of this subset.

    Examples
    --------
    >>> sorted(largest_shattered([[0, 0], [1, 1], [2, 2], [0, 5]], "halfspaces"))
    [0, 1, 3]
    """
    groups, family, sides = _groups(points, family, k)
    rows, names = list(groups), list(groups.values())
    masks = _cut(rows, family, sides, Progress(verbose))
    most = min(known_vc_dimension(family, len(rows[0]), sides), len(rows))
    progress = Progress(verbose)
    found = _deepest(_members(len(rows), masks), len(masks), most, partial(progress.share, "shattered subsets"))
    progress.close()
    return frozenset(names[i][0] for i in found)


def sauer_bound(n: int, vc_dim: int) -> int:
    """Return C(n, 0) + ... + C(n, vc_dim), the maximum number of subsets that a family of this VC dimension cuts.

    This is Sauer's lemma (1972); Har-Peled 30.3.1 states it as O(n^vc_dim). Discs attain the bound on points in general
    position.

    See Also
    --------
    growth : A table with the number of subsets that a family cuts from given points, and this bound.
    cover_count : The exact number for halfspaces and points in general position.

    Examples
    --------
    >>> sauer_bound(4, 3)
    15
    >>> sauer_bound(10, 3), len(dichotomies([[i, i**3] for i in range(10)], "discs"))
    (176, 176)
    """
    n, vc_dim = check_integer("n", n, 0), check_integer("vc_dim", vc_dim, 0)
    return sum(comb(n, i) for i in range(min(n, vc_dim) + 1))


def cover_count(n: int, d: int) -> int:
    """Return the number of subsets that halfspaces cut from n points in general position in R^d.

    By Cover (1965) it is 2 (C(n - 1, 0) + ... + C(n - 1, d)) for halfspaces with a free bias, or n^2 - n + 2 in the
    plane. General position means that no d + 1 points lie in a hyperplane. For other point sets the number is smaller.

    See Also
    --------
    sauer_bound : An upper bound for any family of a given VC dimension.
    dichotomies : The subsets themselves, for given points.

    Examples
    --------
    >>> [cover_count(n, 2) for n in (3, 4, 5, 100)]
    [8, 14, 22, 9902]
    """
    n, d = check_integer("n", n, 1), check_integer("d", d, 1)
    return 2 * sum(comb(n - 1, i) for i in range(min(n - 1, d) + 1))


def growth(points: PointsLike, family: str, k: int | None = None, verbose: int = 0) -> Table:
    """Return a table of the number of subsets that the family cuts from the first n points, for n = 1, 2, ...

    The column ``count`` is the number of `dichotomies` of the first n points. ``sauer`` is the `sauer_bound` for the VC
    dimension of the family in R^d. For halfspaces, ``cover`` is the `cover_count`, the number for points in general
    position. Parameters and running time are the same as for `dichotomies`.

    See Also
    --------
    sauer_bound : The upper bound in the column ``sauer``.
    cover_count : The number in the column ``cover``.

    Examples
    --------
    >>> growth([[0, 0], [2, 0], [0, 2], [3, 3], [1, 1]], "halfspaces")
    Subsets that halfspaces cut from the first n points in R^2
    n  count  sauer  cover
    ----------------------
    1      2      2      2
    2      4      4      4
    3      8      8      8
    4     14     15     14
    5     18     26     22
    sauer: C(n, 0) + ... + C(n, 3), as the VC dimension is 3.
    cover: points in general position.
    """
    groups, family, sides = _groups(points, family, k)
    masks = _cut(list(groups), family, sides, Progress(verbose))
    rows = range(1, 1 + sum(map(len, groups.values())))
    d = len(next(iter(groups)))
    dimension = known_vc_dimension(family, d, sides)
    firsts = [names[0] for names in groups.values()]
    different = [sum(first < n for first in firsts) for n in rows]
    counts = {g: len({mask & ((1 << g) - 1) for mask in masks}) for g in set(different)}
    columns = {
        "n": list(rows),
        "count": [counts[g] for g in different],
        "sauer": [sauer_bound(n, dimension) for n in rows],
    }
    notes = [f"sauer: C(n, 0) + ... + C(n, {dimension}), as the VC dimension is {dimension}."]
    if family == "halfspaces":
        columns["cover"] = [cover_count(n, d) for n in rows]
        notes.append("cover: points in general position.")
    return Table(
        columns, title=f"Subsets that {shapes_text(family, sides)} cut from the first n points in R^{d}", notes=notes
    )


def _groups(points: PointsLike, family: str, k: int | None) -> tuple[dict[tuple[int, ...], list[int]], str, int]:
    """Return the row numbers of each distinct point, the canonical name of the family, and ``k`` (0 if unused)."""
    rows = to_integers(read_points(points))
    family, sides = check_family(family, k, len(rows[0]))
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(row, []).append(i)
    return groups, family, sides


def _cut(rows: Integers, family: str, sides: int, progress: Progress) -> set[int]:
    """Return the subsets of these points that the family cuts, as bit masks; report the progress."""
    try:
        return cut(rows, family, sides, partial(progress.share, f"subsets of {len(rows):,} points"))
    finally:
        progress.close()


def _rows(groups: list[list[int]], mask: int) -> frozenset[int]:
    bits = reversed(f"{mask:b}")
    return frozenset([i for names, bit in zip(groups, bits, strict=False) if bit == "1" for i in names])


def _members(n: int, masks: set[int]) -> list[int]:
    """Return for each point a bit mask of the subsets that contain it."""
    ordered = sorted(masks)
    columns = zip(*(f"{mask:0{n}b}" for mask in ordered), strict=True)  # the last point comes first
    return [int("".join(column), 2) for column in columns][::-1]


def _deepest(members: list[int], count: int, most: int, note: Note = ignore) -> list[int]:
    """Return the first of the largest shattered sets of at most ``most`` points, by depth-first search.

    Two subsets are in one class if they contain the same points among those chosen so far. These points are shattered
    if no class is empty. To shatter m more points, every class needs at least 2^m subsets, so a smaller class ends the
    branch. ``note`` is called with the share of all sets of size ``most`` that precede the first two chosen points in
    lexicographic order.
    """
    n, every = len(members), comb(len(members), most)
    best: list[int] = []

    def search(chosen: list[int], classes: list[int], first: int) -> None:
        nonlocal best
        if len(chosen) > len(best):
            best = chosen
        for i in range(first, n):
            needed = len(best) - len(chosen)  # points still needed after this one for a set larger than the best
            if len(best) == most or n - i <= needed:
                return
            if len(chosen) < 2:
                ahead = comb(n - i, most - len(chosen)) + (comb(n - first, most) if chosen else 0)
                note(1.0 - ahead / every)
            split: list[int] = []
            for part in classes:
                within = part & members[i]
                split += (within, part ^ within)
                if min(within.bit_count(), split[-1].bit_count()) < 1 << needed:
                    break
            else:
                search([*chosen, i], split, i + 1)

    search([], [(1 << count) - 1], 0)
    return best
