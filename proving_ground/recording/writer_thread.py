"""A bounded queue and the thread that writes it into a bag: a stalling disk blocks nobody."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque

from proving_ground.recording.live_writing import LiveBag, LiveMessage, Topic
from proving_ground.settings import SettingsError


class WriterThread:
    """Writes topics and messages, put in by any thread, to a bag in the background.

    `error` is one line when writing has failed, else empty; after a failure all messages are dropped and counted.
    """

    def __init__(self, bag: LiveBag, queue_bytes: int, flush_s: float) -> None:
        """queue_bytes: size of the queue beyond which messages are dropped; flush_s: greatest age of data in memory."""
        self._bag, self._limit, self._flush_s = bag, queue_bytes, flush_s
        self._queue: deque[Topic | LiveMessage] = deque()
        self._items: deque[Topic | LiveMessage] = deque()  # taken from the queue, to be written now
        self._ready = threading.Condition()
        self._is_closing = False
        self.waiting = self.most_waiting = 0  # bytes
        self.dropped: dict[str, int] = {}  # messages, by topic
        self.error = ""
        self._thread = threading.Thread(target=self._run, name="bag writer")
        self._thread.start()

    def announce(self, topic: Topic) -> None:
        """Announce a topic before its first message, or when its publishers changed."""
        with self._ready:
            self._queue.append(topic)

    def put(self, messages: list[LiveMessage]) -> None:
        """Queue messages in order of arrival; those that do not fit are dropped and counted."""
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
        """Count a message that the caller had to drop."""
        with self._ready:
            self._count(topic)

    def close(self) -> None:
        """Write what waits, then index and metadata; check `error` afterwards."""
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
        except SettingsError as error:  # the disk is full
            self._fail(str(error))
        except Exception as error:  # nothing else would report it, and what is written must stay readable
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
    """Text of an exception, without line breaks."""
    return " ".join(str(error).split())
