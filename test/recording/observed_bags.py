"""Changed copies of bags, and `proving-ground observe` over them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer

from proving_ground.cli.main import main
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import from_bytes, store, to_bytes

Change = Callable[[str, Any], "tuple[str, Any] | None"]
Output = pytest.CaptureFixture[str]


def metrics(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "metrics.json").read_text())
    return found


def copied(
    source: Path, target: Path, change: Change = lambda topic, message: (topic, message),
    storage: StoragePlugin = StoragePlugin.MCAP,
) -> Path:  # fmt: skip
    """The bag with messages and topics changed, or left out."""
    bag = open_bag(source)
    with Writer(target, version=9, storage_plugin=storage) as writer:
        made: dict[str, Any] = {}
        for topic, log_ns, data in bag.messages(list(bag.topics)):
            changed = change(topic, from_bytes(data, bag.topics[topic]))
            if changed is None:
                continue
            name, message = changed
            if name not in made:
                made[name] = writer.add_connection(name, message.__msgtype__, typestore=store())
            writer.write(made[name], log_ns, to_bytes(message))
    return target


def without(*topics: str) -> Change:
    return lambda topic, message: None if topic in topics else (topic, message)


def run(bag: Path, out: Path, *options: str) -> int:
    return main(["observe", str(bag), "--out", str(out), "--no-pictures", *options])
