"""The tables of topics in docs/topics.md and the READMEs, generated from the topic table.

    python -m proving_ground.interfaces.page            # write them
    python -m proving_ground.interfaces.page --check    # status 1 when a page differs

A table stands between the lines `<!-- topics: WHICH -->` and `<!-- topics end -->`; WHICH is `profiles`, `commands`,
`published`, `services`, `actions`, `sensors`, or the names of nodes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from proving_ground.interfaces.message_types import short_name
from proving_ground.interfaces.profiles import PROFILES
from proving_ground.interfaces.topic import Service, Topic
from proving_ground.interfaces.topics import ACTIONS, COMMANDS, EVERY_NODE, EVERY_SENSOR, PUBLISHED, SERVICES, TOPICS

ROOT = Path(__file__).parents[2]
PAGES = (
    "docs/topics.md", "README.md", "vehicle_dynamics/README.md", "sensors/README.md", "state_observer/README.md",
    "planner/README.md", "terrain/README.md",
)  # fmt: skip
SENSOR_MODULE = "sensors.ros.sensor_node"
_MARKED = re.compile(r"(<!-- topics: ([\w ]+) -->\n).*?(<!-- topics end -->)", re.DOTALL)
Row = Sequence[str]


def filled(text: str) -> str:
    """A page with all its tables regenerated."""
    return _MARKED.sub(lambda found: found[1] + table_of(found[2]) + found[3], text)


def table_of(which: str) -> str:
    """The table that pages mark by `<!-- topics: which -->`, as Markdown, with a line end after each row."""
    if which == "profiles":
        return _table(("QoS", "", "topics"), _profile_rows())
    if which == "commands":
        rows = [(_name(item), _type(item), _nodes(item.listeners), item.qos.name, item.text) for item in COMMANDS]
        return _table(("topic", "type", "to", "QoS", ""), rows)
    if which == "published":
        published = map(_published_row, (*PUBLISHED, *_of_plug_ins()))
        return _table(("topic", "type", "by", "QoS", "rate", "frame", ""), published)
    if which == "services":
        return _table(("service", "type", "of", ""), map(_service_row, SERVICES))
    if which == "actions":
        return _table(("action", "type", "of", ""), map(_service_row, ACTIONS))
    nodes = [EVERY_SENSOR, *_sensors()] if which == "sensors" else which.split()
    return _table(("topic", "type", "", ""), _node_rows(nodes))


def _sensors() -> Iterator[str]:
    """Nodes of the suite's sensors: all that its metadata starts by the sensors' module."""
    for entry in entry_points(group="proving_ground.nodes"):
        if entry.module == SENSOR_MODULE:
            yield entry.name


def _of_plug_ins() -> Iterator[Topic]:
    """Topics of sensors that other installed packages add."""
    for entry in entry_points(group="proving_ground.sensors"):
        yield from (item.topic for item in entry.load().publishes)


def _published_row(topic: Topic) -> Row:
    frame = f"`{topic.frame}`" if topic.frame else ""
    return _name(topic), _type(topic), _nodes(topic.publishers), topic.qos.name, topic.rate, frame, topic.text


def _service_row(service: Service) -> Row:
    return f"`{service.below(service.node)}`", short_name(service.type), service.node, service.text


def _profile_rows() -> Iterator[Row]:
    for profile in PROFILES:
        names = [_name(topic) for topic in TOPICS if topic.qos == profile] or ["for listening to sensors of others"]
        yield f"**{profile.name}**", profile.words, ", ".join(names) if len(names) < len(TOPICS) / 4 else "all others"


def _node_rows(nodes: Sequence[str]) -> Iterator[Row]:
    """Topics and services that nodes publish, obey and offer."""
    for topic in (*PUBLISHED, *COMMANDS):
        if {*nodes, EVERY_NODE} & set(topic.publishers):
            yield _name(topic), _type(topic), f"out, {topic.rate}" if topic.rate else "out", topic.text
    for topic in (*COMMANDS, *PUBLISHED):
        if set(nodes) & set(topic.listeners):
            yield _name(topic), _type(topic), "in", topic.text
    for service in SERVICES:
        if service.node in nodes:
            yield f"`{service.below(service.node)}`", short_name(service.type), "service", service.text


def _name(topic: Topic) -> str:
    owners = topic.publishers if len(topic.publishers) > 1 else topic.listeners
    node = (owners[0] if len(owners) == 1 else "NODE") if topic.name.startswith("~") else ""
    return f"`{topic.below(node).name}`"


def _type(topic: Topic) -> str:
    return " or ".join(short_name(name) for name in (topic.type, topic.other_type) if name)


def _nodes(names: Iterable[str]) -> str:
    return ", ".join(names)


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(cells)} |\n") for cells in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables into all pages, or compare them; returns the exit status."""
    parser = argparse.ArgumentParser(description="Make the tables of topics in docs/topics.md and the READMEs.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when a page differs")
    options = parser.parse_args(arguments)
    differing = []
    for name in PAGES:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if filled(text) != text:
            differing.append(name)
            if not options.check:
                path.write_text(filled(text), encoding="utf-8")
    for name in differing:
        print(f"{name}: {'differs from the topic table' if options.check else 'written'}")
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
