"""The command line: help, lists, and one line for every mistake."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import proving_ground.settings.text_table
from proving_ground import cli
from proving_ground.cli.doctor import examine
from proving_ground.cli.main import COMMANDS, main
from proving_ground.launching.bring_up import bring_up
from proving_ground.launching.node_process import node_modules, node_process
from proving_ground.settings.share import share_file
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(proving_ground.settings.text_table).failed == 0


@pytest.mark.parametrize("command", [[], *([module.__name__.split(".")[-1]] for module in COMMANDS)])
def test_every_command_has_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])

    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(" ".join(["usage: proving-ground", *command, "["]))


def test_every_command_is_listed_once_and_has_a_module_of_its_name() -> None:
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - {"__init__", "main", "parsing"}

    assert sorted(module.__name__.split(".")[-1] for module in COMMANDS) == sorted(modules)
    assert [name for module in COMMANDS for name in ("add_parser", "run") if not hasattr(module, name)] == []


def test_help_loads_no_library_that_takes_long() -> None:
    code = (
        "import contextlib, sys; from proving_ground.cli.main import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "usage: proving-ground" in result.stdout
    heavy = {"matplotlib", "numba", "numpy", "rclpy", "rosbags", "scipy", "terrain", "vehicle_dynamics", "yaml"}
    assert heavy & set(result.stderr.split()) == set()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["launch", "telop"], "proving-ground launch: launch telop: unknown; did you mean teleop? Known: teleop"),
        (["launch", "teleop", "pad:=nes"], "pad: must be one of logitech_f310, playstation, xbox, got 'nes'"),
        (["launch", "teleop", "pads:=xbox"], "pads: unknown; did you mean pad? Known: pad, use_sim_time, stamped"),
        (["launch", "teleop", "xbox"], "xbox: write launch arguments as name:=value"),
        (["node", "telop"], "node telop: unknown; did you mean teleop? Known: cockpit, encoders, gps, imu, jo"),
        (
            ["export", "hmwv"],
            "export: vehicle hmwv: unknown; did you mean hmmwv? Known: hmmwv, hmmwv_chrono, hmmwv_chrono_wrong, hmmw",
        ),
        (
            ["export", "hmmwv", "--format", "udrf"],
            "--format udrf: unknown; did you mean urdf? Known: mjcf, urdf",
        ),
        (["export", "no/such.yaml"], "no/such.yaml: No such file or directory"),
        (["export", "hmmwv", "--out", "no/such/folder/file.xml"], "file.xml: cannot be written: No such file"),
        (["bench", "teleop", "--picture", "a.png"], "bench teleop: has no picture; these have: planner"),
        (["bench", "quarter_car", "--picture", "a.gif"], "--picture a.gif: must end in one of .png, .svg, .pdf"),
        (["bench", "quarter_car", "--picture", "no/a.png"], "--picture no/a.png: there is no folder no"),
        (
            ["bench", "telop"],
            "bench telop: unknown; did you mean teleop? Known: campaign, cold_start, dynamics, lidar, node",
        ),
    ],
)
def test_mistakes_get_one_line_and_status_two(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [("launch", "pad:=xbox"), ("node", "joystick"), ("export", "hmmwv"), ("bench", "teleop: ")],
)
def test_without_a_name_the_choices_are_listed(command: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(("file_format", "root"), [("mjcf", "mujoco"), ("urdf", "robot")])
def test_export_writes_the_model_to_a_file_or_prints_it(
    file_format: str, root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.xml"
    file.write_text("what was there before")

    assert main(["export", "hmmwv", "--format", file_format, "--out", str(file)]) == 0
    assert main(["export", str(share_file("config/vehicles/hmmwv.yaml")), "--format", file_format]) == 0

    assert ElementTree.fromstring(file.read_text()).tag == root
    assert capsys.readouterr().out == file.read_text()
    assert list(tmp_path.iterdir()) == [file]


def test_export_does_not_write_over_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "models"
    folder.mkdir()

    assert main(["export", "hmmwv", "--out", str(folder)]) == 2

    assert capsys.readouterr().err == f"proving-ground export: {folder}: cannot be written: Is a directory\n"
    assert list(tmp_path.iterdir()) == [folder]


def test_launch_gives_nodes_files_and_parameters() -> None:
    joystick, teleop = bring_up("teleop").nodes({"pad": "playstation", "stamped": "false"})

    assert (joystick.executable, teleop.executable) == ("joystick", "teleop")
    assert [path.name for path in teleop.params_files] == ["teleop.yaml", "playstation.yaml"]
    assert teleop.params == {"use_sim_time": False, "stamped": False, "vehicle": DEFAULT_VEHICLE}
    process = node_process(teleop)
    assert process.entry is not None
    assert process.entry.module == "planner.ros.teleop_node"
    assert "stamped:=false" in process.command


@pytest.mark.ros
def test_every_node_of_the_package_can_be_imported() -> None:
    code = (
        "import importlib; [importlib.import_module(name).main for name in " + repr(list(node_modules().values())) + "]"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_doctor_finds_this_environment_healthy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    table = capsys.readouterr().out
    assert "Ready." in table

    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    rows = {finding["what"]: finding for finding in findings}
    expected = [
        "Python",
        "ROS 2",
        "RMW",
        "domain",
        "tf2_msgs",
        "ackermann_msgs",
        "launch tooling",
        "compiler",
        "joystick",
    ]
    assert set(rows) >= set(expected)
    assert rows["tf2_msgs"]["state"] == "OK"


def test_doctor_names_what_is_missing_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tf2_msgs.msg", None)  # as if it were not installed
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    monkeypatch.setenv("ROS_DOMAIN_ID", "9999")

    rows = {finding.what: finding for finding in examine()}

    assert (rows["tf2_msgs"].state, rows["tf2_msgs"].remedy) == ("missing", "sudo apt install ros-jazzy-tf2-msgs")
    assert rows["domain"].state == "missing"
    assert rows["domain"].remedy == "ROS_DOMAIN_ID: must be a whole number from 0 to 232, got '9999'"
    assert rows["std_msgs"].state == "OK"


def test_doctor_works_where_ros_is_not_installed() -> None:
    code = (
        "import sys; sys.modules['rclpy'] = None; sys.argv = ['proving-ground', 'doctor'];"
        "from proving_ground.cli.main import main; sys.exit(main())"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.returncode == 1
    assert "make venv" in result.stdout
    assert result.stderr == ""
