"""One process of a launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGE = "proving_ground"
VIEWERS = ("rviz2",)  # closing the viewer must not stop the launch
Value = bool | int | float | str | tuple[Any, ...]  # of a parameter


@dataclass(frozen=True)
class NodeSpec:
    """One process: an executable of this package, its node name and its parameters (later ones win).

    A node that crashes ends the launch, unless it can rejoin a running graph: then it is restarted.
    """

    executable: str
    params_files: tuple[Path, ...] = ()
    params: Mapping[str, Value] = field(default_factory=dict)
    package: str = PACKAGE
    arguments: tuple[str, ...] = ()  # of a program of another package
    called: str = ""  # name of the node; empty: that of the executable
    respawn: bool = False  # restarted when it crashes
    is_background: bool = False  # others do not wait for its every result, and are scheduled first

    @property
    def is_ours(self) -> bool:
        """Whether it is a node of the suite, which reports when it is ready."""
        return self.package == PACKAGE

    @property
    def is_optional(self) -> bool:
        """Whether the others continue when it ends."""
        return self.executable in VIEWERS

    @property
    def finishes(self) -> bool:
        """Whether its successful end also ends the launch."""
        return self.executable == "referee"

    @property
    def name(self) -> str:
        """The node's name, which is also the process's name in logs."""
        return self.called or self.executable
