"""The two linkages of [Sanjurjo] and the bench of the study, for all tests of this room."""

from __future__ import annotations

import pytest

from state_observer.linkages.mechanism import Mechanism
from state_observer.study.cases import Bench
from state_observer.study.parameters import load_study

TRUE_GRAVITY = -10.0  # [m/s^2] as in the authors' code


@pytest.fixture(scope="session")
def bench() -> Bench:
    """The whole study of chapter 4; runs are computed on demand."""
    return Bench(load_study())


@pytest.fixture(scope="session")
def four_bar() -> Mechanism:
    return Mechanism.named("four_bar", TRUE_GRAVITY)


@pytest.fixture(scope="session")
def five_bar() -> Mechanism:
    return Mechanism.named("five_bar", TRUE_GRAVITY)


@pytest.fixture(scope="session", params=["four_bar", "five_bar"])
def linkage(request: pytest.FixtureRequest) -> Mechanism:
    """Each linkage in turn."""
    mechanism: Mechanism = request.getfixturevalue(request.param)
    return mechanism
