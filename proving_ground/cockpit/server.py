"""The web server of the page: on one address, without internet access, rejecting sockets of foreign pages."""

from __future__ import annotations

import os
import socket
import threading
import warnings
import webbrowser
from typing import Any
from urllib.parse import urlsplit

import rich
import viser

from proving_ground.settings import SettingsError

PORTS_TRIED = 100
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")  # set where there is one
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class PageServer(viser.ViserServer):
    """A viser server that shares nothing with the internet."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Do nothing: the page must be reachable only at its own address, not through viser's share service."""
        return None


def start_server(host: str, port: int, label: str) -> PageServer:
    """The server on the first free port from the given one; raises SettingsError where there is none."""
    chosen = free_port(host, port)
    rich.get_console().quiet = True  # the library prints a banner with its address; we log ours
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        server = PageServer(host=host, port=chosen, label=label, verbose=False)
    _reject_foreign_pages(server, host)
    return server


def open_in_browser(address: str) -> None:
    """Open a page in the user's browser, if the machine has a display."""
    if any(os.environ.get(name) for name in SCREENS):
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def free_port(host: str, port: int) -> int:
    """The first free port from the given one; raises SettingsError with the reason when there is none."""
    reason = "all are in use"
    for number in range(port, min(port + PORTS_TRIED, 65536)):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                return number
        except socket.gaierror as error:
            raise SettingsError(f"host: must be an address of this machine, got {host!r} ({error.strerror})") from None
        except OSError as error:
            reason = error.strerror or str(error)
            if error.errno == 99:  # cannot assign: not ours, whatever the port
                raise SettingsError(f"host: must be an address of this machine, got {host!r} ({reason})") from None
    raise SettingsError(f"port: none is free from {port} on {host}: {reason}")


def is_own_page(origin: str | None, asked_host: str | None, is_local: bool) -> bool:
    """Whether a socket was opened by a page of this very server: browsers state the page's origin truthfully.

    is_local: the server is for this machine only; then a name that merely resolves to it is foreign, too.

    >>> is_own_page("http://127.0.0.1:8080", "127.0.0.1:8080", True)
    True
    >>> is_own_page("http://a.example", "127.0.0.1:8080", True), is_own_page("http://a.example", "a.example", True)
    (False, False)
    """
    if not origin:
        return True  # not a browser
    page = urlsplit(origin)
    if is_local and page.hostname not in LOOPBACK:
        return False
    return asked_host is not None and page.netloc == asked_host


def _reject_foreign_pages(server: PageServer, host: str) -> None:
    """Otherwise a page from elsewhere, open in the same browser, could connect to this machine and drive."""
    sockets: Any = server._websock_server  # the library has no public interface

    async def check(connection: Any) -> None:
        live: Any = getattr(sockets, "_live_connections", {}).get(connection.client_id)
        headers = getattr(getattr(live, "request", None), "headers", None)
        if headers is not None and is_own_page(headers.get("Origin"), headers.get("Host"), host in LOOPBACK):
            return
        if live is None:  # another version of the library: admit nobody unchecked
            raise RuntimeError("the page server does not know its connections; is viser the pinned version?")
        await live.close(1008, "only this server's own page may connect")

    sockets._client_connect_cb.insert(0, check)
