"""What has happened on Telegram, as any platform would tell it? Its updates as such values."""

from typing import Final

from oldfriend.channels.arriving import (
    Arriving,
    Door,
    Garbled,
    Message,
    Reaction,
    Removal,
    Sender,
    Spot,
)
from oldfriend.channels.telegram import updates
from oldfriend.channels.telegram.api import Address, Me
from oldfriend.channels.telegram.polling import Lost, Update
from oldfriend.channels.telegram.telling_apart import key_of
from oldfriend.channels.telegram.updates import Media, Membership, Migrated, Place, Reacted, Said

NAME: Final = "telegram"
GROUPS: Final = frozenset({"group", "supergroup"})
MOVING: Final = "[location]"
"""A place that is shared live is edited all the time; where it began is enough."""
FILES: Final = {
    "voice": "voice message", "audio": "audio", "video_note": "video message", "photo": "photo",
    "video": "video", "animation": "animation", "document": "file", "sticker": "sticker",
}  # fmt: skip

LASTING: Final = frozenset({"voice", "audio", "video_note", "video"})


def arriving(update: Update, me: Me) -> Arriving | None:
    """What has happened, as any platform would tell it; None: nothing that concerns us."""
    match update:
        case Lost():
            return Garbled(channel=NAME, update=update.update, why=update.why)
        case Said() if concerns_us(update):
            return message(update, me)
        case Reacted() if not update.sender.is_bot:
            return Reaction(
                spot=spot(update.place), sender=sender(update.sender), at=update.at,
                key=f"update:{update.update}", on=key_of(update.place.id, update.number),
                emoji=" ".join(update.emoji),
            )  # fmt: skip
        case Membership():
            return Door(spot=spot(update.place), is_open=update.is_in)
        case Migrated():
            before, now = Address(chat=update.before), Address(chat=update.now)
            return Removal(channel=NAME, before=before.written, now=now.written)
    return None


def concerns_us(said: Said) -> bool:
    """Whether a human has said something to humans, and it is more than where they walk."""
    if said.sender.is_bot or said.place.kind == "channel":
        return False
    return not (said.is_edited and said.text.startswith(MOVING))


def message(said: Said, me: Me) -> Message:
    """Something said."""
    reply_to = None if said.reply_to is None else key_of(said.place.id, said.reply_to)
    details = {"forwarded_from": said.forwarded_from} if said.forwarded_from else {}
    if said.media is not None:
        details["media"] = said.media.kind
    return Message(
        spot=spot(said.place), sender=sender(said.sender), key=key_of(said.place.id, said.number),
        number=said.number, at=said.at, text=said.text or in_words(said.media),
        is_edit=said.is_edited, is_theirs=not (said.forwarded_from or said.is_card),
        is_read=bool(said.text), is_to_us=is_to_us(said, me), replies_to=reply_to, details=details,
    )  # fmt: skip


def in_words(media: Media | None) -> str:
    """A file, where there are no words with it."""
    if media is None:
        return ""
    if media.seconds is None or media.kind not in LASTING:
        return f"[{FILES[media.kind]}]"
    return f"[{FILES[media.kind]}, {media.seconds // 60}:{media.seconds % 60:02d}]"


def is_to_us(said: Said, me: Me) -> bool:
    """Whether somebody talks to the companion, and not only beside it."""
    if said.place.kind not in GROUPS:
        return True
    is_command = said.text.startswith("/") and "@" not in said.text.partition(" ")[0]
    return is_command or said.replies_to_bot or me.username in said.mentions


def spot(place: Place) -> Spot:
    """Where."""
    address = Address(chat=place.id, topic=place.topic).written
    return Spot(
        channel=NAME, address=address, title=place.title or NAME,
        is_private=place.kind == "private",
    )  # fmt: skip


def sender(who: updates.Sender) -> Sender:
    """Who; of their language only which it is."""
    language = who.language.partition("-")[0].lower() or None
    return Sender(address=str(who.id), name=who.name, language=language)
