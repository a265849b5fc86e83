"""Settings of a node by the name of its executable."""

from __future__ import annotations

import importlib
from typing import Any

from proving_ground.launching.node_process import node_modules
from sensors.kinds import SENSOR_KINDS


def settings_type(name: str) -> Any:
    """The settings class whose fields are the node's parameters."""
    if name in SENSOR_KINDS:
        return SENSOR_KINDS[name].node_settings
    module = importlib.import_module(node_modules()[name])
    nodes: set[Any] = {
        item
        for item in vars(module).values()
        if isinstance(item, type) and item.__module__ == module.__name__ and getattr(item, "default_name", "") == name
    }
    (node,) = nodes
    return node.settings_type
