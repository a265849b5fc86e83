"""When a run over ROS may begin, and when it is over."""

from __future__ import annotations

from scenarios.refereeing import Course, Readiness

NS = 1_000_000_000


def test_a_run_waits_for_every_node() -> None:
    readiness = Readiness(frozenset({"vehicle", "imu"}))
    readiness.look({"clock": 1}, 0.0)
    readiness.hear("vehicle")
    assert readiness.missing == ["imu"]
    assert not readiness.is_ready(10.0)
    readiness.hear("imu")
    assert readiness.is_ready(10.0)


def test_a_run_waits_until_nobody_new_is_found() -> None:
    readiness = Readiness(frozenset())
    readiness.look({"clock": 1}, 1.0)
    readiness.look({"clock": 2}, 2.0)
    assert not readiness.is_ready(2.4)
    readiness.look({"clock": 2}, 2.4)
    assert readiness.is_ready(2.6)


def test_a_run_ends_when_its_time_is_up() -> None:
    course = Course(10.0)
    course.tell_time(5 * NS)
    course.tell_time(14 * NS)
    assert not course.is_over
    course.tell_time(15 * NS)
    assert course.is_over


def test_a_drive_that_has_arrived_ends_when_the_vehicle_stands() -> None:
    course = Course(100.0)
    course.tell_time(0)
    course.tell_speed(3.0)
    course.planner_status = "arrived"
    course.tell_time(20 * NS)
    assert not course.is_over
    course.tell_speed(0.0)
    course.tell_time(20 * NS + NS // 2)
    assert not course.is_over
    course.tell_time(22 * NS)
    assert course.is_over


def test_a_vehicle_that_stands_on_its_way_goes_on() -> None:
    course = Course(100.0, planner_status="blocked")
    course.tell_time(0)
    course.tell_speed(0.0)
    course.tell_time(50 * NS)
    assert not course.is_over


def test_words_tell_time_and_factor() -> None:
    course = Course(60.0, planner_status="driving")
    course.tell_time(0)
    course.tell_time(30 * NS)
    assert course.words(0.991) == "  30.0 of 60 s simulated, 0.99 times real time, planner: driving"
