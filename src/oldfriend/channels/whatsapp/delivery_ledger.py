"""Delivery ledger: what became of the messages we sent lately, and which chats may be written to.

WhatsApp has no idempotency keys, and tells by webhook alone what became of a message. So each
attempt is written down before it is made, and what is told of it afterwards; a process that takes
over from one that was killed looks here before it sends anything again. The file is shared by the
processes of this machine. It holds no texts and nobody's number: those are hashed or sealed with
a secret that is stored elsewhere.
"""

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256, shake_256
from pathlib import Path
from typing import Final, Literal, TypeAlias

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import NOT_SENT, SENDING_UNKNOWN, SentLookup
from oldfriend.channels.locked_file import locked_file
from oldfriend.channels.whatsapp.whatsapp_settings import RECORD_FILE

WINDOW_S: Final = 24 * 60 * 60.0
"""How long a chat may be written to after the person has written."""
WINDOW_MARGIN_S: Final = 60.0
"""The window is taken for closed a little earlier, since a message takes a while."""
KEEP_S: Final = 2 * WINDOW_S
MAX_BYTES: Final = 1_000_000
"""Bytes of the file before what is too much is removed."""
MAX_KEPT_LINES: Final = 4_000
"""Lines of messages, and of chats, that are left then."""
MAX_KEPT: Final = 20_000
"""Messages, and chats, that are known in memory."""
HASH_CHARS: Final = 32

