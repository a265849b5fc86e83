"""Entry point of the set-up: `python3 environment/bootstrap.py`, normally through `make venv`.

This one file must also parse on Pythons that are too old for the rest, so that they get a clear answer.
"""

import sys
from pathlib import Path


def main() -> int:
    if sys.version_info < (3, 10):  # noqa: UP036 -- the reason why this file exists
        sys.stderr.write(
            "proving_ground set-up cannot start.\n"
            "  cause:  Python {}.{} is too old, 3.10 or newer is needed\n"
            "  remedy: make PYTHON=python3.12 venv   (or any other installed Python >= 3.10)\n".format(
                *sys.version_info[:2]
            )
        )
        return 1
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from environment import command_line

    return command_line.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
