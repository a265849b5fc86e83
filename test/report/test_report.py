"""Reports: folders of runs, records from bags, pages in a browser."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.cli import report
from proving_ground.cli.main import main
from proving_ground.recording.estimate_bag import SIDESLIP, EstimateBag
from proving_ground.recording.types import new, stamp
from proving_ground.recording.writing import BagWriter
from proving_ground.report.compare import compare_page
from proving_ground.report.compared import compared
from proving_ground.report.from_bag import (
    ACTUATION,
    DIAGNOSTICS,
    ESTIMATE,
    JOINTS,
    WHEEL_TRUTH,
    channels_from_bag,
    record_from_bag,
)
from proving_ground.report.page import run_page
from proving_ground.report.run_record import REPORT, Event, RunRecord, load_run, save_run
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.scenarios.estimates import thinned_estimates
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.plots import thinned
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings import SettingsError
from state_observer.vehicle.layout import SENSORS

DRIVE = """version: 1
description: a drive with sensors
world:
  named: {name: flat}
start: {x_m: 20.0, y_m: 20.0, speed_mps: 5.0}
driver:
  sine_steer: {}
duration_s: 4.0
seed: 3
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
faults:
  - {sensor: gps, kind: outage, start_s: 1.0, length_s: 1.5}
observer: {kind: vehicle}
criteria:
  - {channel: speed_mps, statistic: minimum, at_least: 1.0}
  - {channel: x_m, statistic: end, at_least: 1000.0}
"""
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'&$\\frac{"


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run with an observer; beside it its scenario `drive.yaml` and its bag."""
    folder = tmp_path_factory.mktemp("drive")
    (folder / "drive.yaml").write_text(DRIVE)
    assert main(["run", str(folder / "drive.yaml"), "--out", str(folder / "run"), "--bag", str(folder / "bag")]) == 1
    return folder / "run"


@pytest.fixture(scope="module")
def record(drive: Path) -> RunRecord:
    """Record of that run."""
    return load_run(drive)


@pytest.fixture(scope="module")
def html(record: RunRecord) -> str:
    """Its page."""
    return run_page(record)


@pytest.fixture(scope="module")
def unwatched(drive: Path) -> Run:
    """The same run once more, without output."""
    return LockStep(load_scenario(drive.parent / "drive.yaml")).run()


def small(name: str = "small", **more: Any) -> RunRecord:
    """A second of standing still."""
    time = np.linspace(0.0, 1.0, 11)
    channels = {key: np.zeros(11) for key in CHANNELS} | {"time_s": time, "x_m": time}
    return RunRecord(**{"name": name, "channels": channels, "passed": True, **more})


def command(*arguments: str) -> int:
    """`proving-ground report` without the rest of the command line."""
    parser = argparse.ArgumentParser()
    report.add_parser(parser.add_subparsers())
    options = parser.parse_args(["report", *arguments])
    status: int = options.run(options)
    return status


# Folders


def test_a_run_leaves_a_folder_that_reads_back(drive: Path, record: RunRecord) -> None:
    said = json.loads((drive / "metrics.json").read_text())

    assert said["passed"] is False
    assert [item["passed"] for item in said["criteria"]] == [True, False]
    assert record.verdict == "failed"
    assert record.seed == 3
    assert record.scenario == DRIVE
    assert record.timing.real_time_factor is not None
    assert {"proving_ground", "Python", "numpy", "numba", "processor"} <= set(record.versions)
    assert set(record.channels) == set(CHANNELS)
    assert Event(1.0, "fault", "gps: outage", 1.5) in record.events
    assert any(event.kind == "observer" for event in record.events)
    assert {"gps_position", "gyro", "accelerometer", "wheels"} <= set(record.innovations) <= set(SENSORS)


def test_saving_what_was_loaded_changes_no_byte(drive: Path, record: RunRecord, tmp_path: Path) -> None:
    names = save_run(tmp_path, record)

    assert set(names) == {"history.csv", "metrics.json", "scenario.yaml", "estimates.npz"}
    for name in ("history.csv", "scenario.yaml"):
        assert (tmp_path / name).read_bytes() == (drive / name).read_bytes()
    again = load_run(tmp_path)
    assert again.estimates is not None
    assert record.estimates is not None
    assert again.estimates.tobytes() == record.estimates.tobytes()


