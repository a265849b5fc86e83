"""A queue of limited size and the thread that empties it into a bag: a disk that stalls holds nobody up."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque

from proving_ground.recording.live_writing import LiveBag, LiveMessage, Topic
from proving_ground.settings import SettingsError


class WriterThread:
    """Takes topics and messages from any thread. `error` is one line when writing has failed, else empty."""

    def __init__(self, bag: LiveBag, queue_bytes: int, flush_s: float) -> None:
        """queue_bytes: of messages that wait, beyond which they are dropped; flush_s: how old data in memory may be."""
        self._bag, self._limit, self._flush_s = bag, queue_bytes, flush_s
        self._queue: deque[Topic | LiveMessage] = deque()
        self._items: deque[Topic | LiveMessage] = deque()  # taken of it, to be written now
        self._ready = threading.Condition()
        self._is_closing = False
        self.waiting = self.most_waiting = 0  # bytes
        self.dropped: dict[str, int] = {}  # messages, by topic
        self.error = ""
        self._thread = threading.Thread(target=self._run, name="bag writer")
        self._thread.start()

    def announce(self, topic: Topic) -> None:
        """Before the topic's first message, or when its publishers changed."""
        with self._ready:
            self._queue.append(topic)

    def put(self, messages: list[LiveMessage]) -> None:
        """Messages in the order of arrival; what finds no room is dropped and counted."""
        with self._ready:
            for message in messages:
                if self.error or self.waiting + len(message.data) > self._limit:
                    self._count(message.topic)
                    continue
                self.waiting += len(message.data)
                self._queue.append(message)
            self.most_waiting = max(self.most_waiting, self.waiting)
            self._ready.notify()

    def drop(self, topic: str) -> None:
        """Count a message that somebody else had no room for."""
        with self._ready:
            self._count(topic)

    def close(self) -> None:
        """Write what waits, then index and metadata; look at `error` after it."""
        with self._ready:
            self._is_closing = True
            self._ready.notify()
        self._thread.join()

    def _count(self, topic: str) -> None:
        self.dropped[topic] = self.dropped.get(topic, 0) + 1

    def _run(self) -> None:
        try:
            self._write_all()
            self._bag.close()
        except SettingsError as error:  # the disk takes no more
            self._fail(str(error))
        except Exception as error:  # nobody else would hear of it, and what is written shall stay readable
            self._fail(f"{self._bag.folder}: recording has failed: {type(error).__name__}: {one_line(error)}")
            with contextlib.suppress(Exception):
                self._bag.close()

    def _fail(self, error: str) -> None:
        with self._ready:
            self.error = error
            for item in (*self._items, *self._queue):
                if isinstance(item, LiveMessage):
                    self._count(item.topic)
            self._items.clear()
            self._queue.clear()
            self.waiting = 0

    def _write_all(self) -> None:
        flushed_at = time.monotonic()
        while True:
            with self._ready:
                if not self._queue and not self._is_closing:
                    self._ready.wait(self._flush_s)
                self._items, self._queue = self._queue, deque()
                is_last = self._is_closing
            while self._items:
                item = self._items[0]
                if isinstance(item, Topic):
                    self._bag.announce(item)
                    self._items.popleft()
                    continue
                self._bag.write(item)
                self._items.popleft()  # and out of memory
                with self._ready:
                    self.waiting -= len(item.data)
            if time.monotonic() - flushed_at >= self._flush_s:
                self._bag.flush()
                flushed_at = time.monotonic()
            if is_last and not self._queue:
                return


def one_line(error: BaseException) -> str:
    """What an exception says, without its line breaks."""
    return " ".join(str(error).split())
