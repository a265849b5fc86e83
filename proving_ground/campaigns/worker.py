"""A worker process: takes runs from a connection, one after the other, and sends back their rows.

Started as a separate program, so that a run can only harm its own process. It ends when the other
end of the connection closes or its parent dies.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

READY, WARMED, DONE, REJECTED = "ready", "warmed", "done", "rejected"
OTHER_CODE = "other code or libraries than the driver (were files changed since it was started?)"
KIT, WARM, RUN = "kit", "warm", "run"


def main() -> None:
    """Serve the connection whose file descriptor is the first argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides when work ends
    os.dup2(2, 1)  # what planners print is not the driver's output
    threading.Thread(target=_leave_with_starter, args=(os.getppid(),), daemon=True).start()
    connection = Connection(int(sys.argv[1]))
    try:
        _serve(connection)
    except (EOFError, ConnectionError):  # the driver is gone
        os._exit(0)


def _leave_with_starter(starter: int) -> None:
    """End with the driver: without it, a run that lasts for minutes would go on in vain."""
    while os.getppid() == starter:
        time.sleep(1.0)
    os._exit(0)


def _serve(connection: Connection) -> None:
    from proving_ground.campaigns.host import code_fingerprint, host_columns
    from proving_ground.campaigns.perform import perform, warm_up

    connection.send((READY, None))
    kit, host = None, host_columns()
    while True:
        what, content = connection.recv()
        if what == KIT:
            kit = pickle.loads(content)
            if kit.code != code_fingerprint():
                connection.send((REJECTED, f"{host['host.name']}: has {OTHER_CODE}"))
        elif what == WARM:
            with contextlib.suppress(Exception):  # the run will report it
                warm_up(kit, content)  # type: ignore[arg-type]
            connection.send((WARMED, None))
        else:
            row = perform(kit, content)  # type: ignore[arg-type]
            connection.send((DONE, row | host))


if __name__ == "__main__":
    main()
