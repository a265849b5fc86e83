"""Steady speeds of an M998 on grades, by a longitudinal model that is not ours (mark d).

6.2 l diesel, TH400, high friction, rolling resistance 0.015, drag area 3 m^2, rolling radius 0.447 m; use within 15 %.
"""

from __future__ import annotations

GRADES_PERCENT = (0, 3, 5, 8, 10, 15, 20, 30, 40, 50, 60)


def _by_grade(*speeds: float) -> dict[int, float]:
    return dict(zip(GRADES_PERCENT, speeds, strict=True))


# By mass of the vehicle and range of the transfer case [km/h]; 0: it does not climb.
GRADE_SPEEDS_KMPH: dict[tuple[str, str], dict[int, float]] = {
    ("2573 kg", "H"): _by_grade(116, 112, 104, 80, 77, 66, 47, 40, 17, 12, 8),
    ("2573 kg", "L"): _by_grade(46, 46, 46, 46, 46, 46, 44, 40, 30, 26, 18),
    ("3493 kg", "H"): _by_grade(115, 106, 86, 77, 71, 46, 45, 15, 8, 2, 0),
    ("3493 kg", "L"): _by_grade(46, 46, 46, 46, 46, 44, 43, 29, 18, 18, 17),
}
