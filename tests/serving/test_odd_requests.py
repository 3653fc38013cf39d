"""Malformed, huge, slow, smuggled and hostile requests: each gets an answer, and the server goes on as before."""

import gc
import os
import random

import pytest

from helpers.odd_requests import fault_of, odd_request, send
from helpers.serving import differences, make_rows, serving, table_model

REQUESTS = [pytest.param(300, id="300"), pytest.param(5000, marks=pytest.mark.slow, id="5000")]


def megabytes():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


@pytest.mark.parametrize("n", REQUESTS)
def test_odd_requests_do_no_harm(tmp_path, n):
    model, rng = table_model(tmp_path / "m.model"), random.Random(n)
    with serving(model) as client:
        seen, files, memory = set(), 0, 0.0
        for number in range(n):
            data = odd_request(rng, client.port)
            answer = send(rng, client.port, data)
            assert fault_of(answer) is None, (number, data[:2000], answer[:500])
            seen.add(answer[9:12])
            if number == n // 3:
                gc.collect()
                files, memory = len(os.listdir("/proc/self/fd")), megabytes()
        assert {b"200", b"400", b"403", b"404", b"405", b"415"} <= seen
        assert b"500" not in seen
        client.close()
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= files + 3
        assert megabytes() < memory + 60
        rows = client.get("/models/m")[1]["rows"]
        client.learn(make_rows(20))
        assert client.get("/models/m")[1]["rows"] == rows + 20
        before = client.download(tmp_path / "before.model")
    with serving(model) as client:
        assert not differences(client.download(tmp_path / "after.model"), before)
        client.close()
