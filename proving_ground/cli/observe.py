"""`proving-ground observe`: an observer over a recorded bag; the estimate as a bag, figures and pictures."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.recording.roles import ROLES


def add_parser(commands: Commands) -> None:
    """Add the command `observe` to the command line."""
    parser = commands.add_parser(
        "observe",
        help="run an observer over a recorded bag: estimate, errors, pictures",
        description="Any rosbag2 (MCAP or sqlite3) with Imu, NavSatFix and JointState topics; no ROS is needed. Topics"
        " are those of the suite, else found by their type. What is missing is reported, the rest is used.",
    )
    parser.add_argument("bag", type=Path, metavar="BAG", help="folder of the bag, or one of its files")
    parser.add_argument(
        "--observer", default="", metavar="WHICH", help="vehicle, ins or a YAML file (default: what the bag allows)"
    )
    for role, words in ROLES.items():
        parser.add_argument(f"--{role}", default="", metavar="TOPIC", help=words)
    parser.add_argument("--wheel-names", metavar="FL,FR,RL,RR", help="names of the wheels' joints")
    parser.add_argument("--actuation-names", metavar="S,T,B,E", help="names of steering, throttle, brake, engine")
    parser.add_argument(
        "--datum", type=float, nargs=3, metavar=("LAT", "LON", "ALT"), help="the world's origin [deg, deg, m]"
    )
    parser.add_argument("--gps-at", type=float, nargs=3, metavar=("X", "Y", "Z"), help="antenna in base_link [m]")
    parser.add_argument("--imu-at", type=float, nargs=3, metavar=("X", "Y", "Z"), help="IMU in base_link [m]")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where results go (default: runs/BAG_observed)")
    parser.add_argument("--no-pictures", action="store_true", help="only figures")
    parser.add_argument(
        "--tune", nargs="?", const="", metavar="NAMES",
        help="tune the process noise on this bag first; names of parameters, with commas (default: the usual ones)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the given observer over a bag."""
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
