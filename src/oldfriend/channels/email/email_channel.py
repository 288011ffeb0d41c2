"""E-mail channel: hears those who may write, and answers each thread of mails within it.

Nobody else is ever answered: who is not in ``allowed``, for whom our own mail server does not
vouch, and machines; of their mails nothing is kept. A reply goes to the sender alone.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.errors import MessageError
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import override

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import (
    SENDING_UNKNOWN,
    BotChannel,
    BotDiagnosis,
    BotFinding,
    ChannelEvent,
    ChannelSettings,
    ChatRef,
    Cursors,
    HandleEvent,
    IncomingMessage,
    Sender,
    SentLookup,
    UnreadableUpdate,
)
from oldfriend.channels.email.email_settings import CHANNEL_NAME, EmailSettings
from oldfriend.channels.email.incoming_mail import IncomingMail, parse_mail
from oldfriend.channels.email.mail_servers import (
    Inbox,
    InboxThread,
    MailAccount,
    MailSenders,
    MailWithheld,
    SmtpAttempt,
    StoredMail,
    check_sending,
    send_mail,
)
from oldfriend.channels.email.mail_text import divide_text
from oldfriend.channels.email.mail_trust import (
    Refusal,
    WaitingMail,
    build_check_finding,
    find_refusal,
    propose_server_id,
)
from oldfriend.channels.email.outgoing_mail import (
    MailAddress,
    SentRecord,
    ThreadPosition,
    build_mail,
    build_message_id,
    build_position,
    parse_address,
    split_text,
)
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros, system_clock
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    WindowClosed,
)
from oldfriend.domain.i18n_messages import localizable

INBOX_SCOPE: Final = "inbox"
PROPOSING_MAILS: Final = 10
MAX_THREADS: Final = 500
"""Threads whose last mail is kept in mind, so that a reply need not look for it."""
MAX_LOOKED_AT: Final = 5
MAX_SENDING: Final = 4
"""Mails that are sent at a time; a server that hangs takes no thread from others."""
SYSTEM_REPLY: Final = "courtesy/"
"""How the keys of answers to commands begin, which neither wait nor let others wait."""
MAX_WITHHELD: Final = DAY
"""How long the mails after one that the server refuses to give wait for it."""
LOOKUP_TIMEOUT_S: Final = 15.0
SEND_TIMEOUT_S: Final = 25.0
SAVE_TIMEOUT_S: Final = 10.0
SETTLE_S: Final = 30.0
"""How long a server may take to accept what it was handed, for somebody who is gone meanwhile."""
PARSER_ERRORS: Final = (
    AssertionError,
    AttributeError,
    LookupError,
    MessageError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class InboxPosition:
    """How far the inbox was read: numbers count only as long as the server numbers alike."""

    uid_validity: int
    uid: int
    received_at: Micros  # of that mail, in case the server has numbered anew

    @property
    def as_text(self) -> str:
        """Return the position as it is stored."""
        return f"{self.uid_validity}:{self.uid}:{self.received_at}"


def parse_position(text: str | None) -> InboxPosition | None:
    """Parse a stored position; None if there is none."""
    numbers = (text or "").split(":")
    if len(numbers) != 3 or not all(each.isdecimal() for each in numbers):
        return None
    return InboxPosition(*map(int, numbers))


class EmailChannel(BotChannel):
    """An address of the companion's own."""

    def __init__(self, account: MailAccount, email_settings: EmailSettings, folder: Path) -> None:
        """Create the channel without connecting; ``folder``: where sent mails are recorded."""
        self.debounce_s = email_settings.quiet_s
        self._account = account
        self._settings = email_settings
        self._record = SentRecord(folder, password=account.password, salt=account.address)
        self._senders = MailSenders(MAX_SENDING)
        self._positions = BoundedMap[str, ThreadPosition](MAX_THREADS)
        self._withheld: tuple[int, Micros] | None = None  # a mail's number, and since when
        self._waiting = WaitingMail()
        self._listen_lock = asyncio.Lock()  # after a reload two listeners may overlap briefly

    @override
    def apply_settings(self, channel_settings: ChannelSettings) -> None:
        """Take the settings of a reload: who may write, and how often is answered."""
        assert isinstance(channel_settings, EmailSettings)
        self._settings = channel_settings

    @override
    async def register(self) -> str:
        """Log in at both servers, and return our address."""
        async with InboxThread(self._account):
            await asyncio.to_thread(check_sending, self._account)
        return self._account.address

    @override
    async def diagnose(self) -> BotDiagnosis:
        """Log in at both servers, and say whose checks of senders are believed."""
        async with InboxThread(self._account) as inbox:
            await asyncio.to_thread(check_sending, self._account)
            proposed = None if self._settings.authserv_id else await inbox.run(propose_from_inbox)
        return BotDiagnosis(
            findings=list_findings(self._account.address, self._settings, proposed),
            format_group_hint=None,
        )

    @override
    async def close(self) -> None:
        """Take no more to send; each connection is closed where it was opened."""
        self._senders.close()

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a reply that is too long for one mail."""
        return split_text(text, is_markdown=is_markdown)

    @override
    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Send one mail into its thread, and return its id."""
        del preview_send_key, buttons
        to = parse_address(address)
        if to.recipient not in self._settings.allowed:
            raise ChatBlocked("This address is not allowed any more: see email.allowed.")
        message_id = build_message_id(self._account.address, address, send_key)
        await self._senders.settle(message_id)
        seen = await asyncio.to_thread(self._record.count, message_id)
        if await asyncio.to_thread(self._record.has, message_id):
            return message_id
        await self._check_pace(address, send_key)
        position = await self._find_position(to)
        raw = build_mail(
            self._account.address,
            to.recipient,
            text,
            message_id=message_id,
            thread_position=position,
            is_markdown=is_markdown,
        )
        attempt = SmtpAttempt(partial(self._record.begin, message_id, seen=seen))
        thread = "" if send_key.startswith(SYSTEM_REPLY) else to.as_text
        await self._hand_over(to.recipient, raw, message_id, attempt, thread)
        await self._save_sent(message_id, raw)
        return message_id

    async def _check_pace(self, address: str, send_key: str) -> None:
        """Raise WindowClosed if the thread was answered a moment ago; parts go together."""
        last = await asyncio.to_thread(self._record.find_last_time, address)
        if last is None or is_further_part(send_key) or send_key.startswith(SYSTEM_REPLY):
            return
        until = round(last * SECOND + self._settings.reply_every_min * MINUTE)
        if until > system_clock():
            raise WindowClosed("This thread was answered a moment ago.", until=until)

    async def _hand_over(
        self, recipient: str, raw: bytes, message_id: str, attempt: SmtpAttempt, thread: str
    ) -> None:
        def send() -> None:
            send_mail(self._account, recipient, raw, attempt)
            self._record.add(message_id, thread)

        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self._senders.run(message_id, send)
        except TimeoutError as error:
            if attempt.give_up():
                raise DeliveryFailed("The server that sends mail took too long.") from error
            raise OutcomeUnknown("The server that sends mail did not answer.") from error
        except asyncio.CancelledError:
            attempt.give_up()
            raise

    async def _save_sent(self, message_id: str, raw: bytes) -> None:
        """Save a sent mail in our mailbox, where later processes can find it; best effort."""
        with suppress(PlatformUnavailable, PlatformRejected, TimeoutError):
            async with asyncio.timeout(SAVE_TIMEOUT_S), InboxThread(self._account) as inbox:
                await inbox.run(lambda each: each.save_sent(message_id, raw))

    @override
    async def was_sent(self, address: str, send_key: str, *, since: Micros = 0) -> SentLookup:
        """Tell whether a mail was accepted: by our record, or by what lies in our mailbox.

        Raises DeliveryFailed if the mailbox cannot be asked, and while the server may still be
        taking the mail from a process that is gone.
        """
        del since
        message_id = build_message_id(self._account.address, address, send_key)
        await self._senders.settle(message_id)
        if await asyncio.to_thread(self._record.has, message_id):
            return SentLookup("yes", message_id)
        begun = await asyncio.to_thread(self._record.find_begun, message_id)

        def look(inbox: Inbox) -> bool:
            return inbox.find_sent(message_id) is not None or bool(
                inbox.search(f'HEADER References "<{message_id}>"')
            )

        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S), InboxThread(self._account) as inbox:
                is_found = await inbox.run(look)
        except (PlatformUnavailable, PlatformRejected, TimeoutError) as error:
            raise DeliveryFailed("The mailbox cannot be asked what was sent.") from error
        if is_found:
            return SentLookup("yes", message_id)
        left_s = 0.0 if begun is None else begun + SETTLE_S - system_clock() / SECOND
        if left_s > 0:
            wait_s = min(left_s, SETTLE_S)
            raise DeliveryFailed("The server may still take the mail.", retry_after_s=wait_s)
        return SENDING_UNKNOWN

    async def _find_position(self, to: MailAddress) -> ThreadPosition:
        """Return the mail that a reply follows: the last one of the thread by the same sender."""
        if (known := self._positions.get(to.as_text)) is not None:
            return known

        def look(inbox: Inbox) -> ThreadPosition:
            criteria = f'FROM "{to.recipient}"'
            if to.thread:
                thread = f'"<{to.thread}>"'
                criteria += f" OR HEADER Message-ID {thread} HEADER References {thread}"
            for uid in reversed(inbox.search(criteria)[-MAX_LOOKED_AT:]):
                stored = inbox.fetch(uid)
                mail = None if stored is None else parse_mail(stored.raw)
                if mail is not None and mail.sender == to.recipient and self._is_trusted(mail):
                    return build_position(mail)
            return ThreadPosition()

        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S), InboxThread(self._account) as inbox:
                return await inbox.run(look)
        except (PlatformUnavailable, PlatformRejected, TimeoutError) as error:
            raise DeliveryFailed(f"The mail to answer cannot be looked up: {error}") from error

    def _is_trusted(self, mail: IncomingMail) -> bool:
        """Tell whether a mail is the word of somebody who may write."""
        return mail.sender in self._settings.allowed and self._find_refusal(mail) is None

    def _find_refusal(self, mail: IncomingMail) -> Refusal | None:
        """Return why a mail is not to be read as its sender's word; None: it is."""
        return find_refusal(
            mail, own_address=self._account.address, server_id=self._settings.authserv_id
        )

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive mails without end, from where we were."""
        async with self._listen_lock, InboxThread(self._account) as inbox:
            while True:
                await self._catch_up(inbox, handle_event, cursors)
                await inbox.run(lambda each: each.wait(self._settings.poll_s))

    async def _catch_up(
        self, inbox: InboxThread, handle_event: HandleEvent, cursors: Cursors
    ) -> None:
        """Handle the mails since the last position, and save each position once it is handled.

        No mail is believed while it is not known whose checks of senders count, and perhaps
        wrongly refused while no mail has shown that the server signs by the name that is set: the
        position stays, so that these mails are read again once the name is put right.
        """
        found = parse_position(await cursors.find(INBOX_SCOPE))
        position, uids = await inbox.run(lambda each: list_new_mails(each, found))
        if position != found:
            await cursors.save(INBOX_SCOPE, position.as_text)
        self._waiting.begin(position.uid_validity, self._settings.authserv_id)
        for uid in uids:
            if uid <= self._waiting.last_uid:
                continue
            stored = await self._fetch(inbox, uid, handle_event)
            refusal = None if stored is None else await self._handle(inbox, stored, handle_event)
            if self._waiting.holds(uid, refusal):
                continue
            received_at = position.received_at if stored is None else stored.received_at
            position = InboxPosition(
                position.uid_validity, uid, max(position.received_at, received_at)
            )
            await cursors.save(INBOX_SCOPE, position.as_text)

    async def _fetch(
        self, inbox: InboxThread, uid: int, handle_event: HandleEvent
    ) -> StoredMail | None:
        """Return a mail; None: it is gone, or the server has refused to give it for a day."""
        try:
            return await inbox.run(partial(Inbox.fetch, uid=uid))
        except MailWithheld:
            if self._withheld is None or self._withheld[0] != uid:
                self._withheld = uid, system_clock()
            if system_clock() < self._withheld[1] + MAX_WITHHELD:
                raise
        await handle_event(UnreadableUpdate(channel=CHANNEL_NAME, update_id=uid, reason="withheld"))
        return None

    async def _handle(
        self, inbox: InboxThread, stored: StoredMail, handle_event: HandleEvent
    ) -> Refusal | None:
        """Handle one mail; return why somebody who may write was refused."""
        try:
            mail = await asyncio.to_thread(parse_mail, stored.raw)
        except PARSER_ERRORS:  # of the library: anybody may have sent this mail
            await handle_event(build_refusal(stored, "unreadable"))
            return None
        self._waiting.see_signature(mail)
        if mail.sender not in self._settings.allowed:
            return None
        if (refusal := self._find_refusal(mail)) is not None:
            await handle_event(build_refusal(stored, refusal))
            return refusal
        replied_text = await self._find_replied_text(inbox, mail)
        events = await asyncio.to_thread(
            build_events, mail, stored.received_at, self._account.address, replied_text
        )
        self._remember_position(mail)
        for event in events or [build_refusal(stored, "empty")]:
            await handle_event(event)
        return None

    async def _find_replied_text(self, inbox: InboxThread, mail: IncomingMail) -> str:
        """Return the text of ours that a mail replies to; empty if it is not found."""
        replied = mail.references[-1] if mail.references else ""
        if not replied.startswith("oldfriend."):
            return ""
        raw = await inbox.run(lambda each: each.find_sent(replied))
        return "" if raw is None else (await asyncio.to_thread(parse_mail, raw)).text

    def _remember_position(self, mail: IncomingMail) -> None:
        address = MailAddress(recipient=mail.sender, thread=mail.thread).as_text
        self._positions[address] = build_position(mail)


def is_further_part(send_key: str) -> bool:
    """Tell whether a part of a reply follows another: "<reply>/1", "<reply>/0.1"."""
    ordinal = send_key.rpartition("/")[2]
    return ordinal != "0" and ordinal.replace(".", "").isdecimal()


def build_refusal(stored: StoredMail, reason: str) -> UnreadableUpdate:
    """Return what is logged of a mail that is not heard."""
    return UnreadableUpdate(channel=CHANNEL_NAME, update_id=stored.uid, reason=reason)


def list_new_mails(
    inbox: Inbox, inbox_position: InboxPosition | None
) -> tuple[InboxPosition, Sequence[int]]:
    """Return from where to go on, and the mails after that.

    At first, and if the server has numbered its mails anew, those since the last day are read; what
    is known of them is known by their ids.
    """
    if inbox_position is not None and inbox_position.uid_validity == inbox.uid_validity:
        return inbox_position, inbox.list_uids(inbox_position.uid)
    received_at = system_clock() if inbox_position is None else inbox_position.received_at
    uids = inbox.list_since(received_at - DAY)
    start = min(uids, default=inbox.uid_next) - 1
    return InboxPosition(inbox.uid_validity, start, received_at), uids


def propose_from_inbox(inbox: Inbox) -> str | None:
    """Return the name by which our server seems to sign its checks, by the latest mails."""
    stored = [inbox.fetch(uid) for uid in inbox.list_uids(0)[-PROPOSING_MAILS:]]
    return propose_server_id([parse_mail(each.raw) for each in stored if each is not None])


def build_events(
    mail: IncomingMail, received_at: Micros, own_address: str, replied_text: str
) -> Sequence[ChannelEvent]:
    """Return what a mail says: what was forwarded with it, then its sender's own words."""
    divided = divide_text(
        mail.text,
        is_reply=mail.is_reply,
        own_address=own_address,
        replied_text=replied_text,
        sender=f"{mail.sender_name} {mail.sender.partition('@')[0]}",
    )
    address = MailAddress(recipient=mail.sender, thread=mail.thread).as_text
    chat_ref = ChatRef(channel=CHANNEL_NAME, address=address, title="E-mail", is_private=True)
    sender = Sender(address=mail.sender, name=mail.sender_name or mail.sender.partition("@")[0])
    events: list[IncomingMessage] = []
    is_titled = not mail.is_reply and not divided.forwarded
    title = mail.subject if is_titled else ""
    own = divided.own or title  # a subject beside words is none of them: "Question", "Hi"
    files = [f"[file: {each}]" for each in mail.attachments]
    if divided.forwarded:
        events.append(
            IncomingMessage(
                chat_ref=chat_ref,
                sender=sender,
                external_id=f"{mail.message_id}#forwarded" if own else mail.message_id,
                number=None,
                at=received_at,
                text=divided.forwarded,
                is_own_words=False,
                details={"forwarded_from": divided.forwarded_from or "?"},
            )
        )
    if own or (files and not events):
        events.append(
            IncomingMessage(
                chat_ref=chat_ref,
                sender=sender,
                external_id=mail.message_id,
                number=None,
                at=received_at,
                text="\n".join(filter(None, [own, *files])),
                is_readable=bool(own),
                replies_to=mail.references[-1] if mail.references else None,
                quoted_text=divided.quoted,
                details=({"media": "file"} if files else {})
                | ({"subject": title} if title else {}),
            )
        )
    return events


def list_findings(
    address: str, email_settings: EmailSettings, proposed: str | None
) -> Sequence[BotFinding]:
    """List what is to be known of our address."""
    known = localizable("mail_known", f"Mail to {address} is read.", address=address)
    findings = [BotFinding(text=known, is_problem=False)]
    findings.append(build_check_finding(email_settings.authserv_id, proposed))
    if not email_settings.allowed:
        nobody = localizable(
            "mail_from_nobody",
            "Nobody may write by mail yet. List the addresses of those who may: email.allowed",
        )
        findings.append(BotFinding(text=nobody, is_problem=True))
    return findings
