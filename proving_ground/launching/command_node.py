"""A command that becomes the process of a node, with options given as parameters."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from typing import NoReturn

from proving_ground.launching.node_process import node_command, node_environment


def become_node(executable: str, params: Mapping[str, bool | float | str], remaps: Sequence[str] = ()) -> NoReturn:
    """Replace this process by the node; remaps: 'OLD:=NEW' each. Raises SettingsError when there is no such node."""
    arguments = ["--ros-args"]
    for name, value in params.items():
        arguments += ["-p", f"{name}:={json.dumps(value)}"]  # JSON is YAML with unambiguous types
    for remap in remaps:
        arguments += ["-r", remap]
    command = node_command(executable, arguments)
    # The node unblocks them when it can stop cleanly; before that they wait.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    os.execve(command[0], command, node_environment())
