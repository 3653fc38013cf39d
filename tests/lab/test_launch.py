"""Starting and stopping the server."""

import threading

from helpers.lab_server import serving, write_page


def test_a_server_that_has_stopped_leaves_no_thread(tmp_path):
    before = set(threading.enumerate())
    with serving(write_page(tmp_path), {"echo": lambda body: {"asked": body}}) as client:
        assert client.ask("echo", 1) == (200, {"asked": 1})
        started = set(threading.enumerate()) - before
        assert any(thread.name.startswith("lab") for thread in started)
    for thread in started:
        thread.join(60)
        assert not thread.is_alive(), thread.name