def test_watching_a_run_changes_no_bit_of_it(unwatched: Run, record: RunRecord) -> None:
    assert unwatched.estimates is not None
    assert record.estimates is not None
    assert thinned_estimates(unwatched.estimates).tobytes() == record.estimates.tobytes()


def test_files_of_an_earlier_run_do_not_stay(tmp_path: Path, record: RunRecord) -> None:
    save_run(tmp_path, record)

    save_run(tmp_path, small())

    assert load_run(tmp_path).estimates is None
    assert load_run(tmp_path).scenario == ""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("metrics.json", b"{", "not JSON"),
        ("metrics.json", b"[]", "names no scenario"),
        ("metrics.json", b'{"scenario": "x"}', "not the metrics of a run"),
        ("metrics.json", b'{"scenario": "x", "passed": true, "figures": {"a": NaN}}', "not finite"),
        ("metrics.json", b'{"scenario": "x", "passed": true, "timing": {"odd": 1}}', "not the metrics of a run"),
        ("history.csv", b"time_s,x_m\n0,1\n0,2\n", "times that rise"),
        ("history.csv", b"time_s,x_m\n0,nan\n", "finite"),
        ("history.csv", b"time_s,x_m\n0,one\n", "not a table of numbers"),
        ("history.csv", b"x_m\n1\n", "needs a row of names with time_s"),
        ("estimates.npz", b"PK no archive", "not the estimates of a run"),
    ],
)
def test_a_damaged_folder_is_one_clear_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    save_run(tmp_path, small())
    (tmp_path / name).write_bytes(content)

    with pytest.raises(SettingsError, match=words) as caught:
        load_run(tmp_path)

    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_estimates_are_loaded_without_pickle(tmp_path: Path) -> None:
    save_run(tmp_path, small())
    np.savez(tmp_path / "estimates.npz", told=np.array([{"code": "runs"}], dtype=object))

    with pytest.raises(SettingsError, match="not the estimates of a run"):
        load_run(tmp_path)


def test_a_folder_of_an_older_version_is_read_too(tmp_path: Path) -> None:
    save_run(tmp_path, small())
    said = json.loads((tmp_path / "metrics.json").read_text())
    old = ("scenario", "passed", "diverged_at_s", "duration_s", "figures", "criteria", "channels")
    (tmp_path / "metrics.json").write_text(json.dumps({key: said[key] for key in old}))

    assert load_run(tmp_path).passed is True


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


# Bags


def test_channels_of_a_bag_are_those_of_the_run(drive: Path, record: RunRecord) -> None:
    found = channels_from_bag(drive.parent / "bag")

    _, ours, theirs = np.intersect1d(
        np.rint(record.channels["time_s"] * 1e3), np.rint(found["time_s"] * 1e3), return_indices=True
    )
    assert len(ours) >= 400
    wanted = {name for name in CHANNELS if name.partition(".")[0].endswith(("_m", "_rad", "mps", "mps2", "radps"))}
    wanted -= {name for name in wanted if name.startswith(("spring", "sinkage", "wheel_angle"))}
    for name in (wanted | {"throttle", "brake", "engine_speed_rpm"}) - {"time_s"}:
        # Nine digits in the table; the bag has all.
        np.testing.assert_allclose(found[name][theirs], record.channels[name][ours], rtol=1e-6, atol=1e-6, err_msg=name)
    # The Pitman arm follows the steering wheel with its own rate.
    assert np.abs(found["steering"][theirs] - record.channels["steering"][ours]).max() < 0.2


