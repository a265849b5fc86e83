"""What is going on, in one line: rates of topics, the last command, and what nodes say of themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

QUIET_LINES = 10  # an unchanged line is left out this many times


@dataclass
class TopicWatch:
    """Counts messages of a topic and keeps words for the last one."""

    topic: str
    count: int = 0
    words: str = ""

    def take(self, words: str) -> None:
        """Note one message."""
        self.count += 1
        self.words = words


@dataclass
class Monitor:
    """Collects, and gives a line when there is something new to say."""

    watches: dict[str, TopicWatch] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)
    _last_words: str = ""
    _left_out: int = 0

    def watch(self, topic: str) -> TopicWatch:
        """The watch of a topic, made when first asked for."""
        return self.watches.setdefault(topic, TopicWatch(topic))

    def line(self, elapsed: float) -> str:
        """The line for the last `elapsed` seconds; '' when nothing but the rates has changed for a short while."""
        parts = []
        for watch in self.watches.values():
            rate = watch.count / elapsed if elapsed > 0.0 else 0.0
            parts.append((f"{watch.topic} {rate:.1f} Hz", watch.words if watch.count else "silent"))
            watch.count = 0
        words = " | ".join([text for _, text in parts] + [f"{node}: {text}" for node, text in self.findings.items()])
        if words == self._last_words and self._left_out < QUIET_LINES:
            self._left_out += 1
            return ""
        self._last_words, self._left_out = words, 0
        shown = [f"{rate}  {text}" for rate, text in parts] + [
            f"{node}: {text}" for node, text in self.findings.items()
        ]
        return " | ".join(shown)
