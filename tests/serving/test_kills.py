"""``rosenblatt serve`` as a process: killed at random moments under load, it loses no row and learns none twice."""

import random
import signal

import pytest

from helpers.killed_servers import lose_rows
from helpers.serving import Client, differences, end_process, learned_apart, make_rows, start_process, table_model


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_row_is_lost_or_learned_twice(tmp_path, seed):
    assert lose_rows(tmp_path, random.Random(seed), kills=3) is None


def test_a_killed_server_continues_with_the_same_bits(tmp_path):
    model, rows = table_model(tmp_path / "m.model"), make_rows(100)
    process, port = start_process(model)
    client = Client(port)
    client.learn(rows[:70])
    client.close()
    assert end_process(process, signal.SIGKILL) == -signal.SIGKILL
    process, port = start_process(model)
    client = Client(port)
    client.learn(rows[70:])
    assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))
    client.close()
    assert end_process(process, signal.SIGTERM) == 0
    assert sorted(path.name for path in (tmp_path / "m.model.state").iterdir()) == [
        "ids-00000002",
        "lock",
        "log-00000002",
        "model-00000002",
    ]
