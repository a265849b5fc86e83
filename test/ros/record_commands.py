"""`proving-ground record` and `replay` as processes, and what those say that do not start."""

from __future__ import annotations

import sys
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger

from proving_ground.ros_support import qos

S = 1_000_000_000
START_NS = 1_767_225_600 * S
COMMAND = (
    "import argparse, sys; from proving_ground.cli import record, replay; p = argparse.ArgumentParser();"
    "c = p.add_subparsers(); record.add_parser(c); replay.add_parser(c);"
    "o = p.parse_args(sys.argv[1:]); sys.exit(o.run(o))"
)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", COMMAND, *arguments]


def resume_when_subscribed(graph: Any, subscribers: int) -> None:
    """Resume a paused replay once its publishers have found that many subscribers, however long that takes."""
    figures: dict[str, str] = {}
    graph.node.create_subscription(
        DiagnosticArray,
        "/diagnostics",
        lambda message: figures.update({item.key: item.value for item in message.status[0].values}),
        qos.RELIABLE,
    )
    graph.wait_until(lambda: figures.get("subscribers") == str(subscribers), f"{subscribers} subscribers")
    assert graph.call(graph.node.create_client(Trigger, "/replayer/resume"), Trigger.Request()).success


def says_one_line(process: Any, words: str) -> None:
    """Check the output of processes that do not start; one after the other, because starting takes a core."""
    assert process.wait() == 2
    assert words in process.output
    assert len(process.output.strip().splitlines()) == 1
