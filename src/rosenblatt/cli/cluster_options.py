"""On which cluster ``rosenblatt train`` trains, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rosenblatt.cli import options as given
from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer, count_of

CLUSTERS = {"dask": "Dask", "ray": "Ray"}
"""The kinds of clusters, and how these are written."""


@dataclass(frozen=True)
class ClusterOptions:
    """What the command line says of a cluster."""

    cluster: given.ClusterKind = None
    address: given.Address = None
    mode: given.Mode = None
    shards: given.Shards = None

    def check(self) -> None:
        """Raise a ParameterError for what does not go together.

        >>> ClusterOptions(mode="mix").check()
        Traceback (most recent call last):
        rosenblatt.messages.ParameterError: mode is for training on a cluster: add cluster='dask' or cluster='ray'.
        """
        if self.cluster is None:
            for name in ("address", "mode", "shards"):
                if getattr(self, name) is not None:
                    raise ParameterError(
                        Setting(name),
                        " is for training on a cluster: add ",
                        Setting("cluster", "dask"),
                        " or ",
                        Setting("cluster", "ray"),
                        ".",
                    )
            return
        check_choice("cluster", self.cluster, tuple(CLUSTERS))
        check_choice("mode", self.mode or "exact", ("exact", "mix"))
        if self.shards is not None:
            check_integer("shards", self.shards, 1)
            if self.mode != "mix":
                raise ParameterError(
                    Setting("shards"),
                    " is for ",
                    Setting("mode", "mix"),
                    ": otherwise each file is a shard, and the model does not depend on them.",
                )

    def check_files(self) -> None:
        """Raise a ParameterError if there is a cluster, for what can be read only once."""
        if self.cluster is not None:
            raise ParameterError(
                "a cluster reads files by their names, and what can be read only once, such as standard input, has "
                "none: save it to files, or leave out ",
                Setting("cluster"),
                ".",
            )


def cluster_line(facts: dict[str, Any]) -> str:
    """Return in one sentence where a model was trained.

    >>> cluster_line({"kind": "dask", "mode": "exact", "workers": 2, "shards": 4})
    'Trained on a Dask cluster: 2 workers, 4 shards, mode exact.'
    """
    workers, shards = count_of(facts["workers"], "worker"), count_of(facts["shards"], "shard")
    return f"Trained on a {CLUSTERS[facts['kind']]} cluster: {workers}, {shards}, mode {facts['mode']}."
