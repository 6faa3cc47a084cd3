"""The broker of the embedded default: messages in an SQLite file of their own, for workers on this machine.

A message stays in its table until it was worked on and acknowledged, so a worker that is killed loses none: the next
look finds that its reader is gone, and frees what that one held. Each step is one statement in a transaction of
SQLite's, so nobody reads half a message. The file is not the site's database: while an import holds that one's write
lock for minutes, messages still come and go. Looking whether there is a message takes no lock at all.

kombu's own transports would not do: the file-system one reads what is half written, and that one, SQLAlchemy's and
the memory's forget a message as soon as somebody has taken it.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import sqlite3
import threading
import time
from functools import cache
from pathlib import Path
from queue import Empty
from typing import IO, Any

from kombu.transport import virtual

WAIT_FOR_LOCK_SECONDS = 30.0
# How often to look for readers that are gone.
RESCUE_SECONDS = 2.0

TABLE = """
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    tag TEXT NOT NULL UNIQUE,
    payload TEXT NOT NULL,
    reader TEXT
);
CREATE INDEX IF NOT EXISTS free_messages ON message (queue, id) WHERE reader IS NULL;
CREATE INDEX IF NOT EXISTS taken_messages ON message (reader) WHERE reader IS NOT NULL;
"""


class Store:
    """The table of messages, and this process as one of its readers.

    A reader holds a lock on a file of its name; the system lets go of it when the process ends, however it ends.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        # A channel that is collected gives back what it held, perhaps while this very thread runs a statement.
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(
            folder / "messages.sqlite3", timeout=WAIT_FOR_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        # NORMAL: what was sent outlives the death of any process. After a power cut, jobs are found without messages.
        self._set_up()
        self._reader = ""
        self._held: IO[str] | None = None
        self._rescued = 0.0

    def _set_up(self) -> None:
        """Make the table. Where many processes turn a new file to WAL at once, SQLite refuses some without waiting."""
        until = time.monotonic() + WAIT_FOR_LOCK_SECONDS
        while True:
            try:
                self._connection.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {TABLE}")
            except sqlite3.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return

    def put(self, queue: str, tag: str, payload: str) -> None:
        self._do("INSERT INTO message (queue, tag, payload) VALUES (?, ?, ?)", queue, tag, payload)

    def take(self, queue: str) -> str | None:
        """Return the oldest message that nobody has, now held by this process; None if there is none."""
        free = "SELECT id, payload FROM message WHERE queue = ? AND reader IS NULL ORDER BY id LIMIT 1"
        while rows := self._rows(free, queue):
            key, payload = rows[0]
            if self._do("UPDATE message SET reader = ? WHERE id = ? AND reader IS NULL", self._name(), key):
                return str(payload)
        if time.monotonic() - self._rescued >= RESCUE_SECONDS:
            self._rescued = time.monotonic()
            if self.free_messages_of_the_dead():
                return self.take(queue)
        return None

    def forget(self, tag: str) -> None:
        self._do("DELETE FROM message WHERE tag = ?", tag)

    def give_back(self, tag: str) -> None:
        """Let somebody else have a message that this process holds."""
        self._do("UPDATE message SET reader = NULL WHERE tag = ? AND reader = ?", tag, self._reader)

    def purge(self, queue: str) -> int:
        return self._do("DELETE FROM message WHERE queue = ? AND reader IS NULL", queue)

    def size(self, queue: str) -> int:
        return int(self._rows("SELECT count(*) FROM message WHERE queue = ? AND reader IS NULL", queue)[0][0])

    def free_messages_of_the_dead(self) -> int:
        """Free what is held by processes that are no more. Returns how many messages."""
        freed = 0
        for (reader,) in self._rows("SELECT DISTINCT reader FROM message WHERE reader IS NOT NULL"):
            if reader != self._reader and not self._alive(reader):
                freed += self._do("UPDATE message SET reader = NULL WHERE reader = ?", reader)
        return freed

    def _name(self) -> str:
        """Return this process's name as a reader; its lock is there before anything is held under it."""
        if not self._reader:
            name = secrets.token_hex(8)
            unlocked = self.folder / f"{name}.new"
            self._held = unlocked.open("w")
            fcntl.flock(self._held, fcntl.LOCK_EX)
            unlocked.rename(self._lock_file(name))
            self._reader = name
            self._remove_files_of_the_dead()
        return self._reader

    def _remove_files_of_the_dead(self) -> None:
        for path in self.folder.glob("*.reader"):
            if path.stem != self._reader and not self._alive(path.stem):
                path.unlink(missing_ok=True)

    def _alive(self, reader: str) -> bool:
        try:
            with self._lock_file(reader).open() as held:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _lock_file(self, reader: str) -> Path:
        return self.folder / f"{reader}.reader"

    def _do(self, statement: str, *values: object) -> int:
        with self._lock:
            return self._connection.execute(statement, values).rowcount

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()


@cache
def _store_of(folder: str, _process: int) -> Store:
    return Store(Path(folder))


class QoS(virtual.QoS):
    """Knows which messages a channel has handed out, and takes them off the table when they are done."""

    channel: Channel

    def ack(self, delivery_tag: str) -> None:
        self.channel.store.forget(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if not requeue:
            self.channel.store.forget(delivery_tag)
        super().reject(delivery_tag, requeue=requeue)


class Channel(virtual.Channel):
    QoS = QoS

    @property
    def store(self) -> Store:
        """The messages in the folder that the transport's options name; a forked process opens them anew."""
        return _store_of(self._folder, os.getpid())

    def __init__(self, connection: Any, **options: Any) -> None:
        # Asked for now: a channel that is closed has no connection, but gives back what it held.
        self._folder: str = connection.client.transport_options["folder"]
        super().__init__(connection, **options)

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        self.store.put(queue, message["properties"]["delivery_tag"], json.dumps(message))

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002  # kombu asks for it
        payload = self.store.take(queue)
        if payload is None:
            raise Empty
        return json.loads(payload)

    def _restore(self, message: Any) -> None:
        self.store.give_back(message.delivery_tag)

    def _size(self, queue: str) -> int:
        return self.store.size(queue)

    def _purge(self, queue: str) -> int:
        return self.store.purge(queue)


class Transport(virtual.Transport):
    Channel = Channel
    driver_type = driver_name = "sqlite"
    polling_interval = 0.2
    # What a worker waits out and tries again: a full disk, a lock that is held for too long.
    connection_errors = (*virtual.Transport.connection_errors, sqlite3.OperationalError)

    @property
    def default_connection_params(self) -> dict[str, Any]:
        return {}

    def driver_version(self) -> str:
        return sqlite3.sqlite_version
