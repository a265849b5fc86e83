"""Compiled code is found again, and never used after a change in any file that it is made from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proving_ground.kernels import jit

INNER = (
    "from proving_ground.kernels.jit import inlined\n\n\n@inlined\ndef inner(x: float) -> float:\n    return x + {}\n"
)
OUTER = """
from vehicle_dynamics.inner import inner
from proving_ground.kernels.jit import kernel


@kernel
def outer(x: float) -> float:
    return 10.0 * inner(x)


if __name__ == "vehicle_dynamics.outer":
    print(outer(1.0), sum(outer.stats.cache_hits.values()))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    room, kernels = tmp_path / "vehicle_dynamics", tmp_path / "proving_ground" / "kernels"
    kernels.mkdir(parents=True)
    room.mkdir()
    for folder in (room, kernels, kernels.parent):
        (folder / "__init__.py").touch()
    source = Path(jit.__file__).read_text()
    at_once = source.replace(f"NOTICE_AFTER_S = {jit.NOTICE_AFTER_S}", "NOTICE_AFTER_S = -1.0")
    (kernels / "jit.py").write_text(at_once)
    for name in ("compilations", "compile_lock", "imports", "linked", "shared_cache"):
        shutil.copy(Path(jit.__file__).with_name(f"{name}.py"), kernels)
    (room / "inner.py").write_text(INNER.format("1.0"))
    (room / "outer.py").write_text(OUTER)
    return tmp_path


COMMAND = [sys.executable, "-c", "import vehicle_dynamics.outer"]


def environment(project: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(project / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}


def run(project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(COMMAND, cwd=project, env=environment(project), check=True, capture_output=True, text=True)


def test_processes_that_start_together_compile_once(project: Path) -> None:
    options = {"cwd": project, "env": environment(project), "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(COMMAND, **options) for _ in range(3)]  # type: ignore[call-overload]

    found = [process.communicate()[0].split() for process in processes]

    assert sorted(found) == [["20.0", "0"], ["20.0", "1"], ["20.0", "1"]]


def test_kernel_is_compiled_once_with_a_notice(project: Path) -> None:
    first, second = run(project), run(project)

    assert first.stdout.split() == ["20.0", "0"]
    assert first.stderr.count("compiling numerical kernels") == 1
    assert second.stdout.split() == ["20.0", "1"]
    assert second.stderr == ""


def test_change_in_a_kernel_of_another_file_is_noticed(project: Path) -> None:
    run(project)
    (project / "vehicle_dynamics" / "inner.py").write_text(INNER.format("2.0"))

    assert run(project).stdout.split() == ["30.0", "0"]


def test_only_the_latest_versions_are_kept(project: Path) -> None:
    base = project / "cache" / "proving_ground" / "kernels"
    for age in range(5):
        folder = base / f"vehicle_dynamics.outer-{age}"
        folder.mkdir(parents=True)
        os.utime(folder, (1000.0 - age, 1000.0 - age))

    run(project)

    left = {path.name for path in base.glob("vehicle_dynamics.outer-*")}
    assert len(left) == jit.KEPT_VERSIONS
    assert {"vehicle_dynamics.outer-0", "vehicle_dynamics.outer-1"} < left


def test_home_that_cannot_be_written_only_costs_time(project: Path) -> None:
    (project / "cache").write_text("a file where the folder should be")

    assert run(project).stdout.split() == ["20.0", "0"]
    assert run(project).stdout.split() == ["20.0", "0"]
    (project / "vehicle_dynamics" / "inner.py").write_text(INNER.format("2.0"))
    assert run(project).stdout.split() == ["30.0", "0"]
