"""Synchronous time: messages come in the order of their instants, however they arrive."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.interfaces import topics
from proving_ground.interfaces.digest import LARGE, Digest
from proving_ground.interfaces.synchrony import Report, Timetable, fill_report, read_report
from proving_ground.recording.types import empty

SOURCES = {"fast": ("fast/one", "fast/two"), "slow": ("slow/one",)}


def _begin(table: Timetable) -> None:
    for node, names in SOURCES.items():
        table.on_report(node, Report(0, 0, dict.fromkeys(names, 0)))


def _events() -> dict[str, list[tuple[str, Any]]]:
    """Messages of each channel of DDS, in its own order: ten instants of a fast node, two of a slow one."""
    channels: dict[str, list[tuple[str, Any]]] = {
        name: [] for name in ("fast/one", "fast/two", "slow/one", "fast", "slow")
    }
    for count in range(1, 11):
        time_ns = 10 * count
        channels["fast/one"].append(("fast/one", f"one at {time_ns}"))
        if count % 2:
            channels["fast/two"].append(("fast/two", f"two at {time_ns}"))
        sent = {"fast/one": count, "fast/two": (count + 1) // 2}
        channels["fast"].append(("fast", Report(time_ns, time_ns + 10, sent)))
    for count, time_ns in enumerate((30, 80), start=1):
        channels["slow/one"].append(("slow/one", f"slow at {time_ns}"))
        channels["slow"].append(("slow", Report(time_ns, time_ns + 50, {"slow/one": count})))
    return channels


def _expected() -> list[tuple[int, str]]:
    found = []
    for time_ns in range(10, 101, 10):
        found.append((time_ns, f"one at {time_ns}"))
        if (time_ns // 10) % 2:
            found.append((time_ns, f"two at {time_ns}"))
        if time_ns in (30, 80):
            found.append((time_ns, f"slow at {time_ns}"))
    return found


@given(st.randoms(use_true_random=False))
def test_order_of_messages_does_not_depend_on_their_arrival(random: Any) -> None:
    table, channels = Timetable(SOURCES), _events()
    _begin(table)
    got = []

    while any(channels.values()):
        name = random.choice([name for name, items in channels.items() if items])
        source, item = channels[name].pop(0)
        if isinstance(item, Report):
            table.on_report(source, item)
        else:
            table.on_message(source, item)
        got += table.take(table.horizon_ns)

    assert [(arrival.instant_ns, arrival.message) for arrival in got] == _expected()


@given(st.randoms(use_true_random=False))
def test_messages_of_before_and_after_a_reset_are_told_apart_however_they_arrive(random: Any) -> None:
    table = Timetable(SOURCES)
    _begin(table)
    channels, before = _events(), {"fast/one": 10, "fast/two": 5, "slow/one": 2}
    for name, items in _events().items():
        if name in SOURCES:
            sent = {topic: before[topic] for topic in SOURCES[name]}
            channels[name].append((name, Report(0, 0, sent, resets=1, begun=1)))
        for source, item in items:
            if isinstance(item, Report):
                sent = {topic: before[topic] + count for topic, count in item.sent.items()}
                channels[name].append((source, item._replace(sent=sent, resets=1, begun=1)))
            else:
                channels[name].append((source, f"{item}, after"))
    channels["reset"] = [("reset", None)]
    got: list[Any] = []

    while any(channels.values()):
        name = random.choice([name for name, items in channels.items() if items])
        source, item = channels[name].pop(0)
        if name == "reset":
            assert not any("after" in arrival.message for arrival in got)
            got.clear()
            table.restart(1)
        elif isinstance(item, Report):
            table.on_report(source, item)
        else:
            table.on_message(source, item)
        got += table.take(table.horizon_ns)

    assert [(item.instant_ns, item.message) for item in got] == [
        (time_ns, f"{words}, after") for time_ns, words in _expected()
    ]


def test_nobody_goes_beyond_what_every_node_has_promised() -> None:
    table = Timetable(SOURCES)
    _begin(table)
    table.on_report("fast", Report(10, 20, {"fast/one": 0, "fast/two": 0}))

    assert table.horizon_ns == 0
    assert table.awaited(10) == ["slow"]

    table.on_report("slow", Report(10, 200, {"slow/one": 0}))
    assert table.horizon_ns == 20
    assert table.awaited(20) == ["fast"]


def test_report_counts_only_when_its_messages_have_arrived() -> None:
    table = Timetable({"fast": ("fast/one",)})
    table.on_report("fast", Report(0, 0, {"fast/one": 0}))
    table.on_report("fast", Report(10, 20, {"fast/one": 1}))
    assert table.horizon_ns == 0

    table.on_message("fast/one", "late")
    assert table.horizon_ns == 20
    assert [item.message for item in table.take(20)] == ["late"]


def test_missing_message_holds_time_and_is_named() -> None:
    table = Timetable({"fast": ("fast/one", "fast/two")})
    table.on_report("fast", Report(0, 0, {"fast/one": 0, "fast/two": 0}))
    table.on_report("fast", Report(10, 20, {"fast/one": 2, "fast/two": 1}))
    table.on_message("fast/one", "the second")
    table.on_message("fast/two", "the only one")

    assert table.missing() == ["fast/one (1 of 2)"]
    assert (table.horizon_ns, table.take(20)) == (0, [])


def test_repeated_reports_change_nothing() -> None:
    table = Timetable({"fast": ("fast/one",)})
    begin, first = Report(0, 0, {"fast/one": 0}, begun=1), Report(10, 20, {"fast/one": 1}, begun=1)
    table.on_report("fast", begin)
    table.on_message("fast/one", "first")  # arrives before the repeated report, which was sent before it
    table.on_report("fast", begin)
    table.on_report("fast", first)
    table.on_message("fast/one", "second")
    table.on_report("fast", first)
    table.on_report("fast", Report(20, 30, {"fast/one": 2}, begun=1))

    assert [(item.instant_ns, item.message) for item in table.take(30)] == [(10, "first"), (20, "second")]


def test_node_whose_first_report_was_missed_is_joined_where_it_is() -> None:
    table = Timetable({"fast": ("fast/one",)})
    table.on_report("fast", Report(500, 510, {"fast/one": 0}, begun=1))
    table.on_report("fast", Report(510, 520, {"fast/one": 3}, begun=2))
    table.on_message("fast/one", "fourth")
    table.on_report("fast", Report(520, 530, {"fast/one": 4}, begun=2))

    assert [(item.instant_ns, item.message) for item in table.take(530)] == [(520, "fourth")]


def test_new_process_of_a_node_is_waited_for_until_it_has_begun() -> None:
    table = Timetable({"fast": ("fast/one",)})
    table.on_report("fast", Report(10, 20, {"fast/one": 0}))

    table.on_report("fast", Report(0, 0, {"fast/one": 0}))
    assert table.starting() == ["fast"]
    assert table.horizon_ns == 0

    table.on_report("fast", Report(10, 20, {"fast/one": 0}))
    assert (table.starting(), table.horizon_ns) == ([], 20)


def test_node_that_joins_late_does_not_wait_for_messages_of_the_past() -> None:
    table = Timetable({"fast": ("fast/one",)})
    table.on_report("fast", Report(500, 510, {"fast/one": 50}))
    table.join()
    assert table.horizon_ns == 510

    table.on_message("fast/one", "first")
    table.on_report("fast", Report(510, 520, {"fast/one": 51}))
    assert [item.message for item in table.take(table.horizon_ns)] == ["first"]


def test_after_a_reset_only_reports_of_after_it_count() -> None:
    table = Timetable({"fast": ("fast/one",)})
    table.on_report("fast", Report(10, 20, {"fast/one": 0}))

    table.restart(1)
    table.on_report("fast", Report(20, 30, {"fast/one": 0}, resets=0))
    assert table.awaited(10) == ["fast"]

    table.on_report("fast", Report(20, 30, {"fast/one": 0}, resets=1))
    assert table.awaited(20) == []


def test_report_survives_its_message() -> None:
    message = empty(topics.FINISHED.type)
    report = Report(1_767_225_600_123_456_789, 1_767_225_600_133_456_789, {"fast/one": 2**40, "fast/two": 0}, True, 3)

    fill_report(message, report)

    assert read_report(message) == report


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"instant_ns": 1.5, "next_ns": 2, "sent": {}}', '{"instant_ns": 1, "next_ns": -2, "sent": {}}'],
)
def test_other_texts_are_no_reports(text: str) -> None:
    message = empty(topics.FINISHED.type)
    message.data = text

    with pytest.raises(ValueError, match="must be JSON with whole numbers for instant_ns"):
        read_report(message)


@given(st.lists(st.booleans(), max_size=8))
def test_hash_is_that_of_all_values_in_order_however_large(sizes: list[bool]) -> None:
    digest, expected = Digest(), hashlib.sha256()
    for time_ns, is_large in enumerate(sizes):
        values = np.full(LARGE if is_large else 1, float(time_ns))
        digest.produced(time_ns, values)
        expected.update(time_ns.to_bytes(8, "little") + values.tobytes())

    assert digest.texts()["outputs_sha256"] == expected.hexdigest()


def test_hash_tells_apart_what_differs_in_the_last_bit() -> None:
    one, other = Digest(), Digest()
    one.produced(1, [1.0])
    other.produced(1, [1.0 + 2.0**-52])

    assert one.texts()["inputs_sha256"] == other.texts()["inputs_sha256"]
    assert one.texts()["outputs_sha256"] != other.texts()["outputs_sha256"]
