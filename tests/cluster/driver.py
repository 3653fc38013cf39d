"""A process that trains with a checkpoint, to be killed.

``python -m cluster.driver ENGINE MODE WORKERS CHECKPOINT``
"""

from __future__ import annotations

import sys

from cluster.clusters import cluster
from cluster.training import train


def main(engine, mode, workers, checkpoint):
    """Go on from the checkpoint if there is one; print the digest of the model."""
    with cluster(engine, int(workers)):
        print(train(engine, mode, mode == "mix", checkpoint=checkpoint, every=0, resume=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
