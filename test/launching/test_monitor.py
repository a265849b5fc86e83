"""Monitor: prints news in one clean line, and drops nodes that have gone."""

from __future__ import annotations

from proving_ground.launching.monitor import FORGET_S, QUIET_LINES, Monitor


def test_unchanged_line_is_left_out_for_a_while() -> None:
    monitor = Monitor()
    watch = monitor.watch("/cmd_vel")
    lines = []
    for tick in range(QUIET_LINES + 2):
        watch.add("speed 0")
        lines.append(monitor.line(float(tick), 1.0))

    assert lines[0] == "/cmd_vel 1.0 Hz  speed 0"
    assert lines[1:-1] == [""] * QUIET_LINES
    assert lines[-1] == lines[0]


def test_silence_is_reported() -> None:
    monitor = Monitor()
    monitor.watch("/joy").add("8 axes")
    monitor.line(0.0, 1.0)

    assert monitor.line(1.0, 1.0) == "/joy 0.0 Hz  silent"


def test_node_that_has_gone_is_dropped() -> None:
    monitor = Monitor()
    monitor.record("/gps", "WARN no fix", 0.0)

    assert monitor.line(1.0, 1.0) == "/gps: WARN no fix"
    assert monitor.line(1.0 + FORGET_S, 1.0) == ""


def test_text_of_other_nodes_cannot_break_the_line() -> None:
    monitor = Monitor()
    monitor.record("/x\n", "\x1b[2Jclear\nand more" + "!" * 1000, 0.0)

    line = monitor.line(0.0, 1.0)

    assert line.isprintable()
    assert len(line) < 200
