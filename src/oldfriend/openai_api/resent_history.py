"""Resent history: finds what is new in a conversation that programs send whole with each request.

A message is known by a key over all that was said before it and its own words, so only a new one is
logged. Keys are made with this installation's secret: they tell nobody else of words that were
forgotten. What the assistant is said to have said only helps to find the place: it is never learned
from, for the program may have changed it.
"""

import hmac
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import pairwise, takewhile
from typing import Final, Literal

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.messages import DOCUMENTS_DETAIL, Message, TrustClass
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.message_log import (
    find_message_by_external_id,
    list_recent_messages,
    update_message_keys,
)
from oldfriend.memory.receipts import find_receipt
from oldfriend.openai_api.chat_messages import ChatMessage
from oldfriend.openai_api.chat_request import ChatRequest
from oldfriend.openai_api.prompt_templates import split_documents
from oldfriend.replies.amended_replies import has_acted

KEY_CHARS: Final = 32
FOLLOWS_DETAIL: Final = "follows"
"""The key, in a message's details, of what was said before it."""
HISTORY_WINDOW: Final = 200
"""How many of the chat's last messages are compared with what a program sends."""
CONVERSATION_DETAIL: Final = "conversation"
"""The key, in a message's details, of the conversation, where the program names it."""
KEY_DETAILS: Final = (FOLLOWS_DETAIL, CONVERSATION_DETAIL)
REPEAT_WINDOW: Final = 2 * MINUTE
"""How long the same words, said last, may ask for another reply instead of being said again."""
UNANSWERED_WINDOW: Final = 30 * MINUTE
"""How long the same words, said last and without a reply, count as sent again."""
ALIKE_SHARE: Final = 0.6
"""The share of pairs of letters in which a text and its edit agree, where only that tells."""
EDIT_WINDOW: Final = 5 * MINUTE
"""How long words said last may be edited in a conversation that has no name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierWords:
    """What the person has said before the last reply, as the program tells it."""

    text: str
    key: str
    follows: str  # the key of what was said before


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWords:
    """What the person has said since the last reply, with its place in the conversation."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]  # of each of the texts
    follows: str  # the key of what was said before
    reply_before: str  # the assistant's last words before; empty: there are none
    is_opening: bool  # nothing was said before, as far as is known
    conversation: str  # the key of the conversation; empty: the program does not name it
    documents: str = ""  # that a front end has put around them
    trust: TrustClass = "person"  # "outside": there are only documents
    idempotency_key: str = ""  # of the request, as it is stored
    earlier: tuple[EarlierWords, ...] = ()
    former_keys: Mapping[str, str] = field(default_factory=dict)
    """Each key of the request by what it was before keys were made with the secret."""

    @property
    def has_certain_place(self) -> bool:
        """Tell whether the same words after the same ones can only be of one conversation."""
        return bool(self.conversation) and not self.is_opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """What the log knows of the words: nothing, the words themselves, or an earlier version."""

    kind: Literal["new", "known", "edited"]
    text: str  # that is to be logged, or was
    external_id: str
    follows: str
    conversation: str = ""
    documents: str = ""
    trust: TrustClass = "person"
    message: Message | None = None

    @property
    def details(self) -> dict[str, str]:
        """Return the details of the message, by which its place is found again."""
        found = {
            FOLLOWS_DETAIL: self.follows,
            CONVERSATION_DETAIL: self.conversation,
            DOCUMENTS_DETAIL: self.documents,
        }
        return {key: value for key, value in found.items() if value}


