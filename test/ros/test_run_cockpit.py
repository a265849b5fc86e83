"""`proving-ground run NAME --cockpit` in real headless Chromium: stop, go back, change something, run on."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit_page import ARGUMENTS, CHROMIUM, START_WAIT_S, Looker

playwright_api = pytest.importorskip("playwright.sync_api", reason="the page is tested by playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")

LANE = """
version: 1
description: along a lane
duration_s: 600.0
world: {flat: {friction: 0.9}}
start: {speed_mps: 8.0}
driver: {straight: {}}
sensors: [{imu: {preset: industrial_mems}}]
"""


@pytest.fixture
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as programs:
        opened = programs.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


def seconds(looker: Looker) -> float:
    found = re.search(r"Branch \d+, ([\d.]+) s", looker.text())
    return float(found.group(1)) if found else 0.0


def show(looker: Looker, tab: str, words: str) -> None:
    """Click until the tab is shown: the page may still be moving."""

    def is_shown() -> bool:
        if words not in looker.text():
            looker.show(tab)
        return words in looker.text()

    looker.wait_for(tab)
    looker.wait_until(is_shown, f"the tab {tab}")


def test_a_user_goes_back_and_changes_what_happens(graph: Any, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "lane.yaml").write_text(LANE)
    command = [sys.executable, "-m", "proving_ground", "run", "./lane.yaml", "--cockpit", "--port", "8290"]
    process = graph.start_command(command, cwd=tmp_path)
    graph.wait_until(lambda: "open http" in process.output, "the page", START_WAIT_S)
    address = re.search(r"open (http://[^;]+);", process.output)
    assert address is not None
    looker = Looker(browser, graph, address.group(1))

    show(looker, "Branches", "Save checkpoint")
    looker.wait_until(lambda: seconds(looker) > 1.0, "the run to go on")
    looker.press("Save checkpoint")
    looker.wait_until(lambda: looker.page.query_selector("input[value*='of branch 1']"), "the checkpoint")
    saved = seconds(looker)
    looker.wait_until(lambda: seconds(looker) > saved + 2.0, "the run to go on")
    looker.press("Go back")
    looker.wait_for("Branch 2")
    assert "paused" in looker.text()
    assert seconds(looker) <= saved
    looker.type_number("Friction", 0.2)
    looker.wait_for("friction 0.2")
    looker.press("Begin fault")
    looker.wait_for("outage 0 of imu")
    show(looker, "Control", "Resume")
    looker.press("Resume")
    show(looker, "Branches", "Save checkpoint")
    looker.wait_until(lambda: seconds(looker) > saved + 0.5, "the branch to go on")
    looker.close()

    process.popen.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert re.search(r"branch 1: left after [\d.]+ s\n", process.output)
    assert re.search(r"branch 2: left after [\d.]+ s, with friction 0.2; outage 0 of imu\n", process.output)
