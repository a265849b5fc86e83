"""States as bytes: to the bit, without pickle, and with one clear line for what is no data."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.pose import Pose
from planner.progress import Progress, Status
from proving_ground.saving.codec import LENGTH_BYTES, decoded, encoded
from proving_ground.saving.stateful import SavedPart, Stateful
from proving_ground.settings import SettingsError
from sensors.samples import LIDAR_POINT
from state_walk import differences
from vehicle_dynamics.driving.snapshot import SNAPSHOT

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(LEAVES, inner))


class Part(Stateful):
    STATE = ("numbers", "inner")

    def __init__(self) -> None:
        self.numbers, self.inner = np.zeros(3), None


class LongerPart(Part):
    STATE = ("more",)
    FIXED = ("numbers",)

    def __init__(self) -> None:
        super().__init__()
        self.more = 1


@given(TREES)
def test_containers_come_back_as_they_were(value: Any) -> None:
    again = decoded(encoded(value))

    assert again == value
    assert repr(again) == repr(value)  # 1 and 1.0 and True are equal, but not the same


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.zeros((0, 3), np.int8),
        np.full(2, math.nan, np.float32),
        np.zeros(3, LIDAR_POINT),
        np.zeros(1, SNAPSHOT)[0],
        np.float32(0.1),
        deque([1, 2], maxlen=3),
        Counter(late=2),
        OrderedDict(b=1, a=2),
        Pose(1.0, -0.0, math.inf),
        Progress(Status.DRIVING, path=np.ones((2, 2))),
        2**200,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_a_run_come_back_to_the_bit(value: Any) -> None:
    again = decoded(encoded(value))

    assert differences(value, again, lambda kind, name: False) == []
    assert type(again) is type(value)
    if isinstance(value, np.ndarray):
        assert (again.dtype, again.strides) == (value.dtype, value.strides)
        assert again.flags.writeable
    if isinstance(value, deque):
        assert again.maxlen == value.maxlen


def test_a_random_generator_goes_on() -> None:
    random = np.random.default_rng(5)
    random.normal(size=7)
    again = decoded(encoded(random))

    assert again.normal(size=5).tobytes() == random.normal(size=5).tobytes()


def test_an_array_that_two_share_is_shared_again() -> None:
    array = np.zeros(2)
    first, (second, other) = decoded(encoded((array, [array, array.copy()])))

    assert first is second
    assert first is not other


def test_parts_are_restored_with_the_names_of_their_bases() -> None:
    part, other = LongerPart(), LongerPart()
    part.numbers, part.inner, part.more = np.ones(3), Part(), 7  # type: ignore[assignment]

    other.restore_state(decoded(encoded(part.saved_state())))

    assert LongerPart.state_names() == ("numbers", "inner", "more")
    assert differences(part, other, lambda kind, name: False) == []
    assert isinstance(decoded(encoded(part)), SavedPart)


def test_a_state_of_another_class_or_shape_is_rejected() -> None:
    with pytest.raises(SettingsError, match="the state of LongerPart differs in more"):
        LongerPart().restore_state(Part().saved_state())
    with pytest.raises(SettingsError, match=r"numbers of LongerPart must be \(\(3,\), 'float64'\), got \(\(4,\)"):
        LongerPart().restore_state(LongerPart().saved_state() | {"numbers": np.zeros(4)})


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, open, np.array([None])], ids=["object", "set", "function", "array"]
)
def test_what_is_no_data_cannot_be_saved(value: Any) -> None:
    with pytest.raises(SettingsError, match="cannot be saved"):
        encoded({"inner": [value]})


@pytest.mark.parametrize(
    "text",
    [
        '{"tree": {"fields": ["subprocess:Popen", [["true"]]]}, "arrays": []}',
        '{"tree": {"record": ["os:system", [["command", "true"]]]}, "arrays": []}',
        '{"tree": {"part": ["proving_ground.settings.errors:SettingsError", []]}, "arrays": []}',
        '{"tree": {"fields": ["not_a_module:Any", []]}, "arrays": []}',
        '{"tree": {"array": 0}, "arrays": []}',
        '{"tree": {"array": 0}, "arrays": [{"type": "<f8", "shape": [1000000], "transposed": false}]}',
        '{"tree": {"array": 0}, "arrays": [{"type": "|O", "shape": [1], "transposed": false}]}',
        '{"tree": {"strange": []}, "arrays": []}',
        "[]",
        "",
    ],
)
def test_foreign_bytes_are_rejected_and_run_nothing(text: str) -> None:
    with pytest.raises(SettingsError, match="is damaged"):
        decoded(len(text).to_bytes(LENGTH_BYTES, "little") + text.encode())