def read_new_words(chat_request: ChatRequest, secret: bytes) -> NewWords | None:
    """Return what is new in a request; None if its last words are not the person's.

    The keys are made with the secret.
    """
    said = [each for each in chat_request.messages if each.is_said and each.text.strip()]
    if (
        chat_request.messages and chat_request.messages[-1].role == "tool"
    ):  # said before the call, if at all
        while said and said[-1].role == "assistant":
            said.pop()
    count = count_trailing(said)
    if not count:
        return None
    before, new = said[:-count], said[-count:]
    seed = chat_request.conversation
    keys_of = KeyMaker(secret)
    conversation = key = follows = keys_of.compute("", seed) if seed else ""
    earlier: list[EarlierWords] = []
    for each in before:
        text = split_documents(each.text)[0] if each.role == "user" else ""
        key = keys_of.compute(key, each.role, text or each.text)
        earlier += [EarlierWords(text=text, key=key, follows=follows)] if text else []
        follows = key
    split = [split_documents(each.text) for each in new]
    is_own = any(own for own, _ in split)
    texts = tuple(own for own, _ in split if own) or tuple(each.text for each in new)
    since = takewhile(lambda each: each.role != "assistant", reversed(chat_request.messages))
    unseen = [each.unseen_note for each in since if each.role == "user"][::-1]
    around = [*(each for _, each in split), *unseen]
    keys = []
    for text in texts:
        key = keys_of.compute(key, "user", text)
        keys.append(key)
    return NewWords(
        texts=texts,
        documents="\n\n".join(filter(None, around)) if is_own else "",
        trust="person" if is_own else "outside",
        keys=tuple(keys),
        follows=follows,
        reply_before=before[-1].text if before else "",
        is_opening=not before and (not seed or not chat_request.is_continuation),
        conversation=conversation,
        idempotency_key=keys_of.compute("idempotency", chat_request.idempotency_key)
        if chat_request.idempotency_key
        else "",
        earlier=tuple(earlier),
        former_keys={former: key for key, former in keys_of.former.items()},
    )


def count_trailing(said: Sequence[ChatMessage]) -> int:
    """Return how many of the last messages are the person's."""
    count = 0
    for each in reversed(said):
        if each.role != "user":
            break
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class KeyMaker:
    """Makes the keys of a request, and knows what each was before they had the secret."""

    secret: bytes
    former: dict[str, str] = field(default_factory=dict)

    def compute(self, before: str, *texts: str) -> str:
        """Return the key of what was said, from the key of what was said before."""
        said = [text.strip() for text in texts]
        written = json.dumps([before, *said], ensure_ascii=True).encode()
        key = hmac.new(self.secret, written, sha256).hexdigest()[:KEY_CHARS]
        written = json.dumps([self.former.get(before, before), *said], ensure_ascii=True).encode()
        self.former[key] = sha256(written).hexdigest()[:KEY_CHARS]
        return key


async def find_words(
    db: Database,
    chat_context: ChatContext,
    words: NewWords,
    *,
    chat_request: ChatRequest,
    now: Micros,
) -> Recognition:
    """Find the words in the log, or where they belong, also by keys of before the secret.

    Messages with such keys get those that they have now.
    """
    person, chat = chat_context.person.id, chat_context.chat.id
    async with db.begin_read() as tx:
        found = await recognize(tx, chat_context, words, chat_request=chat_request, now=now)
        if found.message is not None or not await list_rekeyed(tx, chat_context, words):
            return found
    async with db.begin_write() as tx:
        for each in await list_rekeyed(tx, chat_context, words):
            same = await find_message_by_external_id(tx, person, chat, each.external_id or "")
            if same is None or same.id == each.id:
                await update_message_keys(tx, each)
        return await recognize(tx, chat_context, words, chat_request=chat_request, now=now)


async def is_conversation_unknown(
    tx: Transaction, chat_context: ChatContext, words: NewWords
) -> bool:
    """Tell whether a conversation that the program names goes on here, of which nothing is known.

    Without a name nothing tells it from examples that a program sends before each request.
    """
    if not words.earlier or not words.has_certain_place:
        return False
    person, chat = chat_context.person.id, chat_context.chat.id
    recent = await list_recent_messages(tx, person, chat, limit=HISTORY_WINDOW)
    return all(each.details.get(CONVERSATION_DETAIL) != words.conversation for each in recent)


async def list_rekeyed(
    tx: Transaction, chat_context: ChatContext, words: NewWords
) -> list[Message]:
    """List messages whose keys had no secret, as they are with those that they have now."""
    person, chat, former = chat_context.person.id, chat_context.chat.id, words.former_keys
    said = await list_recent_messages(tx, person, chat, limit=HISTORY_WINDOW)
    for old, new in former.items():
        if new == words.idempotency_key:
            sent = await find_message_by_external_id(tx, person, chat, old)
            said = [*said, *([] if sent is None or sent in said else [sent])]
    rekeyed = []
    for each in said:
        key, mark, count = (each.external_id or "").partition("#")
        details = {
            name: former.get(value, value) if name in KEY_DETAILS else value
            for name, value in each.details.items()
        }
        if key in former or details != each.details:
            external_id = f"{former.get(key, key)}{mark}{count}" or None
            rekeyed.append(replace(each, external_id=external_id, details=details))
    return rekeyed


