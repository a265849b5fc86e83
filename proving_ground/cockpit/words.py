"""Text of the page: figures and the health of nodes, as escaped HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

GONE_AFTER_S = 3.5  # nodes report once a second
FORGET_AFTER_S = 30.0
MOST_NODES = 40
LONGEST_WORDS = 120
LEVELS = ("ok", "warning", "error", "stale")
DOTS = {"ok": "#2f9e44", "warning": "#f08c00", "error": "#e03131", "stale": "#868e96", "silent": "#868e96"}


@dataclass(frozen=True)
class NodeWord:
    """Status that a node reports."""

    name: str
    level: str  # of LEVELS, or silent
    words: str


@dataclass
class NodeWords:
    """Last status of each node. Times are seconds of one steady clock."""

    _said: dict[str, tuple[NodeWord, float]] = field(default_factory=dict)

    def record(self, name: str, level: int, words: str, now: float) -> None:
        """Record a node's level and message from /diagnostics."""
        word = NodeWord(name[:LONGEST_WORDS], LEVELS[min(max(level, 0), len(LEVELS) - 1)], words[:LONGEST_WORDS])
        if word.name in self._said or len(self._said) < MOST_NODES:
            self._said[word.name] = (word, now)

    def all(self, now: float) -> list[NodeWord]:
        """State of each node by name; one that has not reported for a while is silent, and dropped later."""
        self._said = {name: item for name, item in self._said.items() if now - item[1] < FORGET_AFTER_S}
        return [
            NodeWord(word.name, "silent", "no longer reports") if now - at > GONE_AFTER_S else word
            for word, at in sorted(self._said.values(), key=lambda item: item[0].name)
        ]


def nodes_html(nodes: Iterable[NodeWord]) -> str:
    """HTML of a row with a coloured dot for each node."""
    rows = "".join(
        f'<tr title="{html.escape(node.words)}"><td style="color:{DOTS[node.level]};padding-right:4px">&#9679;</td>'
        f'<td style="padding-right:8px;white-space:nowrap">{html.escape(node.name)}</td>'
        f'<td style="opacity:0.85">{html.escape(_first(node))}</td></tr>'
        for node in nodes
    )
    rows = rows or "<tr><td>no node reports</td></tr>"
    return f'<table style="font-size:12px;line-height:1.35;margin:0 10px 6px">{rows}</table>'


def figures_html(figures: dict[str, str]) -> str:
    """HTML of names and values in two columns."""
    cells = "".join(
        '<div style="display:inline-block;width:48%;margin-bottom:3px">'
        f'<span style="opacity:0.65">{html.escape(name)}</span>'
        f'<br><b style="font-size:15px;font-variant-numeric:tabular-nums">{html.escape(value)}</b></div>'
        for name, value in figures.items()
    )
    return f'<div style="margin:2px 10px;font-size:12px;line-height:1.3">{cells}</div>'


def legend_html(series: Iterable[tuple[str, str]], unit: str) -> str:
    """Names of a plot's lines in their colours."""
    names = ", ".join(f'<b style="color:{colour}">{html.escape(name)}</b>' for name, colour in series)
    return f'<div style="margin:6px 12px -8px;font-size:12px">{names} [{html.escape(unit)}]</div>'


def speed_words(speed: float) -> str:
    """A speed [m/s] as text, in m/s and km/h."""
    return f"{_tidy(speed)} m/s ({3.6 * abs(speed):.0f} km/h)" if math.isfinite(3.6 * speed) else "-"


def time_words(time_ns: int) -> str:
    """Time of day of simulated time, to the tenth.

    >>> time_words(1_767_225_675_260_000_000)
    '00:01:15.2'
    """
    tenths = time_ns // 100_000_000
    seconds, tenth = divmod(tenths, 10)
    minutes, second = divmod(seconds % 86_400, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02d}:{minute:02d}:{second:02d}.{tenth}"


def degrees_words(angle: float) -> str:
    """An angle [rad] as text in degrees."""
    return f"{_tidy(math.degrees(angle))}°" if math.isfinite(angle) else "-"


def _tidy(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}"  # no -0.0


def _first(node: NodeWord) -> str:
    words = node.words.partition(";")[0]
    return words if node.level == "ok" else f"{node.level}: {words}"
