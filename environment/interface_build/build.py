"""Generate, compile and stage one interface package: `python build.py PACKAGE_FOLDER STAGING_FOLDER ...`.

Leaves in STAGING_FOLDER/wheel a project that pip can install. Run by the interpreter that will use the
package, because the rosidl tools, the ROS libraries and the Python headers must be its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":  # as a file, so the repository is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from environment.interface_build.definitions import InterfacePackage
from environment.interface_build.generate import generate
from environment.interface_build.native import Toolchain, compile_and_link
from environment.interface_build.wheel import write_wheel_project


def build(package: InterfacePackage, staging: Path, toolchain: Toolchain, distribution_prefix: str) -> Path:
    """Build a ROS interface package from its sources; returns the folder of its wheel project."""
    sources = generate(package, staging / "generated", toolchain.prefix)
    binaries = compile_and_link(package.name, sources, staging / "binaries", toolchain)
    return write_wheel_project(package, sources, binaries, staging / "wheel", distribution_prefix)


def main() -> int:
    options = _parse()
    toolchain = Toolchain(Path(sys.prefix), options.cc, options.cxx, tuple(options.python_include))
    try:
        build(InterfacePackage.read(options.package), options.staging, toolchain, options.distribution_prefix)
    except subprocess.CalledProcessError as error:
        print(error.stderr, f"ERROR: {first_error(error.stderr)}", sep="\n", file=sys.stderr)
        return 1
    return 0


def first_error(output: str) -> str:
    """The first line of a compiler's output that is an error, else the first line."""
    lines = output.splitlines() or ["the compiler failed without a message"]
    return next((line for line in lines if "error" in line), lines[0])


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("staging", type=Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--python-include", type=Path, action="append", required=True)
    parser.add_argument("--distribution-prefix", default="")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
