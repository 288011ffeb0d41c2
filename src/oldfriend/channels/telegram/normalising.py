"""What has happened on Telegram, as any platform would tell it? Its updates as such values."""

import re
from typing import Final

from oldfriend.channels.arriving import (
    Arriving,
    Company,
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
from oldfriend.channels.telegram.updates import (
    Attended,
    Media,
    Membership,
    Migrated,
    Place,
    Reacted,
    Said,
)
from oldfriend.domain.messages import CALLED

NAME: Final = "telegram"
GROUPS: Final = frozenset({"group", "supergroup"})
OURS: Final = [["/start"], ["/stop"], ["/allow"], ["/disallow"]]
"""Commands that name no bot, and are ours; another bot in the group may have any other."""
SHORTEST_NAME: Final = 2
MOVING: Final = "[location]"
"""A place that is shared live is edited all the time; where it began is enough."""
FILES: Final = {
    "voice": "voice message", "audio": "audio", "video_note": "video message", "photo": "photo",
    "video": "video", "animation": "animation", "document": "file", "sticker": "sticker",
}  # fmt: skip

ALOUD: Final = frozenset({"voice", "audio", "video_note"})
"""In these somebody may say something."""
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
        case Attended():
            who = tuple(sender(each) for each in update.who if not each.is_bot)
            return Company(spot=spot(update.place), who=who, is_in=update.is_in) if who else None
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
        details |= details_of(said.media, has_words=bool(said.text))
    return Message(
        spot=spot(said.place), sender=sender(said.sender), key=key_of(said.place.id, said.number),
        number=said.number, at=said.at, text=said.text or in_words(said.media),
        is_edit=said.is_edited, is_theirs=not (said.forwarded_from or said.is_card),
        is_read=bool(said.text), is_to_us=is_to_us(said, me), replies_to=reply_to,
        quoted=said.quoted, quoted_from=said.quoted_speaker, album=said.album,
        details=details | called(said, me),
    )  # fmt: skip


def details_of(media: Media, *, has_words: bool) -> dict[str, str]:
    """What is kept of a file: what it is, and of a recording how it can be had."""
    details: dict[str, str] = {"media": media.kind}
    if media.kind in ALOUD:
        details |= {"recording": media.file, "mime": media.mime, "bytes": str(media.size or 0)}
        details |= {"caption": "yes"} if has_words else {}
    return details


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
    if said.forwarded_from:
        return False
    is_ours = said.answers == me.id or me.username in said.mentions
    return is_ours or said.text.split(maxsplit=1)[:1] in OURS or is_called(said.text, me.name)


def is_called(text: str, name: str) -> bool:
    """Whether a text calls somebody: it begins with their name, or ends with it after a comma.

    "Hey Oldfriend," calls as well; who only speaks of them does not.
    """
    if len(name) < SHORTEST_NAME:
        return False
    own = rf"(?<![A-Za-z0-9_@]){re.escape(name)}(?![A-Za-z0-9_])"
    begins = rf"\s*(?:{own}|\w+\W+(?:\w+\W+)?{own}\s*[,:;!?.，：！？。])"
    ends = rf"[,，、]\s*{own}\W*$"
    return bool(re.match(begins, text, re.IGNORECASE) or re.search(ends, text, re.IGNORECASE))


def called(said: Said, me: Me) -> dict[str, str]:
    """How a text calls the bot by its username: that is how it is reached, and says nothing."""
    if said.place.kind not in GROUPS or not me.username:
        return {}
    found = re.search(rf"@{re.escape(me.username)}(?![A-Za-z0-9_])", said.text, re.IGNORECASE)
    return {} if found is None else {CALLED: found[0]}


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
