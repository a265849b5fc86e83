"""The state of the graph in one line: rates of topics, the last command, and the health of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

QUIET_LINES = 10  # an unchanged line is left out this many times
FORGET_S = 3.0  # nodes report once a second; one that has been silent for longer is gone
LONGEST_WORDS = 80
LONGEST_LINE = 400


@dataclass
class TopicWatch:
    """Counts messages of a topic and keeps a text for the last one."""

    topic: str
    count: int = 0
    words: str = ""

    def add(self, words: str) -> None:
        """Count one message; words: its content for display."""
        self.count += 1
        self.words = words


@dataclass
class Monitor:
    """Collects rates and findings of nodes, and gives a line when there is news. Times are of one steady clock [s]."""

    watches: dict[str, TopicWatch] = field(default_factory=dict)
    _findings: dict[str, tuple[str, float]] = field(default_factory=dict)  # text, and when it was reported
    _last_summary: str = ""
    _left_out: int = 0

    def watch(self, topic: str) -> TopicWatch:
        """The watch of a topic, created on first use."""
        return self.watches.setdefault(topic, TopicWatch(topic))

    def record(self, name: str, words: str, now: float) -> None:
        """Record a node's status; it is dropped when not repeated for a while."""
        self._findings[_printable(name)] = (_printable(words), now)

    def line(self, now: float, elapsed: float) -> str:
        """The line for the last `elapsed` seconds; '' when nothing but the rates has changed for a short while."""
        self._findings = {name: item for name, item in self._findings.items() if now - item[1] < FORGET_S}
        findings = [f"{name}: {words}" for name, (words, _) in self._findings.items()]
        rates, words = [], []
        for watch in self.watches.values():
            rates.append(f"{watch.topic} {watch.count / elapsed:.1f} Hz" if elapsed > 0.0 else watch.topic)
            words.append(watch.words if watch.count else "silent")
            watch.count = 0
        summary = " | ".join(words + findings)
        if summary == self._last_summary and self._left_out < QUIET_LINES:
            self._left_out += 1
            return ""
        self._last_summary, self._left_out = summary, 0
        shown = [f"{rate}  {text}" for rate, text in zip(rates, words, strict=True)]
        return " | ".join(shown + findings)[:LONGEST_LINE]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:LONGEST_WORDS]
