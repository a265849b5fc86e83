"""Pages of reports: their lines, their comparisons, and their look in a browser."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.report.compare import compare_page
from proving_ground.report.compared import compared
from proving_ground.report.page import run_page
from proving_ground.report.run_record import Event, RunRecord
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.scenarios.plots import thinned
from some_records import small

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'&$\\frac{"


# Lines


def test_thinned_lines_keep_peaks_and_ends() -> None:
    values = np.zeros(100_000)
    values[54_321], values[77_777] = 5.0, -3.0

    shown = thinned(values, 100)

    assert len(shown) < 400
    assert {0, 54_321, 77_777, 99_999} <= set(shown.tolist())


def test_the_estimate_is_compared_at_its_own_points(record: RunRecord) -> None:
    """base_link and the point of sideslip differ from the centre of mass, which the channels are of."""
    found = {q.name: q for q in compared(record)}

    assert set(found) == {"x", "y", "Yaw", "Speed", "Sideslip"}
    assert found["x"].rms < 2.0  # m, for a low-cost GPS with a given start
    # A filter without the initial speed needs a while. The yaw rate is up to some 0.3 rad/s: at
    # wrong points, speed and sideslip would be off by decimetres per second and by degrees.
    assert np.abs(found["Speed"].error[-100:]).max() < 0.1
    assert np.abs(found["Sideslip"].error[-100:]).max() < 1.0


# Pages


def test_the_same_run_gives_the_same_page_to_the_byte(html: str, record: RunRecord) -> None:
    assert run_page(record) == html


def test_the_page_of_a_long_run_stays_small() -> None:
    """240 s of noise in all channels, the worst case for thinned lines."""
    random = np.random.default_rng(1)
    time = np.arange(24_001) * 0.01
    channels = {key: random.normal(size=time.size) for key in CHANNELS} | {"time_s": time}

    assert len(run_page(small(channels=channels))) < 3_000_000


def test_sinkage_is_shown_on_soil_alone() -> None:
    soft = small(channels={**small().channels, "sinkage_m.front_left": np.full(11, 0.02)})

    assert "Sinkage" not in run_page(small())
    assert "Sinkage" in run_page(soft)


def test_absorbed_power_is_shown_on_rough_ground_alone() -> None:
    rough = small(channels={**small().channels, "seat_absorbed_power_w": np.full(11, 4.0)})

    assert "Power absorbed by the driver" not in run_page(small())
    assert "Power absorbed by the driver" in run_page(rough)


def test_a_missing_world_is_reported(tmp_path: Path) -> None:
    page = run_page(small(world=str(tmp_path / "gone.yaml")))

    assert "the map has no world behind it" in page
    assert "gone.yaml" in page


def test_runs_of_different_scenarios_are_compared_by_what_they_share(record: RunRecord) -> None:
    channels = {key: values for key, values in small().channels.items() if "wheel" not in key and key != "gear"}

    page = compare_page([record, small("other", channels=channels, figures={"turning_radius_m": 7.0})])

    assert "2 runs compared" in page
    assert "turning radius [m]" in page
    assert "Wheel load" in page  # from the one that has it
    row = page[page.index("x [m]</th>") :]
    end = float(record.channels["x_m"][-1])
    assert f"{end:.5g}</td><td>1 ({1.0 - end:+.3g})" in row[:200]


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    options = [
        "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--no-first-run",
    ]  # fmt: skip
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=options)
        yield opened
        opened.close()


@dataclasses.dataclass
class Shown:
    """A page in a browser, and its events while it loaded."""

    page: Any
    complaints: list[str]
    requests: list[str]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Shown]]:
    """Opens HTML in a window of a width."""
    pages = []

    def open_page(html: str, width: int = 1280) -> Shown:
        file = tmp_path / f"page_{width}.html"
        file.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 800})
        pages.append(page)
        shown = Shown(page, [], [])
        page.on("console", lambda message: shown.complaints.append(message.text))
        page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        page.on("dialog", lambda dialog: shown.complaints.append("dialog"))
        page.on("request", lambda request: shown.requests.append(request.url))
        page.goto(file.as_uri())
        page.evaluate("Promise.all([...document.images].map(image => image.decode()))")
        return shown

    yield open_page
    for page in pages:
        page.close()


def _stays_at_home(shown: Shown) -> bool:
    outside = [url for url in shown.requests if not url.startswith(("data:", "file:"))]
    files = [url for url in shown.requests if url.startswith("file:")]
    return not outside and len(files) == 1


@pytest.mark.parametrize("width", [1280, 400])
def test_a_browser_shows_verdict_and_figures_without_network(show: Callable[..., Shown], html: str, width: int) -> None:
    shown = show(html, width)

    assert shown.complaints == []
    assert _stays_at_home(shown)
    page = shown.page
    assert "Failed" in page.inner_text("#verdict")
    assert "1 of 2 criteria is not met" in page.inner_text("#verdict")
    assert page.evaluate("getComputedStyle(document.querySelector('#verdict')).backgroundColor") == "rgb(179, 38, 30)"
    assert "end of x_m" in page.inner_text("#findings tr.failed")
    titles = page.eval_on_selector_all("figure img", "images => images.map(image => image.title)")
    for title in (
        "Map",
        "Speed",
        "Roll and pitch",
        "Lateral acceleration",
        "Yaw rate",
        "Spring compression",
        "Sideslip",
    ):
        assert title in titles
    widths = page.eval_on_selector_all("figure img", "images => images.map(image => image.naturalWidth)")
    assert min(widths) > 100  # all were drawn
    assert all(page.eval_on_selector_all("figure img", "images => images.map(image => image.alt.length > 20)"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    missing = "links => links.filter(link => !document.querySelector(link.getAttribute('href'))).length"
    assert page.eval_on_selector_all("nav a", missing) == 0
    assert "seed: 3" in page.inner_text("#scenario pre")


def test_hostile_text_stays_text(show: Callable[..., Shown]) -> None:
    hostile = small(
        HOSTILE,
        description=HOSTILE,
        scenario=HOSTILE,
        world="</title>" + HOSTILE,
        versions={HOSTILE: HOSTILE},
        figures={HOSTILE: 1.0},
        findings=({"channel": HOSTILE, "statistic": HOSTILE, "value": 1.0, "passed": False},),
        events=(Event(0.5, HOSTILE, HOSTILE), Event(0.1, "fault", HOSTILE, 0.3)),
        remarks=(HOSTILE,),
    )

    for html in (run_page(hostile), compare_page([hostile, small()])):
        shown = show(html)
        assert shown.complaints == []
        assert _stays_at_home(shown)
        assert "owned" not in shown.page.title().replace(HOSTILE, "")
        assert shown.page.eval_on_selector_all("script", "found => found.length") == 0
        assert shown.page.eval_on_selector_all("img:not([src^='data:'])", "found => found.length") == 0
        assert HOSTILE in shown.page.inner_text("body")


def test_a_browser_shows_runs_side_by_side(show: Callable[..., Shown], record: RunRecord) -> None:
    shown = show(compare_page([record, small("standing")]))

    assert shown.complaints == []
    assert _stays_at_home(shown)
    words = shown.page.inner_text("body")
    for text in ("drive", "standing", "Failed", "Passed", "Final values"):
        assert text in words
    titles = shown.page.eval_on_selector_all("figure img", "images => images.map(image => image.title)")
    assert {"Map", "Speed", "Roll", "Yaw rate", "Sideslip"} <= set(titles)
