"""Certificates: answers that carry their proof, print in words, and are saved as JSON.

A certificate is a small frozen dataclass. Its ``check`` recomputes what it claims from the data alone, exactly, and
shares no code with what found it. Its fields are annotated with types of `certificate_fields`, which define how each
is written.
"""

from __future__ import annotations

import copy
import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Self, get_type_hints

from rosenblatt.parameters import shorten
from rosenblatt.small_pictures import described
from rosenblatt.storage.atomic import write_atomically
from rosenblatt.storage.container import check_is_file
from rosenblatt.storage.json_fields import StrictFields, to_canonical_json
from rosenblatt.theory.certificate_fields import Codec

FORMAT = 1
_HOMES = {
    "verdicts": ("Separable", "Inseparable", "Undecided", "MarginBracket"),
    "mistakes.answers": ("FewestMistakes",),
    "programs.feasibility_answers": ("Feasible", "Infeasible", "Unsettled"),
    "programs.optimum_answers": ("Optimum", "Unbounded"),
    "separation.answers": ("Separation",),
}
"""The module of each type of certificate. A name in a file is looked up here and nowhere else."""
MOST_ROWS = 1 << 27
"""A certificate names the rows that have weight, and how many rows there are: in memory all of them have one."""


class JsonFile:
    """What has ``to_json`` and ``from_dict`` can be saved to a file and loaded from it.

    Attributes
    ----------
    preparation : dict or None
        How the rows it is about were made of a file, as ``stream.preparation`` says it, where that is known. It is kept
        in the file, is no part of what is proved, and ``check`` does not use it.
    """

    preparation: dict[str, Any] | None = None

    def with_preparation(self, preparation: dict[str, Any]) -> Self:
        """Return the same certificate, which also says how its rows were made of a file.

        Examples
        --------
        >>> from rosenblatt import Certificate, separability
        >>> made = {"format": "svmlight", "version": 1, "zero_based": False, "n_features": 1}
        >>> certificate = separability([[0], [1]], [0, 1]).with_preparation(made)
        >>> Certificate.from_json(certificate.to_json()).preparation == made
        True
        """
        to_canonical_json(preparation, "a preparation")
        other = copy.copy(self)
        object.__setattr__(other, "preparation", preparation)
        return other

    def to_json(self) -> str:
        """Return all of it as JSON text."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, record: object) -> Self:
        """Return what the data of ``to_json`` stands for; a ValueError for any other data."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str | bytes, *, max_rows: float = MOST_ROWS) -> Self:
        """Return what ``to_json`` wrote; a ValueError for any other text.

        It is not trusted: what it claims is true only if its ``check`` on the data returns True. Text of a few bytes
        can claim something about any number of rows, for each of which 8 bytes are needed: above ``max_rows`` in all
        it is refused.
        """
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"expected a certificate as JSON, got something else: {error}.") from None
        except (ValueError, RecursionError):
            raise ValueError("expected a certificate as JSON, got a number or brackets without end.") from None
        rows = _claimed_rows(record)
        if rows > max_rows:
            raise ValueError(
                f"expected certificates about {max_rows:,} rows in all, got {shorten(rows)}: "
                "allow more by max_rows, 8 bytes of memory each, if you know where they come from."
            )
        return cls.from_dict(record)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, as a whole or not at all; an OSError names the file where that fails."""
        write_atomically(path, [f"{self.to_json()}\n".encode("utf-8", "backslashreplace")])

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_rows: float = MOST_ROWS) -> Self:
        """Read a JSON file that ``save`` wrote; ``Certificate.load`` reads a certificate of any type.

        ``max_rows`` is the most rows that the certificates in it may be about, in all, 2**27 if left out. A file of a
        few bytes can claim any number of them, and each takes 8 bytes of memory: beyond ``max_rows`` it is a
        ValueError.
        """
        check_is_file(path)
        try:
            return cls.from_json(Path(path).read_bytes(), max_rows=max_rows)
        except ValueError as fault:
            raise ValueError(f"{os.fspath(path)} is no certificate that can be used: {fault}") from None


def _claimed_rows(record: object) -> int:
    """Return for how many rows the certificates in ``record``, and in their proofs, have weights."""
    records = [one for one in (record if isinstance(record, list) else [record]) if isinstance(one, dict)]
    proofs = [one["proof"] for one in records if isinstance(one.get("proof"), dict)]
    alphas = [one["alpha"] for one in (*records, *proofs) if isinstance(one.get("alpha"), dict)]
    lengths = [alpha.get("length") for alpha in alphas]
    return sum(length for length in lengths if isinstance(length, int))


class Certificate(JsonFile):
    """An answer that proves itself; see its ``check``. Saved and loaded as JSON, which never runs code.

    Examples
    --------
    >>> from rosenblatt import Certificate, separability
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> text = separability(X, y).to_json()
    >>> Certificate.from_json(text).check(X, y)
    True
    """

    _truth: bool | str = True  # what ``bool`` gives, or why it gives nothing

    def __bool__(self) -> bool:
        if isinstance(self._truth, str):
            raise ValueError(self._truth)
        return self._truth

    def __repr__(self) -> str:
        return str(self)  # each type has a __str__ in words

    def _repr_html_(self) -> str:
        return described(str(self).splitlines(), self._picture())

    def _picture(self) -> str:
        """Draw what is proved, for notebooks; nothing where there is nothing to see."""
        return ""

    @classmethod
    def _codecs(cls) -> dict[str, Codec]:
        hints = get_type_hints(cls, include_extras=True)
        return {name: hints[name].__metadata__[0] for name in cls.__dataclass_fields__}  # type: ignore[attr-defined]

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as data that JSON can hold; every number in it is kept exactly."""
        given = {name: (getattr(self, name), codec) for name, codec in self._codecs().items()}
        values = {
            name: codec.write(value, name)
            for name, (value, codec) in given.items()
            if value is not None or not codec.optional
        }
        made = {} if self.preparation is None else {"preparation": self.preparation}
        return {"rosenblatt": type(self).__name__, "format": FORMAT, **values, **made}

    def to_json(self) -> str:
        """Return the certificate as JSON text; every number in it is kept exactly."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_dict(cls, record: object) -> Self:
        """Return the certificate that ``to_dict`` described; a ValueError for anything else."""
        if isinstance(record, list):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got a list: use Verdicts.load.")
        name = record.get("rosenblatt") if isinstance(record, dict) else None
        home = next((home for home, names in _HOMES.items() if name in names), None)
        kind = getattr(import_module(f"rosenblatt.theory.{home}"), str(name)) if home else None
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got {shorten(name)}.")
        fields = StrictFields(record, "the certificate")
        fields.take("rosenblatt")
        version = fields.take("format")
        if version != FORMAT:
            raise ValueError(
                f"expected a certificate in format {FORMAT}, got {shorten(version)}: "
                "it was written by another version of rosenblatt."
            )
        found = kind(**{name: codec.read(fields, name) for name, codec in kind._codecs().items()})
        made = fields.dictionary("preparation") if fields.has("preparation") else None
        fields.end()
        return found if made is None else found.with_preparation(made)
