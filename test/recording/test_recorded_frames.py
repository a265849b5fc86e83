"""Frames in a bag of lock-step are those of the compiled parts, as in a launch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proving_ground.interfaces import topics
from proving_ground.recording.recording import Recording
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings import nested

SCENARIO = """version: 1
description: frames
world: {flat: {}}
driver: {straight: {speed_mps: 5.0}}
duration_s: 0.5
sensors: [{imu: {}}]
"""


class _Sink:
    """Keeps the frames of transforms, and of the first message of each other topic."""

    def __init__(self) -> None:
        self.frames: dict[str, str] = {}
        self.links: set[tuple[str, str]] = set()

    def write(self, topic: str, message: Any, log_ns: int, qos: Any = None) -> None:
        for link in getattr(message, "transforms", ()):
            self.links.add((link.header.frame_id, link.child_frame_id))
        if hasattr(message, "header"):
            self.frames.setdefault(topic, message.header.frame_id)


def test_an_edited_vehicle_file_names_the_frames_of_a_bag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = {"frames": {"prefix": "truck/", "map": "site"}, "publish_body_tf": False}
    own = nested.default_values
    monkeypatch.setattr(nested, "default_values", lambda file: own(file) | (edited if "vehicle" in file else {}))
    (tmp_path / "own.yaml").write_text(SCENARIO)
    sink = _Sink()
    recording = Recording(sink)

    runner = LockStep(load_scenario(tmp_path / "own.yaml"), listener=recording.sample)
    recording.watch(runner, 0)
    runner.run()
    recording.finish()

    assert sink.frames[topics.TRUTH_ODOM.absolute] == "truck/site"
    assert sink.links == {("truck/site", "truck/odom"), ("truck/odom", "truck/base_link"), ("base_link", "imu_link")}
