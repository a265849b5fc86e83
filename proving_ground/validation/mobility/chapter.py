"""The chapter of the validation page about mobility: tests with bands, pictures, speeds on grades."""

from __future__ import annotations

from collections.abc import Sequence

from proving_ground.validation.mobility.climbs import Load, effort_difference, loads, speed_table
from proving_ground.validation.mobility.figure import MARKS
from proving_ground.validation.mobility.measure import Result, measured
from proving_ground.validation.mobility.pictures import draw_effort, draw_travel
from proving_ground.validation.mobility.rig import Subject
from proving_ground.validation.mobility.suspension_travel import travels
from proving_ground.validation.parts import Bound, Part, Row, Say, Section

SPEEDS = """### Speed on grades

Steady speed at full throttle [km/h], with the gear, on friction 0.8. "shifts": the gearbox goes to and fro between
two gears; the speed is the mean of 20 s (simulated), or that of the upshift (from curves). "M998 table" is a
longitudinal model that is not ours (d, within 15 %), with unlimited friction. In H on the steepest grades the front
wheels spin: the centre differential is open, so half of the effort must pass through the unloaded front axle. L is
made for these grades."""


def mobility(say: Say) -> Part:
    """All tests, pictures and tables of the vehicle under test."""
    return chapter(Subject(), measured(say), loads(say, Subject()))


def chapter(subject: Subject, results: Sequence[Result], climbs: Sequence[Load]) -> Part:
    """The chapter of results and climbs that were driven."""
    return Part(
        _about(subject, results),
        [
            Row(
                f"tractive effort at {load.name}, simulated beside computed: largest difference",
                100.0 * effort_difference(load), "", Bound(most=3.0), "%",
            )
            for load in climbs
        ],
        pictures={"tractive_effort": draw_effort(climbs), "suspension_travel": draw_travel(travels(subject))},
        after="\n\n".join([SPEEDS, *(speed_table(load) for load in climbs)]),
        sections=[section_of(result) for result in results],
    )  # fmt: skip


def _about(subject: Subject, results: Sequence[Result]) -> str:
    outside = [f"{result.number} ({result.test.title.lower()})" for result in results if not result.is_inside]
    named = f"; outside: {', '.join(outside)}" if outside else ""
    marks = "; ".join(f"{mark}: {words}" for mark, words in MARKS.items())
    return (
        f"Vehicle under test: `{subject.model}`. **{len(results) - len(outside)} of {len(results)} tests are inside"
        f" their bands**{named}. Hard ground with friction 0.8, 2573 kg unless a test says otherwise. Numbers are those"
        " of the acceptance list. Every band has the mark of its"
        f" source. {marks}. Tractive effort in the picture is computed from engine, converter, gears, ranges,"
        " efficiency, axles, hubs and tyres, without wheel slip; circles are steady climbs of the simulated vehicle."
    )


def section_of(result: Result) -> Section:
    """A test with the verdicts on its figures, and known causes of those that are outside."""
    rows = [
        Row(figure.what, figure.value, "", figure.bound, figure.unit, result.cause(figure), figure.mark)
        for figure in result.figures
    ]
    return Section(f"{result.number}. {result.test.title}", result.test.procedure, rows)
