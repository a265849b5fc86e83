"""Position, velocity and acceleration problems against plane geometry and differences; bad linkages are rejected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from state_observer.linkages.mechanism import Mechanism
from state_observer.linkages.parameters import load_linkage
from state_observer.multibody.kinematics import (
    acceleration_problem,
    constraint_gap,
    position_problem,
    projection,
    velocity_problem,
)

FOUR_BAR = Mechanism.named("four_bar", -9.81)


def coupler_end(theta: float) -> tuple[float, float]:
    """Upper intersection of the circles about the crank's tip (8 m) and pivot B (5 m): the four-bar without Newton."""
    x1, y1 = 2.0 * np.cos(theta), 2.0 * np.sin(theta)
    dx, dy = 10.0 - x1, -y1
    distance = np.hypot(dx, dy)
    along = (distance**2 + 8.0**2 - 5.0**2) / (2.0 * distance)
    across = np.sqrt(8.0**2 - along**2)
    return x1 + (along * dx - across * dy) / distance, y1 + (along * dy + across * dx) / distance


@settings(max_examples=50, deadline=None)
@given(theta=st.floats(-6.0, 6.0))
def test_four_bar_closes_where_its_circles_intersect(theta: float) -> None:
    q = FOUR_BAR.motion(np.array([theta]), np.zeros(1)).q

    assert_allclose(q[2:4], coupler_end(theta), atol=1e-12)
    assert constraint_gap(FOUR_BAR.kernel, q) < 1e-12  # rounding of squares of 8 m


def test_assembled_positions_are_those_of_the_reference(four_bar: Mechanism, five_bar: Mechanism) -> None:
    assert_allclose(
        four_bar.motion(four_bar.start_angles, np.zeros(1)).q,
        [1.0, 1.73205080757, 8.41245932654, 4.74127774024, 1.0471975512],
        atol=1e-10,
    )
    assert_allclose(
        five_bar.motion(five_bar.start_angles, np.zeros(2)).q, [0.5, 0.0, 0.0, 2.0, 2.5, 0.0, 0.0, np.pi], atol=1e-10
    )


def test_velocities_and_accelerations_are_those_of_differences(linkage: Mechanism) -> None:
    cranks, step = linkage.degrees_of_freedom, 1e-4
    angles, rates, accelerations = np.array([0.4, 2.5])[:cranks], np.array([1.2, -0.7])[:cranks], np.array([3.0, 5.0])
    accelerations = accelerations[:cranks]

    def position(time: float) -> np.ndarray:
        crank_angles = angles + time * rates + 0.5 * time**2 * accelerations
        return linkage.motion(crank_angles, rates).q

    q = position(0.0)
    at = projection(linkage.kernel, q)
    qd, qdd = np.empty(linkage.size), np.empty(linkage.size)
    velocity_problem(at, rates, qd)
    acceleration_problem(linkage.kernel, at, q, qd, accelerations, qdd)

    # Central differences: error step^2/6 of the third derivative, and rounding 1e-16/step^2 for the second one.
    assert_allclose(qd, (position(step) - position(-step)) / (2.0 * step), atol=1e-6)
    assert_allclose(qdd, (position(step) - 2.0 * q + position(-step)) / step**2, atol=1e-5)


def test_an_impossible_position_is_not_found() -> None:
    stretched = replace(FOUR_BAR.parameters.bars[1], length_m=3.0)
    bars = (FOUR_BAR.parameters.bars[0], stretched, FOUR_BAR.parameters.bars[2])
    short = replace(FOUR_BAR.parameters, bars=bars)

    with pytest.raises(SettingsError, match=r"cannot be assembled.*lengths \[2.0, 3.0, 5.0\] m"):
        Mechanism(short, -9.81)
    q = np.full(5, np.nan)
    assert not position_problem(FOUR_BAR.kernel, q)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("start: A, end: P1", "start: A, end: P9", "bar crank: joint P9: unknown; Known: A, B, P1, P2"),
        ("mass_kg: 8.0", "mass_kg: -1.0", "must be a number from 1e-06 to 1e+06 [kg], got -1.0"),
        ("{bar: crank,", "{bar: crnk,", "bar crnk: unknown; did you mean crank?"),
        ("{bar: crank,", "{bar: rocker,", "crank rocker: must start at a pivot and end at a point"),
        ("couplers: [coupler]", "couplers: [copler]", "bar copler: unknown; did you mean coupler?"),
        ("name: P2,", "name: P1,", "joint P1: defined 2 times"),
        ("pivots:", "pivotz:", "pivotz: unknown; did you mean pivots?"),
    ],
)
def test_a_bad_linkage_file_gets_one_clear_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    from proving_ground.settings.share import share_file

    text = share_file("config/observers/four_bar.yaml").read_text()
    assert old in text
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace(old, new))

    with pytest.raises(SettingsError) as caught:
        Mechanism(load_linkage(str(path)), -9.81)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_degrees_of_freedom_and_cranks_must_agree() -> None:
    with pytest.raises(ValueError, match="2 points and 2 bars leave 2 degrees of freedom, but cranks has 1"):
        replace(FOUR_BAR.parameters, bars=FOUR_BAR.parameters.bars[:2])