async def recognize(
    tx: Transaction,
    chat_context: ChatContext,
    words: NewWords,
    *,
    chat_request: ChatRequest,
    now: Micros,
) -> Recognition:
    """Find the words in the log, or where they belong."""
    person, chat = chat_context.person.id, chat_context.chat.id
    if words.idempotency_key:
        return await recognize_by_key(tx, chat_context, words)
    recent = await list_recent_messages(tx, person, chat, limit=HISTORY_WINDOW)
    own = [each for each in recent if each.role == "person"]
    by_key = {(each.external_id or "").partition("#")[0]: each for each in own}
    last_key = words.keys[-1]
    known = by_key.get(last_key)
    if known is not None:
        is_last = own[-1].id == known.id
        if chat_request.is_retry or await is_sent_again(tx, words, known, is_last=is_last, now=now):
            return build_known(words, known)
        return build_new(words, f"{last_key}#{now}", 0)
    start = next((i + 1 for i in range(len(words.keys) - 1, -1, -1) if words.keys[i] in by_key), 0)
    edited = None if start or words.is_opening else find_edited(recent, words, now=now)
    if edited is None:
        return build_new(words, last_key, start)
    text = join_from(words, 0)
    kind: Literal["known", "edited"] = "known" if edited.text == text else "edited"
    return Recognition(
        kind=kind,
        text=text,
        external_id=last_key,
        follows=words.follows,
        conversation=words.conversation,
        message=edited,
    )


async def is_sent_again(
    tx: Transaction, words: NewWords, known: Message, *, is_last: bool, now: Micros
) -> bool:
    """Tell whether words that are in the log were sent again, and not said again.

    Said again they ask for something again, so in doubt they are: where the conversation has no
    name, what was done for them is done once more.
    """
    if words.has_certain_place:
        return True
    receipt = None if known.turn is None else await find_receipt(tx, known.person, known.turn)
    if receipt is None:
        return is_last and now - known.at < UNANSWERED_WINDOW
    return is_last and now - known.at < REPEAT_WINDOW and not await has_acted(tx, receipt)


async def recognize_by_key(
    tx: Transaction, chat_context: ChatContext, words: NewWords
) -> Recognition:
    """Find the words that were sent with an idempotency key."""
    external_id = words.idempotency_key
    known = await find_message_by_external_id(
        tx, chat_context.person.id, chat_context.chat.id, external_id
    )
    if known is not None:
        return build_known(words, known)
    return build_new(words, external_id, 0)


def find_edited(recent: Sequence[Message], words: NewWords, *, now: Micros) -> Message | None:
    """Return the message that the words replace: said after the same words of ours, elsewise.

    It is the last one of its conversation; where that has no name, the last one of all, just now.
    There it must be alike, or it is said in another conversation that began in the same way.
    Examples that a program sends before everything are no words of ours.
    """
    spoken = flatten(words.reply_before)
    name = words.conversation if words.has_certain_place else ""
    said = [
        place
        for place, each in enumerate(recent)
        if each.role == "person" and name in {"", each.details.get(CONVERSATION_DETAIL, "")}
    ]
    if not said:
        return None
    last = recent[said[-1]]
    if last.details.get(FOLLOWS_DETAIL) != words.follows:
        return None
    if not name and (now - last.at >= EDIT_WINDOW or not is_alike(last.text, join_from(words, 0))):
        return None
    ours = (flatten(each.text) for each in recent[: said[-1]] if each.role == "companion")
    return last if any(text == spoken for text in ours) else None


def is_alike(one: str, other: str) -> bool:
    """Tell whether one text may be an edit of the other: most of their pairs of letters agree."""
    pairs, others = (Counter(pairwise(flatten(text))) for text in (one, other))
    shared, size = (pairs & others).total(), pairs.total() + others.total()
    return 2 * shared >= ALIKE_SHARE * size


def build_known(words: NewWords, message: Message) -> Recognition:
    """Return the recognition of words that are in the log."""
    return Recognition(
        kind="known",
        text=message.text,
        external_id=message.external_id or "",
        follows=words.follows,
        conversation=words.conversation,
        message=message,
    )


def build_new(words: NewWords, external_id: str, start: int) -> Recognition:
    """Return the recognition of words of which those from a place on are new."""
    return Recognition(
        kind="new",
        text=join_from(words, start),
        external_id=external_id,
        follows=words.follows,
        conversation=words.conversation,
        documents=words.documents,
        trust=words.trust,
    )


def join_from(words: NewWords, start: int) -> str:
    """Return the words from a place on as one text."""
    return "\n\n".join(words.texts[start:])


def flatten(text: str) -> str:
    """Return a text without differences that only its layout makes."""
    return " ".join(text.split())
