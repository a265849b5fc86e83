"""`make check` after lint: the quick pure tests of what has changed since main."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from environment.related_tests import related_tests

ROOT = Path(__file__).resolve().parents[1]
SELECTED = "pure and not slow"
OPTIONS = ["--numprocesses", "2", "--dist", "loadfile", "--quiet"]
NO_TESTS = 5  # pytest's exit status when none was selected


def main() -> int:
    """Run the tests that belong to the change; status 0 when all passed."""
    changed = changed_files(ROOT)
    tests = [str(path) for path in related_tests(changed, ROOT)]
    print(f"{_count(changed)}; tests marked {SELECTED!r} of {', '.join(tests)}", flush=True)
    status = subprocess.run([sys.executable, "-m", "pytest", "-m", SELECTED, *OPTIONS, *tests], cwd=ROOT).returncode
    print(f"make check: {_count(changed)}; ran tests marked {SELECTED!r} of {', '.join(tests)}.")
    print("Not run: other rooms, and tests marked ros, browser, build or slow. `make test` runs everything.")
    return 0 if status == NO_TESTS else status


def changed_files(root: Path) -> list[Path]:
    """Files that differ from where this branch left main (on main: from its last commit), and untracked ones."""
    base = next(filter(None, (_merge_base(root, name) for name in ("main", "origin/main"))), "HEAD")
    tracked = _git(root, "diff", "--name-only", "--no-renames", "-z", base)
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({Path(name) for name in (tracked + untracked).split("\0") if name})


def _merge_base(root: Path, branch: str) -> str:
    """Empty where there is no such branch."""
    result = subprocess.run(["git", "merge-base", "HEAD", branch], cwd=root, capture_output=True, text=True)
    return result.stdout.strip()


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout


def _count(changed: list[Path]) -> str:
    if not changed:
        return "nothing has changed since main"
    return f"{len(changed)} changed file{'s' if len(changed) > 1 else ''}"


if __name__ == "__main__":
    sys.exit(main())