def test_channels_that_a_bag_does_not_have_are_left_out(drive: Path, tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    _copy(drive.parent / "bag", bag, without=(WHEEL_TRUTH, JOINTS))

    found = channels_from_bag(bag)
    assert "wheel_load_n.front_left" not in found
    assert "spring_compression_m.front_left" not in found
    assert "gear" not in found

    page = run_page(record_from_bag(bag))
    assert "Wheel load" not in page
    assert "Lateral acceleration" in page
    assert "Not judged" in page


def test_joints_estimates_and_diagnostics_of_a_bag_are_used(
    tmp_path: Path, drive: Path, unwatched: Run, record: RunRecord
) -> None:
    copy = tmp_path / "copy"
    _copy_with_more(drive.parent / "bag", copy, unwatched, record.start_ns)

    found = record_from_bag(copy)

    for corner in ("front_left", "rear_right"):
        name = f"spring_compression_m.{corner}"
        there = np.interp(record.channels["time_s"], found.channels["time_s"], found.channels[name])
        np.testing.assert_allclose(there, record.channels[name], atol=1e-5)
    assert found.kind == "ros"
    by_bag, by_run = ({q.name: q for q in compared(item)} for item in (found, record))
    assert by_bag["x"].rms == pytest.approx(by_run["x"].rms, rel=0.05)
    # Both are of the same point; the bag's standard deviation comes from the twist's covariance.
    assert by_bag["Sideslip"].rms == pytest.approx(by_run["Sideslip"].rms, rel=0.05)
    assert np.median(by_bag["Sideslip"].deviation) == pytest.approx(np.median(by_run["Sideslip"].deviation), rel=0.05)
    assert [(event.kind, event.words) for event in found.events] == [
        ("observer", "aligned"),
        ("diagnostics", "/vehicle: warning: slow <b>"),
        ("observer", "dead reckoning"),
    ]
    assert found.events[2].time_s == pytest.approx(2.0, abs=0.02)
    assert found.innovations["gyro"].nis.tolist() == [1.25, 1.25]


def test_a_bag_without_truth_is_one_clear_line(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        bag.write("/words", new("std_msgs/msg/String", "hello"), 1)

    with pytest.raises(SettingsError, match="has no /ground_truth/odom"):
        record_from_bag(tmp_path / "bag")


def test_invalid_messages_are_left_out_and_reported(tmp_path: Path, drive: Path) -> None:
    copy = tmp_path / "copy"

    def spoil(topic: str, data: bytes) -> bytes:
        return data[:10] if topic == ACTUATION else data

    _copy(drive.parent / "bag", copy, spoil)

    found = record_from_bag(copy)

    assert "throttle" not in found.channels
    assert any(ACTUATION in remark for remark in found.remarks)


def _copy(
    source: Path,
    target: Path,
    change: Callable[[str, bytes], bytes] = lambda topic, data: data,
    more: Callable[[BagWriter], None] | None = None,
    without: Collection[str] = (),
) -> None:
    from proving_ground.recording.reading import open_bag

    bag = open_bag(source)
    with BagWriter(target) as writer:
        topics = [topic for topic in bag.topics if topic not in without]
        for topic in topics:
            writer.announce(topic, bag.topics[topic])
        for topic, log_ns, data in bag.messages(topics):
            writer.write_bytes(topic, change(topic, data), log_ns)
        if more is not None:
            more(writer)
    bag.close()


def _copy_with_more(source: Path, target: Path, result: Run, start_ns: int) -> None:
    """Copy with other /joint_states, /odometry/filtered and /diagnostics."""

    def add(writer: BagWriter) -> None:
        names = [f"{corner}_lower_arm" for corner in ("front_left", "front_right", "rear_left", "rear_right")]
        for time, seen in zip(result.time, result.history, strict=True):
            time_ns = start_ns + round(float(time) * 1e9)
            head = new("std_msgs/msg/Header", stamp(time_ns), "")
            zeros = np.zeros(4)
            writer.write(
                JOINTS, new("sensor_msgs/msg/JointState", head, names, seen["arm_angle"], zeros, zeros), time_ns
            )
        EstimateBag(writer).write(result.estimates)
        for seconds, node, level, words, values in (
            (0.5, "/observer", 0, "aligned", {"status": "aligned", "nis gyro": "1.25"}),
            (1.0, "/vehicle", 1, "slow <b>", {}),
            (1.5, "/vehicle", 1, "slow <b>", {}),
            (2.0, "/observer", 1, "whatever", {"status": "dead reckoning", "nis gyro": "1.25", "nis wheels": "nan"}),
        ):
            time_ns = start_ns + round(seconds * 1e9)
            pairs = [new("diagnostic_msgs/msg/KeyValue", key, value) for key, value in values.items()]
            status = new("diagnostic_msgs/msg/DiagnosticStatus", level, node, words, "proving_ground", pairs)
            head = new("std_msgs/msg/Header", stamp(0), "")
            writer.write(DIAGNOSTICS, new("diagnostic_msgs/msg/DiagnosticArray", head, [status]), time_ns)

    _copy(source, target, more=add, without=(JOINTS, ESTIMATE, SIDESLIP, DIAGNOSTICS))


# The command


def test_one_run_gets_its_report_again(drive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (drive / REPORT).unlink()

    assert command(str(drive)) == 0

    assert (drive / REPORT).is_file()
    assert str(drive / REPORT) in capsys.readouterr().out


def test_a_bag_gets_a_report_beside(
    drive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert command(str(drive.parent / "bag")) == 0

    assert (tmp_path / "bag_report.html").is_file()
    assert "not judged" in capsys.readouterr().out


def test_a_damaged_bag_gets_a_report_and_status_1(
    drive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(drive.parent / "bag", tmp_path / "cut")
    (tmp_path / "cut/metadata.yaml").unlink()

    assert command("cut") == 1
    assert "note  " in capsys.readouterr().out
    assert (tmp_path / "cut_report.html").is_file()

    assert command("cut", str(drive)) == 1
    assert "metadata.yaml: is missing" in capsys.readouterr().out


@pytest.mark.parametrize("known_by", ["scenario.yaml", "--scenario", "the folder's name"])
def test_a_run_of_ros2_launch_gets_its_verdict_and_its_report(
    drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], known_by: str
) -> None:
    """Its folder has bag and timing, but no verdict."""
    name, words = "drive_ros", []
    if known_by == "--scenario":
        name, words = "elsewhere", ["--scenario", str(drive.parent / "drive.yaml")]
    elif known_by == "the folder's name":
        name = "parked_ros"
    folder = tmp_path / name
    shutil.copytree(drive.parent / "bag", folder / "bag")
    (folder / "timing.json").write_text('{"wall_s": 4.0, "real_time_factor": 1.0, "simulated_s": 4.0}')
    if known_by == "scenario.yaml":
        shutil.copy(drive.parent / "drive.yaml", folder / "scenario.yaml")

    assert command(str(folder), *words) == 1  # neither scenario is met by this drive

    expected = name.removesuffix("_ros") if name != "elsewhere" else "drive"
    assert capsys.readouterr().out.splitlines()[-1] == f"{expected}: FAILED"
    assert load_run(folder).passed is False
    assert (folder / REPORT).is_file()
    assert command(str(folder)) == 0  # judged already: the page alone


def test_a_run_without_a_bag_cannot_be_judged_again(drive: Path) -> None:
    with pytest.raises(SettingsError, match="has no bag to judge"):
        command(str(drive), "--scenario", "parked")


def test_without_arguments_runs_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command() == 0
    assert "no runs" in capsys.readouterr().out
    for name, passed in (("good", True), ("bad", False), ("odd", None)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        save_run(tmp_path / "runs" / name, small("scene", passed=passed))
    (tmp_path / "runs/foreign").mkdir()
    (tmp_path / "runs/foreign/metrics.json").write_text("{}")

    assert command() == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [
        ["runs/bad", "FAILED"],
        ["runs/good", "passed"],
        ["runs/odd", "not"],
    ]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: None, "No such file"),
        (lambda folder: folder.mkdir(), "neither a run"),
        (lambda folder: folder.write_text("x"), "no messages"),
    ],
)
def test_a_folder_that_is_not_a_run_is_reported_in_one_line(
    tmp_path: Path, make: Callable[[Path], Any], words: str
) -> None:
    make(tmp_path / "thing")

    with pytest.raises(SettingsError, match=words) as caught:
        command(str(tmp_path / "thing"))

    assert "\n" not in str(caught.value)


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
