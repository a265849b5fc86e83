"""The cockpit's web server: its port, its address, and pages it does not answer."""

from __future__ import annotations

import socket

import pytest

from proving_ground.cockpit.server import free_port, is_own_page
from proving_ground.settings import SettingsError


def test_next_free_port_is_used() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) <= port + 100


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_an_address_that_is_not_ours_is_rejected_in_one_line(host: str) -> None:
    with pytest.raises(SettingsError, match="host: must be an address of this machine"):
        free_port(host, 8080)


def test_sockets_of_other_pages_are_rejected() -> None:
    assert is_own_page("http://127.0.0.1:8080", "127.0.0.1:8080", is_local=True)
    assert not is_own_page("https://elsewhere.example", "127.0.0.1:8080", is_local=True)
    assert not is_own_page("http://rebound.example:8080", "rebound.example:8080", is_local=True)
    assert is_own_page("http://lab-pc:8080", "lab-pc:8080", is_local=False)
    assert not is_own_page("http://elsewhere.example", "lab-pc:8080", is_local=False)
