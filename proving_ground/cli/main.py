"""The `proving-ground` command."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proving_ground.cli import (
    campaign as campaign_command,
)
from proving_ground.cli import (
    record as record_command,
)
from proving_ground.cli import (
    replay as replay_command,
)
from proving_ground.cli import (
    report as report_command,
)
from proving_ground.cli import (
    validate as validation_command,
)
from proving_ground.recording.topics import ROLES
from proving_ground.settings import SettingsError

if TYPE_CHECKING:
    from proving_ground.launching.bring_up import LaunchArgument

EXIT_BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status. Bad input is one line on stderr and status 2."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
        return status
    except SettingsError as error:
        print(f"proving-ground {options.command}: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proving-ground", description="Test an autonomy stack on a simulated off-road vehicle, over ROS 2."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    doctor = commands.add_parser("doctor", help="check this machine: Python, ROS, interfaces, compiler, joystick")
    doctor.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    doctor.set_defaults(run=_doctor)

    run = commands.add_parser(
        "run",
        help="run a scenario in lock-step: figures, pictures, pass or fail",
        description="All in one process without ROS, as fast as it goes, repeatable to the bit. Status 1: not passed.",
    )
    run.add_argument("name", nargs="?", metavar="SCENARIO", help="name or YAML file; without it all are listed")
    run.add_argument("--out", type=Path, metavar="FOLDER", help="where results go (default: runs/SCENARIO)")
    run.add_argument("--no-pictures", action="store_true", help="only figures, no report")
    run.add_argument("--no-report", action="store_true", help="pictures, but no report.html")
    run.add_argument("--bag", type=Path, metavar="FOLDER", help="write sensors and truth into a new rosbag2 (MCAP) too")
    run.add_argument(
        "--from", dest="campaign", type=Path, metavar="FOLDER", help="repeat a run of a campaign: its folder"
    )
    run.add_argument("--run", dest="number", type=int, metavar="N", help="and the run's number")
    run.set_defaults(run=_run)

    report_command.add_parser(commands)
    record_command.add_parser(commands)
    replay_command.add_parser(commands)
    campaign_command.add_parser(commands)
    validation_command.add_parser(commands)

    observe = commands.add_parser(
        "observe",
        help="run an observer over a recorded bag: estimate, errors, pictures",
        description="Any rosbag2 (MCAP or sqlite3) with Imu, NavSatFix and JointState topics; no ROS is needed. Topics"
        " are those of the suite, else found by their type. What is missing is said and the rest used.",
    )
    observe.add_argument("bag", type=Path, metavar="BAG", help="folder of the bag, or one of its files")
    observe.add_argument(
        "--observer", default="", metavar="WHICH", help="vehicle, ins or a YAML file (default: what the bag allows)"
    )
    for role, words in (
        ("imu", "Imu"),
        ("fix", "NavSatFix"),
        ("velocity", "TwistWithCovarianceStamped of the GPS, east, north, up"),
        ("wheels", "JointState of the wheels"),
        ("actuation", "JointState of steering, throttle, brake, engine"),
        ("truth", "Odometry to compare with"),
    ):
        observe.add_argument(f"--{role}", default="", metavar="TOPIC", help=words)
    observe.add_argument("--wheel-names", metavar="FL,FR,RL,RR", help="names of the wheels' joints")
    observe.add_argument("--actuation-names", metavar="S,T,B,E", help="names of steering, throttle, brake, engine")
    observe.add_argument(
        "--datum", type=float, nargs=3, metavar=("LAT", "LON", "ALT"), help="the world's origin [deg, deg, m]"
    )
    observe.add_argument("--gps-at", type=float, nargs=3, metavar=("X", "Y", "Z"), help="antenna in base_link [m]")
    observe.add_argument("--imu-at", type=float, nargs=3, metavar=("X", "Y", "Z"), help="IMU in base_link [m]")
    observe.add_argument("--out", type=Path, metavar="FOLDER", help="where results go (default: runs/BAG_observed)")
    observe.add_argument("--no-pictures", action="store_true", help="only figures")
    observe.add_argument(
        "--tune", nargs="?", const="", metavar="NAMES",
        help="tune the process noise on this bag first; names of parameters, with commas (default: the usual ones)",
    )  # fmt: skip
    observe.set_defaults(run=_observe)

    identify = commands.add_parser(
        "identify", help="identify rolling resistance and brake friction from coast-down and braking runs"
    )
    identify.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    identify.set_defaults(run=_identify)

    launch = commands.add_parser(
        "launch",
        help="start the nodes of a launch and stop them together",
        description="The same nodes and parameters as `ros2 launch proving_ground NAME.launch.py`.",
    )
    launch.add_argument(
        "name", nargs="?", metavar="NAME", help="which launch, or a scenario by name or file; without it all are listed"
    )
    launch.add_argument("arguments", nargs="*", metavar="KEY:=VALUE", help="launch arguments, e.g. pad:=playstation")
    launch.add_argument("--show", action="store_true", help="also print what the nodes publish")
    launch.set_defaults(run=_launch)

    node = commands.add_parser("node", help="run one node, as `ros2 run proving_ground NODE` does")
    node.add_argument("name", nargs="?", metavar="NODE", help="which node; without it all are listed")
    node.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="passed on, e.g. --ros-args -p ...")
    node.set_defaults(run=_node)

    export = commands.add_parser("export", help="write a vehicle's rigid-body model for other programs")
    export.add_argument(
        "vehicle",
        nargs="?",
        metavar="VEHICLE",
        help="name in config/vehicles or a YAML file; without it, a list",
    )
    export.add_argument("--format", default="mjcf", help="mjcf (MuJoCo, loops closed) or urdf (RViz, loops open)")
    export.add_argument("--out", type=Path, metavar="FILE", help="where to write it; without it to standard output")
    export.set_defaults(run=_export)

    world = commands.add_parser(
        "world",
        help="list worlds, draw one from above, or write one for other programs",
        description="`world` lists all; `world show NAME` draws one; `world export NAME` writes its ground or mesh.",
    )
    world.add_argument("action", nargs="?", default="list", choices=("list", "show", "export"), help="default: list")
    world.add_argument(
        "name", nargs="?", metavar="NAME", help="name in config/worlds or a YAML file; without it, a list"
    )
    world.add_argument("--out", type=Path, metavar="FILE", help="where to write (show: NAME.png by default)")
    world.add_argument("--format", default="", help="of an export: obj, stl, ply (meshes), npz, asc, tif, png")
    world.add_argument("--resolution", type=float, metavar="M", help="export at another distance of nodes")
    world.set_defaults(run=_world)

    sensors = commands.add_parser(
        "sensors",
        help="list presets of sensors, or draw what the sensors of a scenario see",
        description="`sensors` lists presets; `sensors show SCENARIO` draws a LIDAR scan, GPS scatter and IMU noise.",
    )
    sensors.add_argument("action", nargs="?", default="list", choices=("list", "show"), help="default: list")
    sensors.add_argument("name", nargs="?", metavar="SCENARIO", help="name in config/scenarios or a YAML file")
    sensors.add_argument("--at", type=float, metavar="S", help="when the scan is taken (default: half the duration)")
    sensors.add_argument("--out", type=Path, metavar="FOLDER", help="where pictures go (default: runs/SCENARIO)")
    sensors.set_defaults(run=_sensors)

    bench = commands.add_parser("bench", help="measure; every figure beside one to compare it with")
    bench.add_argument("name", nargs="?", metavar="NAME", help="which benchmark, or `all`; without it all are listed")
    bench.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    bench.add_argument(
        "--picture", metavar="FILE", help="write the benchmark's picture too, where it has one (quarter_car, planner)"
    )
    bench.set_defaults(run=_bench)
    return parser


# Each command imports what it needs when it runs: `doctor` must work where ROS is broken, `--help` must be quick.


def _doctor(options: argparse.Namespace) -> int:
    from proving_ground.cli.doctor import doctor

    return doctor(options.json)


def _run(options: argparse.Namespace) -> int:
    from proving_ground.cli.run import list_scenarios, run, run_again

    wanted = (not options.no_pictures, options.bag, not options.no_report)
    if options.campaign is not None or options.number is not None:
        if options.campaign is None or options.number is None or options.name is not None:
            raise SettingsError("--from and --run belong together, without a SCENARIO")
        return run_again(options.campaign, options.number, options.out, *wanted)
    if options.name is None:
        return list_scenarios()
    return run(options.name, options.out, *wanted)


def _observe(options: argparse.Namespace) -> int:
    from proving_ground.recording.observe import Request, observe, split_names

    return observe(
        Request(
            bag=options.bag,
            observer=options.observer,
            topics={role: getattr(options, role) for role in ROLES if getattr(options, role)},
            wheel_names=split_names("--wheel-names", options.wheel_names, 4),
            pedal_names=split_names("--actuation-names", options.actuation_names, 4),
            datum=tuple(options.datum) if options.datum else None,
            gps_at=tuple(options.gps_at) if options.gps_at else None,
            imu_at=tuple(options.imu_at) if options.imu_at else None,
            out=options.out,
            tune=None if options.tune is None else tuple(name for name in options.tune.split(",") if name),
            with_pictures=not options.no_pictures,
        )
    )


def _identify(options: argparse.Namespace) -> int:
    from proving_ground.scenarios.identify import identify

    return identify(options.json)


def _launch(options: argparse.Namespace) -> int:
    from proving_ground.launching.bring_up import bring_ups
    from proving_ground.launching.launcher import launch

    if options.name is None:
        from proving_ground.launching.scenario_launch import scenario_launches  # slow to import

        for item in bring_ups().values():
            _print_launch(item.name, item.description, item.arguments)
        scenarios = scenario_launches()
        names = ", ".join(scenarios)
        _print_launch(
            "SCENARIO", f"a scenario from start to verdict: {names}", next(iter(scenarios.values())).arguments
        )
        return 0
    given = {}
    for text in options.arguments:
        name, separator, value = text.partition(":=")
        if not separator:
            raise SettingsError(f"{text}: write launch arguments as name:=value")
        given[name] = value
    return launch(options.name, given, options.show)


def _print_launch(name: str, description: str, arguments: Sequence[LaunchArgument]) -> None:
    print(f"{name}: {description}")
    for argument in arguments:
        choices = f" ({', '.join(argument.choices)})" if argument.choices else ""
        print(f"    {argument.name}:={argument.default}  {argument.description}{choices}")


def _node(options: argparse.Namespace) -> int:
    from proving_ground.launching.node_process import node_command, node_modules

    if options.name is None:
        print("\n".join(node_modules()))
        return 0
    command = node_command(options.name, options.arguments)
    # The node lets them in when it can stop cleanly; before that they wait.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    os.execv(command[0], command)


def _export(options: argparse.Namespace) -> int:
    from proving_ground.cli.export import export

    return export(options.vehicle, options.format, options.out)


def _world(options: argparse.Namespace) -> int:
    from proving_ground.cli.world import export_world, list_worlds, show_world

    if options.action == "list" or options.name is None:
        return list_worlds()
    if options.action == "show":
        return show_world(options.name, options.out)
    if options.out is None:
        raise SettingsError("export: say where to write with --out FILE")
    return export_world(options.name, options.format or options.out.suffix[1:], options.out, options.resolution)


def _sensors(options: argparse.Namespace) -> int:
    from proving_ground.cli.sensors import list_presets, show_sensors

    if options.action == "list":
        return list_presets()
    if options.name is None:
        raise SettingsError("show needs a SCENARIO, as in `proving-ground sensors show sensor_drive`")
    return show_sensors(options.name, options.at, options.out)


def _bench(options: argparse.Namespace) -> int:
    from proving_ground.cli.bench import bench

    return bench(options.name, options.json, options.picture)


if __name__ == "__main__":
    raise SystemExit(main())
