"""Messages of several topics become instants in any order of arrival."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proving_ground.interfaces.synchronisers import GAP_NS, KEPT_INSTANTS, InstantSynchroniser

TICK = 10_000_000
START = 1_767_225_600_000_000_000


def collected(instants: InstantSynchroniser, messages: list[tuple[str, int]]) -> tuple[list[int], int]:
    """Times of complete instants, and how often time went back."""
    whole, jumps = [], 0
    for part, time_ns in messages:
        taken = instants.add(part, time_ns, (part, time_ns))
        jumps += taken.has_gone_back
        if taken.parts is not None:
            assert {value[1] for value in taken.parts.values()} == {time_ns}
            whole.append(time_ns)
    return whole, jumps


def both(count: int, start: int = START) -> list[tuple[str, int]]:
    return [(part, start + tick * TICK) for tick in range(count) for part in ("odom", "accel")]


def pair() -> InstantSynchroniser:
    return InstantSynchroniser({"odom", "accel"}, leader="odom")


def test_one_topic_that_lags_loses_no_instant() -> None:
    odometry = [("odom", START + tick * TICK) for tick in range(20)]
    accelerations = [("accel", START + tick * TICK) for tick in range(20)]

    assert collected(pair(), odometry + accelerations)[0] == [START + tick * TICK for tick in range(20)]


@given(st.randoms(use_true_random=False))
def test_any_order_within_a_few_ticks_gives_complete_instants_in_order(chance: random.Random) -> None:
    """The messages of each topic stay in order, as in DDS."""
    queues: dict[str, list[int]] = {part: [START + tick * TICK for tick in range(15)] for part in ("odom", "accel")}
    messages = []
    while any(queues.values()):
        part = chance.choice([name for name, queue in queues.items() if queue])
        messages.append((part, queues[part].pop(0)))

    whole, jumps = collected(pair(), messages)

    assert whole == [START + tick * TICK for tick in range(15)]
    assert jumps == 0


def test_late_repeated_and_stray_messages_change_nothing() -> None:
    plain = both(30)
    for at, stray in (
        (20, ("odom", START + 2 * TICK)),
        (21, ("odom", START + 10 * TICK)),
        (20, ("odom", START + 3600 * GAP_NS)),
        (20, ("accel", START + 3600 * GAP_NS)),
        (20, ("accel", START)),
    ):
        assert collected(pair(), [*plain[:at], stray, *plain[at:]]) == collected(pair(), plain)


def test_jump_back_is_seen_at_its_second_stamp() -> None:
    for back in (5 * TICK, GAP_NS // 2, GAP_NS, 5 * GAP_NS):
        instants = pair()
        collected(instants, both(200))
        whole, jumps = collected(instants, both(50, START + 200 * TICK - back))
        assert jumps == 1
        assert len(whole) == 49


def test_jump_ahead_is_a_gap_and_not_a_jump_back() -> None:
    instants = pair()
    collected(instants, both(10))
    whole, jumps = collected(instants, both(10, START + 3600 * GAP_NS))
    assert (len(whole), jumps) == (9, 0)


def test_memory_is_bounded_when_a_topic_never_comes() -> None:
    instants: Any = pair()
    collected(instants, [("odom", START + tick * TICK) for tick in range(1000)])
    assert len(instants._waiting) <= KEPT_INSTANTS + 1
