"""Begin and end of a run over ROS."""

from __future__ import annotations

from proving_ground.scenarios.refereeing import (
    ASK_AGAIN_S,
    SILENT_S,
    SLOW_MPS,
    Attendance,
    Course,
    Permission,
    Readiness,
    Step,
)

NS = 1_000_000_000


def test_a_run_waits_for_every_node() -> None:
    readiness = Readiness(frozenset({"vehicle", "imu"}))
    readiness.look({"clock": 1}, 0.0)
    readiness.on_report("vehicle")
    assert readiness.missing == ["imu"]
    assert not readiness.is_ready(10.0)
    readiness.on_report("imu")
    assert readiness.is_ready(10.0)


def test_a_run_waits_until_no_new_subscriber_is_found() -> None:
    readiness = Readiness(frozenset())
    readiness.look({"clock": 1}, 1.0)
    readiness.look({"clock": 2}, 2.0)
    assert not readiness.is_ready(2.4)
    readiness.look({"clock": 2}, 2.4)
    assert readiness.is_ready(2.6)


def _step(permission: Permission, now: float, is_ready: bool = True, elapsed_s: float = 0.0) -> Step:
    return permission.step(now, is_ready=is_ready, is_answered=False, elapsed_s=elapsed_s)


def test_time_is_requested_to_run_once_all_are_ready_and_runs_when_that_is_answered() -> None:
    permission = Permission(0.0, 300.0)
    assert _step(permission, 1.0, is_ready=False) is Step.WAIT
    assert _step(permission, 2.0) is Step.ASK
    assert _step(permission, 2.1) is Step.WAIT
    assert permission.step(2.2, is_ready=True, is_answered=True, elapsed_s=0.0) is Step.RUN


def test_an_unanswered_request_is_repeated_until_a_time_out() -> None:
    permission = Permission(0.0, 10.0)
    assert _step(permission, 1.0) is Step.ASK
    assert (
        _step(permission, 1.5 + ASK_AGAIN_S, is_ready=False) is Step.ASK
    )  # though a new subscriber was found meanwhile
    assert _step(permission, 9.9) is Step.ASK
    assert _step(permission, 10.1) is Step.GIVE_UP


def test_running_time_counts_as_an_answer() -> None:
    permission = Permission(0.0, 10.0)
    assert _step(permission, 1.0, is_ready=False, elapsed_s=0.5) is Step.WAIT  # stepped by another node
    assert _step(permission, 2.0, elapsed_s=0.5) is Step.ASK
    assert _step(permission, 2.1, elapsed_s=0.5) is Step.WAIT
    assert _step(permission, 2.2, elapsed_s=0.6) is Step.RUN


def test_a_node_is_silent_some_time_after_its_last_report() -> None:
    attendance = Attendance()
    attendance.on_report("vehicle", 10.0)

    assert attendance.silent(10.0 + 2.0 * SILENT_S) == ["vehicle"]
    assert attendance.silent(10.0 + 2.0 * SILENT_S, after_s=60.0) == []
    assert attendance.silent(70.1, after_s=60.0) == ["vehicle"]


def test_an_initial_pose_is_valid_while_the_vehicle_hardly_moves() -> None:
    course = Course(10.0)
    assert not course.is_slow  # no odometry yet
    for speed, expected in ((0.0, True), (0.9 * SLOW_MPS, True), (1.1 * SLOW_MPS, False), (-20.0, False)):
        course.on_speed(speed)
        assert course.is_slow is expected


def test_a_run_ends_when_its_time_is_up() -> None:
    course = Course(10.0)
    course.on_time(5 * NS)
    course.on_time(14 * NS)
    assert not course.is_over
    course.on_time(15 * NS)
    assert course.is_over


def test_a_drive_that_has_arrived_ends_when_the_vehicle_stands() -> None:
    course = Course(100.0)
    course.on_time(0)
    course.on_speed(3.0)
    course.planner_status = "arrived"
    course.on_time(20 * NS)
    assert not course.is_over
    course.on_speed(0.0)
    course.on_time(20 * NS + NS // 2)
    assert not course.is_over
    course.on_time(22 * NS)
    assert course.is_over


def test_a_vehicle_that_stands_on_its_way_goes_on() -> None:
    course = Course(100.0, planner_status="blocked")
    course.on_time(0)
    course.on_speed(0.0)
    course.on_time(50 * NS)
    assert not course.is_over


def test_progress_has_time_and_factor() -> None:
    course = Course(60.0, planner_status="driving")
    course.on_time(0)
    course.on_time(30 * NS)
    assert course.words(0.991) == "  30.0 of 60 s simulated, 0.99 times real time, planner: driving"
