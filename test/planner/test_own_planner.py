"""Users' own planners: named in the settings, held to limits, and stopped when they fail."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from planner.drive_to_goal import Reason, Status
from planner.planning import Outcome, Plan
from planner.settings import PlannerSettings
from proving_ground.settings import SettingsError
from yards import Drive, is_standing, yard


class Crawler:
    """A user's planner: straight on, slowly."""

    speed, curvature = 0.5, 0.0

    def __init__(self, settings: PlannerSettings, footprint: object, extent: object) -> None:
        pass

    def reset(self) -> None:
        pass

    def plan(self, request: object) -> object:
        return Plan(Outcome.DRIVE, self.speed, self.curvature)


class Faulty(Crawler):
    """Fails in several ways."""

    answer: object = None

    def plan(self, request: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Mute:
    """An object that is not a planner: it has no methods."""

    def __init__(self, *given: object) -> None:
        pass


class Broken:
    """Cannot be constructed."""

    def __init__(self, *given: object) -> None:
        raise RuntimeError("no licence")


def test_users_own_planner_is_named_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    drive = Drive(yard(), PlannerSettings(max_curvature_1pm=0.14, planner="my_planner:Crawler"))
    drive.core.set_goal(30.0, 0.0)

    drive.run(5.0)

    assert drive.progress.status is Status.DRIVING
    assert drive.speed == pytest.approx(0.5)


@pytest.mark.parametrize(("speed", "curvature"), [(1e6, 1e6), (-1e6, -1e6), (math.nan, 0.0), (0.0, math.inf)])
def test_limits_hold_whatever_a_planner_answers(
    speed: float, curvature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    monkeypatch.setattr(Crawler, "speed", speed)
    monkeypatch.setattr(Crawler, "curvature", curvature)
    drive = Drive(yard(), PlannerSettings(max_curvature_1pm=0.14, planner="my_planner:Crawler"))
    drive.core.set_goal(40.0, 0.0)

    last = drive.progress
    for _ in range(100):
        now = drive.run(0.1)
        assert abs(now.speed) <= 5.0
        assert abs(now.curvature) <= drive.settings.max_curvature_1pm
        assert abs(now.curvature - last.curvature) <= drive.settings.curvature_rate_1pms * 0.1 + 1e-9
        last = now


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (KeyError("mine"), "KeyError: 'mine'"),
        (RuntimeError("two\nlines"), "RuntimeError: two lines"),
        (None, "must answer with a Plan, got NoneType"),
        (Plan(Outcome.BLOCKED, path=np.zeros((4, 3))), "path must be n x 2"),
        (Plan(Outcome.BLOCKED, path=np.full((4, 2), math.nan)), "path must be finite"),
        (Plan(Outcome.DRIVE, speed="fast"), "ValueError"),  # type: ignore[arg-type]
        (Plan("drive"), "outcome must be an Outcome"),  # type: ignore[arg-type]
    ],
)
def test_error_in_a_users_planner_stops_the_vehicle_and_is_reported_in_one_line(
    answer: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    monkeypatch.setattr(Faulty, "answer", Plan(Outcome.DRIVE, 2.0))
    drive = Drive(yard(), PlannerSettings(max_curvature_1pm=0.14, planner="my_planner:Faulty"))
    drive.core.set_goal(40.0, 0.0)
    drive.run(3.0)
    assert drive.speed > 1.0

    monkeypatch.setattr(Faulty, "answer", answer)
    drive.run(1.0, until_rest=False)

    assert drive.progress.status is Status.EMERGENCY
    assert drive.progress.reason is Reason.PLANNER_ERROR
    assert words in drive.progress.detail
    assert "\n" not in drive.progress.words
    assert is_standing(drive)

    monkeypatch.setattr(Faulty, "answer", Plan(Outcome.DRIVE, 2.0))
    assert drive.run(3.0, until_rest=False).status is Status.DRIVING
    assert drive.speed > 1.0


def test_path_of_a_users_planner_may_be_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    monkeypatch.setattr(Faulty, "answer", Plan(Outcome.DRIVE, 2.0, path=[[0, 0], [40, 0]]))  # type: ignore[arg-type]
    drive = Drive(yard(), PlannerSettings(max_curvature_1pm=0.14, planner="my_planner:Faulty"))
    drive.core.set_goal(40.0, 0.0)

    assert drive.run(3.0).path.shape == (2, 2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dstar_light", "did you mean dstar_lite"),
        ("no_such_module_of_mine:Planner", "ModuleNotFoundError"),
        ("math:Planner", "AttributeError"),
        ("math:sqrt", "must be a class"),
        ("my_planner:Mute", "no method reset"),
        ("my_planner:Broken", "no licence"),
        (":", "cannot be imported"),
    ],
)
def test_planner_that_cannot_be_loaded_is_one_line(name: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])

    with pytest.raises(SettingsError, match=words) as rejected:
        Drive(yard(), PlannerSettings(max_curvature_1pm=0.14, planner=name))
    assert "\n" not in str(rejected.value)