SendState: TypeAlias = Literal["tried", "refused", "accepted", "shown", "failed"]
SEND_STATES: Final[dict[str, SendState]] = {
    "T": "tried",
    "R": "refused",
    "A": "accepted",
    "S": "shown",
    "F": "failed",
}
SETTLED: Final = frozenset({"accepted", "shown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What is known of a message of ours."""

    state: SendState
    external_id: str = ""
    error_code: int = 0
    failures: int = 0  # how often it was accepted and not delivered
    unanswered: int = 0  # attempts that were neither accepted nor refused
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatWindow:
    """When somebody last wrote, and when WhatsApp last refused us because they had not."""

    heard_at: float = 0.0
    closed_at: float = 0.0

    def is_closed(self, now: float) -> bool:
        """Tell whether the chat accepts nothing; so for all we know if they were never heard."""
        return self.closed_at > self.heard_at or now >= self.heard_at + WINDOW_S - WINDOW_MARGIN_S


class DeliveryLedger:
    """The ledger of all processes of this machine."""

    def __init__(
        self, folder: Path | None, *, secret: str, clock: Callable[[], float] = time.time
    ) -> None:
        """Create without reading; without a folder, only this process knows."""
        self._path = None if folder is None else folder / RECORD_FILE
        self._secret = secret.encode()
        self.clock = clock
        self._deliveries = BoundedMap[str, Delivery](MAX_KEPT)
        self._windows = BoundedMap[str, ChatWindow](MAX_KEPT)
        self._inode, self._offset = 0, 0
        self._oldest = math.inf  # when the oldest line of a message was written

    def record_attempt(self, send_key: str) -> None:
        """Record that a message is about to be sent: if the process dies now, it may be shown."""
        self._append("T", self._hash(send_key))

    def record_refused(self, send_key: str) -> None:
        """Record that a message was provably not accepted."""
        self._append("R", self._hash(send_key))

    def record_accepted(self, send_key: str, external_id: str) -> None:
        """Record that a message was accepted; whether it is shown is told later."""
        key = self._hash(send_key)
        self._append("A", key, self._seal(key, external_id))

    def record_status(
        self, send_key: str, external_id: str, *, error_code: int | None = None
    ) -> None:
        """Record what a webhook tells of a message: that it is on its way, or has failed."""
        self._refresh()
        key = self._hash(send_key) if send_key else self._find_key(external_id)
        if key is None:
            return
        known = self._deliveries.get(key)
        if error_code is not None:
            self._append("F", key, f"{error_code}:{self._seal(key, external_id)}")
        elif known is None or known.state != "shown":
            self._append("S", key, self._seal(key, external_id))

    def count_refusals(self, send_key: str, external_id: str) -> int:
        """Return how often a message was accepted and not delivered after all."""
        self._refresh()
        key = self._hash(send_key) if send_key else self._find_key(external_id)
        return 0 if key is None else self._deliveries.get(key, Delivery(state="refused")).failures

    def find_failure(self, send_key: str) -> int | None:
        """Return the number of the error with which a message has failed after all."""
        self._refresh()
        known = self._deliveries.get(self._hash(send_key))
        return known.error_code if known is not None and known.state == "failed" else None

    def has_attempt(self, send_key: str) -> bool:
        """Tell whether a message was sent, unless it was refused at once."""
        self._refresh()
        known = self._deliveries.get(self._hash(send_key))
        return known is not None and known.state != "refused"

    def find(self, send_key: str) -> SentLookup:
        """Return whether a message was sent."""
        self._refresh()
        known = self._deliveries.get(self._hash(send_key))
        if known is None or known.state == "tried":
            return SENDING_UNKNOWN
        return SentLookup("yes", known.external_id) if known.state in SETTLED else NOT_SENT

    def count_failures(self, *, since: float) -> dict[int, int]:
        """Return how many messages have failed since a time, by the number of the error."""
        self._refresh()
        counts: dict[int, int] = {}
        for each in self._deliveries.values():
            if each.state == "failed" and each.at >= since:
                counts[each.error_code] = counts.get(each.error_code, 0) + 1
        return counts

    def record_heard(self, address: str, at: float) -> None:
        """Record that somebody has written, which opens their window."""
        key = self._hash(address)
        if at > self._get_window(key).heard_at:
            self._append("H", key, at=at)

    def record_closed(self, address: str) -> None:
        """Record that WhatsApp refuses a chat until they write."""
        self._append("C", self._hash(address))

    def get_window(self, address: str) -> ChatWindow:
        """Return what is known of a chat's window."""
        return self._get_window(self._hash(address))

    def _get_window(self, key: str) -> ChatWindow:
        self._refresh()
        return self._windows.get(key, ChatWindow())

    def _find_key(self, external_id: str) -> str | None:
        return next(
            (key for key, each in self._deliveries.items() if each.external_id == external_id), None
        )

    def _append(self, kind: str, key: str, value: str = "-", *, at: float | None = None) -> None:
        line = f"{kind} {key} {self.clock() if at is None else at:.3f} {value}"
        if self._path is None:
            self._apply(line)
            return
        try:
            with locked_file(self._path) as file:
                os.write(file, f"{line}\n".encode())
                is_old = self._oldest < self.clock() - KEEP_S
                if is_old or os.fstat(file).st_size > MAX_BYTES:
                    self._compact(self._path)
            self._refresh()
        except OSError:
            self._apply(line)  # at least this process knows

    def _refresh(self) -> None:
        """Read what other processes have written since."""
        if self._path is None:
            return
        with suppress(OSError), self._path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._offset:
                self._inode, self._offset, self._oldest = status.st_ino, 0, math.inf
            if status.st_size == self._offset:
                return
            file.seek(self._offset)
            content = file.read()
            whole = content[: content.rfind(b"\n") + 1]
            self._offset += len(whole)
            for line in whole.decode("ascii", "replace").splitlines():
                self._apply(line)

    def _apply(self, line: str) -> None:
        """Apply a line; one that cannot be read is left out."""
        fields = line.split(" ")
        if len(fields) != 4:
            return
        kind, key, _, value = fields
        with suppress(ValueError):
            at = float(fields[2])
            if (state := SEND_STATES.get(kind)) is not None:
                self._oldest = min(self._oldest, at)
                self._apply_delivery(state, key, value, at)
            elif kind in "HC":
                self._apply_window(kind, key, at)

    def _apply_delivery(self, send_state: SendState, key: str, value: str, at: float) -> None:
        known = self._deliveries.get(key, Delivery(state="refused"))
        unanswered, external_id = known.unanswered, known.external_id
        if send_state == "tried":
            unanswered += 1
        elif unanswered:
            unanswered -= 1
        code, _, sealed = value.rpartition(":")
        if send_state in SETTLED or send_state == "failed":
            external_id = self._unseal(key, sealed)
        has_failed = send_state == "failed" and is_news(known, send_state, external_id)
        if not is_news(known, send_state, external_id):
            send_state = known.state
        elif send_state == "refused" and unanswered:
            send_state = "tried"  # an earlier attempt may have been accepted
        self._deliveries[key] = Delivery(
            state=send_state,
            external_id=external_id,
            error_code=int(code) if code else known.error_code,
            failures=known.failures + has_failed,
            unanswered=unanswered,
            at=at,
        )

    def _apply_window(self, kind: str, key: str, at: float) -> None:
        known = self._windows.get(key, ChatWindow())
        match kind:
            case "H":
                known = replace(known, heard_at=max(at, known.heard_at))
            case _:
                known = replace(known, closed_at=max(at, known.closed_at))
        self._windows[key] = known

    def _compact(self, path: Path) -> None:
        """Remove old messages, and all but the last of each chat; the caller holds the lock.

        Raises OSError.
        """
        earliest = self.clock() - KEEP_S
        chats: dict[bytes, bytes] = {}
        sends: list[bytes] = []
        for line in path.read_bytes().splitlines():
            if is_of_chat(line):
                about = b" ".join(line.split(b" ")[:2])
                chats.pop(about, None)  # so that the last ones heard of are kept
                chats[about] = line
            elif is_recent(line, earliest):
                sends.append(line)
        kept = [*sends[-MAX_KEPT_LINES:], *list(chats.values())[-MAX_KEPT_LINES:]]
        new = path.with_suffix(".new")
        new.write_bytes(b"".join(each + b"\n" for each in kept))
        new.chmod(0o600)
        new.rename(path)

    def _hash(self, text: str) -> str:
        return sha256(self._secret + b"\0" + text.encode()).hexdigest()[:HASH_CHARS]

    def _seal(self, key: str, external_id: str) -> str:
        """Return an id of WhatsApp, which contains a number, so that the file does not tell it."""
        return self._mask(key, external_id.encode()).hex()

    def _unseal(self, key: str, sealed: str) -> str:
        """Return the id that was sealed. Raises ValueError."""
        return self._mask(key, bytes.fromhex(sealed)).decode()

    def _mask(self, key: str, content: bytes) -> bytes:
        mask = shake_256(self._secret + b"\1" + key.encode()).digest(len(content))
        return bytes(a ^ b for a, b in zip(content, mask, strict=True))


def is_news(known: Delivery, send_state: SendState, external_id: str) -> bool:
    """Tell whether a state changes what is known; webhooks come in any order."""
    if known.state in SETTLED and send_state in {"tried", "refused"}:
        return False
    if known.state == "shown":
        return send_state == "failed"
    return known.state != "failed" or send_state == "tried" or known.external_id != external_id


def is_of_chat(line: bytes) -> bool:
    """Tell whether a line is of a chat's window, and not of a message."""
    return line.startswith((b"H ", b"C "))


def is_recent(line: bytes, earliest: float) -> bool:
    """Tell whether a line is younger than a time."""
    fields = line.split(b" ")
    with suppress(IndexError, ValueError):
        return float(fields[2]) >= earliest
    return False
