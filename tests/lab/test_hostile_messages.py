"""Ten thousand messages that no page would send."""

import json
import random

import pytest

from helpers.lab_server import serving, write_page
from helpers.lab_states import FOUR
from rosenblatt.lab.learning import run_message
from rosenblatt.lab.state import LabState

STATE = LabState(points=FOUR, order="fixed")


def malformed(rng, good):
    """Return bytes that are no state, or only by chance."""
    kind = rng.randrange(7)
    if kind == 0:
        return rng.randbytes(rng.randrange(200))
    if kind == 1:
        return good[: rng.randrange(len(good))]
    if kind == 2:
        text = bytearray(good)
        for _ in range(rng.randrange(1, 8)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        return bytes(text)
    if kind == 3:
        return rng.choice([b"[", b'{"a":', b'{"version":1,"points":[[']) * rng.randrange(1, 3000)
    odd = rng.choice([None, True, -1, 1.5, 1e308, 10**14, "", "a" * 100, "\ud800", [], {}, [[[]]], [None] * 50])
    if kind == 4:
        return json.dumps(odd).encode()
    state = json.loads(good)
    if kind == 5:
        state[rng.choice([*state, "other"])] = odd
        return json.dumps(state).encode()
    return good.replace(b"1", rng.choice([b"9" * 400, b"1e999", b"NaN", b"-0", b"1e-400", b"0x1", b"true"]))


@pytest.mark.slow
def test_ten_thousand_malformed_messages_leave_the_server_answering(tmp_path):
    rng, good = random.Random(0), STATE.to_json().encode()
    seen = {}
    asked = {"run": lambda body: run_message(LabState.from_plain(body))}
    with serving(write_page(tmp_path), asked) as client:
        for _ in range(10_000):
            status, answer = client.ask("run", malformed(rng, good))
            assert status in (200, 400)
            assert status == 200 or answer["error"].endswith(".")
            seen[status] = seen.get(status, 0) + 1
        assert seen[400] > 9_000
        assert client.ask("run", STATE.to_plain()) == (200, run_message(STATE))
