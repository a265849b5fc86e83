"""`proving-ground launch`: starts the nodes, stops them together, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import Twist, TwistStamped

from proving_ground.launching.process_list import node_processes

PROVING_GROUND = [sys.executable, "-m", "proving_ground"]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def start(graph: Any, *arguments: str) -> tuple[Any, dict[str, int]]:
    launch = graph.start_command([*PROVING_GROUND, "launch", "teleop", *arguments])
    message_type = Twist if "stamped:=false" in arguments else TwistStamped
    commands = graph.collect(message_type, "/cmd_vel")
    graph.wait_until(lambda: commands, "commands")
    wanted = {"joystick", "teleop"} | ({"monitor"} if "--show" in arguments else set())
    graph.wait_until(lambda: set(graph.node.get_node_names()) >= wanted, "all nodes")
    nodes = node_processes(launch.popen.pid)
    assert set(nodes) == wanted
    return launch, nodes


def test_shows_what_the_nodes_publish(graph: Any) -> None:
    launch, _ = start(graph, "--show")

    graph.wait_until(lambda: "/cmd_vel 20." in launch.output or "/cmd_vel 19." in launch.output, "the monitor's line")

    assert "speed +0.00 m/s" in launch.output
    assert "no game pad or wheel found" in launch.output or "using " in launch.output


def test_arguments_reach_the_nodes(graph: Any) -> None:
    start(graph, "stamped:=false", "pad:=playstation")


@pytest.mark.parametrize("victim", ["joystick", "teleop"])
def test_killing_any_one_node_stops_the_rest(graph: Any, victim: str) -> None:
    launch, nodes = start(graph, "--show")

    os.kill(nodes[victim], signal.SIGKILL)

    assert launch.wait() != 0
    assert f"node {victim} was killed by SIGKILL" in launch.output
    assert not any(is_alive(pid) for pid in nodes.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_is_passed_on_and_all_end_clean(graph: Any, number: int) -> None:
    launch, nodes = start(graph)

    launch.popen.send_signal(number)

    assert launch.wait() == 0
    assert "Traceback" not in launch.output
    assert not any(is_alive(pid) for pid in nodes.values())


@pytest.mark.parametrize("delay", [0.3, 0.5, 0.7])
def test_signal_while_the_nodes_still_start_ends_them_clean(graph: Any, delay: float) -> None:
    launch = graph.start_command([*PROVING_GROUND, "launch", "teleop"])
    graph.wait_until(lambda: "starting" in launch.output, "the launch to begin")
    graph.spin_for(delay)

    launch.popen.send_signal(signal.SIGINT)

    assert launch.wait() == 0
    assert "Traceback" not in launch.output


def test_launch_whose_output_nobody_reads_ends_silently(graph: Any) -> None:
    command = " ".join([*PROVING_GROUND, "launch", "teleop", "--show"])
    launch = graph.start_command(["bash", "-c", f"{command} | head -1"])

    assert launch.wait() == 0
    assert "Traceback" not in launch.output
    assert "Error" not in launch.output


def test_monitor_survives_both_twist_types_on_one_topic(graph: Any) -> None:
    launch, _ = start(graph, "--show")
    graph.start("teleop", "--ros-args", "-r", "__node:=other", "-p", "stamped:=false", "-p", "idle_output:=always")

    graph.wait_until(
        lambda: "other sends geometry_msgs/msg/Twist" in launch.output, "the monitor to name the other type"
    )
    assert launch.is_running()


def test_killing_the_launcher_leaves_no_node_behind(graph: Any) -> None:
    launch, nodes = start(graph)

    launch.popen.kill()

    graph.wait_until(lambda: not any(is_alive(pid) for pid in nodes.values()), "the nodes to end with their launcher")


def test_bad_start_value_stops_the_launch_and_names_the_node(graph: Any, tmp_path: Path) -> None:
    config = tmp_path / "share" / "proving_ground"
    (config / "config" / "pads").mkdir(parents=True)
    (config / "package.xml").touch()
    (config / "config" / "teleop.yaml").write_text("teleop:\n  ros__parameters:\n    expo: 7\n")
    (config / "config" / "pads" / "xbox.yaml").write_text("{}\n")
    code = (
        "import sys, proving_ground.settings.share as s; from pathlib import Path;"
        f"s._candidates = lambda: [Path({str(config)!r})];"
        "from proving_ground.cli.main import main; sys.exit(main(['launch', 'teleop']))"
    )

    launch = graph.start_command([sys.executable, "-c", code])

    assert launch.wait() == 2
    assert f"{config}/config/teleop.yaml:3: expo: must be a number from 0 to 1, got 7" in launch.output
    assert "node teleop failed with exit status 2" in launch.output
