"""Watch requests: starts, lists and ends watches, as in "tell me when my weight goes above 80".

Only an address that the person wrote is watched, and only while pages may be read.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.ids import new_random_id
from oldfriend.lang.language_pack import choose_language_with, list_languages
from oldfriend.measurements.measurement_store import find_latest, list_kept_measures
from oldfriend.proactive.proactive_settings import load_proactive_settings
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.time_words import load_time_book
from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans
from oldfriend.turn.lookup_switches import say_off
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import classify_request, find_request
from oldfriend.turn.watch_changes import WatchChange
from oldfriend.watches.amounts import parse_amount
from oldfriend.watches.number_limits import (
    NumberLimit,
    is_ended,
    is_named,
    read_limit_command,
    read_number_limit,
)
from oldfriend.watches.watch import Condition, Watch
from oldfriend.watches.watch_phrases import (
    LINK,
    AskedWatch,
    WatchPhrases,
    load_watch_phrases,
)
from oldfriend.watches.watch_store import (
    MAX_WATCHES,
    list_watches,
)
from oldfriend.web.links import LINK as LINK_PATTERN
from oldfriend.web.links import list_links, normalize_public_link, strip_trailing

NAME: Final = "watches"
COMMANDS: Final = frozenset({"/watch", "/watches"})
COMMAND: Final = re.compile(
    r"\s{0,9}/watch(?:es)?(?:@\w{1,64})?(?:\s{1,9}(?P<rest>[^\n]{1,2100}))?\s{0,9}", re.IGNORECASE
)
STOP: Final = re.compile(r"stop\s{1,9}(?P<ref>[^\n]{1,2050})", re.IGNORECASE)
THRESHOLD: Final = re.compile(
    rf"{LINK}\s{{1,9}}(?P<side>below|above)\s{{1,9}}(?P<limit>\d[\d.,]{{0,14}})", re.IGNORECASE
)
LANGUAGES: Final = tuple(list_languages("watches"))
MAX_TEXT_CHARS: Final = 300
MIN_ASKED: Final = 0.5
"""How likely a text must ask to be told of something, of which it names a limit."""


def build_watch_handler(*, may_read_pages: bool) -> RequestHandler:
    """Build the handler of requests for watches."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        return await handle_watch_request(context, may_read_pages=may_read_pages)

    return RequestHandler(name=NAME, handle=handle)


async def handle_watch_request(
    context: HandlerContext, *, may_read_pages: bool
) -> HandledRequest | None:
    """Handle what a message asks about watches."""
    text = context.text.strip()
    command = COMMAND.fullmatch(text)
    if (command is None and not text) or len(text) > MAX_TEXT_CHARS + 2_000:
        return None
    links = list(dict.fromkeys(list_links(text)))
    language = context.perception.language
    number = None if links else await handle_number(context, text, command)
    if number is not None:
        return number
    if command is not None:
        phrases = load_watch_phrases(language)
        asked = read_command(hide_link(command["rest"] or ""))
        if asked is None:
            return HandledRequest(name=NAME, text=phrases.say("usage"), is_command=True)
        handled = await decide(context, phrases, asked, links, may_read_pages=may_read_pages)
        return replace(handled, is_command=True)
    is_single = len(split_sentences(hide_link(text))) == 1
    for each in dict.fromkeys((choose_language_with("watches", language), *LANGUAGES)):
        phrases = load_watch_phrases(each)
        asked = phrases.read(hide_link(text)) if is_single else None
        if asked is not None and not (asked.ask == "watch" and len(links) != 1):
            return await decide(context, phrases, asked, links, may_read_pages=may_read_pages)
        is_without = is_single and not links and context.model_name is None  # a model may ask
        if is_without and phrases.asks_without_address(text) and not names_clock(text, each):
            return HandledRequest(name=NAME, text=phrases.say("needs_address"))
    return await handle_likely(context, links, may_read_pages=may_read_pages)


def names_clock(text: str, language: str) -> bool:
    """Whether a text names a time of day, at which a reminder is asked for."""
    return any(each.kind == "clock" for each in load_time_book(language).find(text))


async def handle_number(
    context: HandlerContext, text: str, command: re.Match[str] | None
) -> HandledRequest | None:
    """Decide what a message asks about a number of the person's own; None if it asks nothing."""
    person = context.utterance.person.id
    spoken = choose_language_with("watches", context.perception.language)
    async with context.db.begin_read() as tx:
        active = await list_watches(tx, person)
        kept = [name for name, _, _ in await list_kept_measures(tx, person)]
        is_muted = "watch" in (await load_proactive_settings(tx, person)).muted
    for language in dict.fromkeys((spoken, *LANGUAGES)):
        phrases = load_watch_phrases(spoken if command is not None else language)
        if command is None:
            ended = [
                each
                for each in active
                if each.number is not None and asks_to_end(text, each.number.name, language)
            ]
            if ended:
                return stop(phrases, active, ended[0].url, context)
            limit = read_asked_limit(text, language, kept)
        else:
            limit = read_limit_command(command["rest"] or "", kept)
        if limit is not None:
            async with context.db.begin_read() as tx:
                latest = await find_latest(tx, person, limit.measure.name)
            unit = limit.measure.unit if latest is None else latest.unit
            asked = AskedWatch(ask="watch", condition=limit.condition, threshold=limit.value)
            watch = build_watch(context, phrases, asked, limit.to_source(unit))
            handled = store_new(phrases, active, watch, is_muted=is_muted)
            return replace(handled, is_command=command is not None)
    return None


def read_asked_limit(text: str, language: str, kept: Sequence[str] = ()) -> NumberLimit | None:
    """Read the limit of a text that most likely asks to be told of it; None for any other text."""
    limit = read_number_limit(text, language, kept)
    if limit is None or find_borrowed_spans(text, language):
        return None
    parts = dict.fromkeys((text, *split_sentences(text)))
    is_asked = any(classify_request(each, language)["watch_new"] >= MIN_ASKED for each in parts)
    return limit if is_asked else None


def asks_to_end(text: str, name: str, language: str) -> bool:
    """Whether a text asks to hear no more of a measure that is watched."""
    is_likely = find_request(text, language, "watch_cancel") is not None
    return is_ended(text, name, language) or (is_likely and is_named(text, name, language))


async def handle_likely(
    context: HandlerContext, links: list[str], *, may_read_pages: bool
) -> HandledRequest | None:
    """Watch the page that a message most likely wants watched, whatever its words."""
    language = context.perception.language
    found = find_request(context.text, language, "watch_new")
    if found is None or len(links) != 1 or [*list_links(found.said)] != links:
        return None
    phrases = load_watch_phrases(language)
    asked = phrases.read_limit(hide_link(found.said))
    handled = await decide(context, phrases, asked, links, may_read_pages=may_read_pages)
    return replace(handled, is_whole_message=not found.rest, rest=found.rest)


def read_watch(text: str, phrases: WatchPhrases) -> tuple[AskedWatch | None, str]:
    """Return what a message asks to have watched, and its address; None if it asks for nothing."""
    links = list(dict.fromkeys(list_links(text)))
    command = COMMAND.fullmatch(text.strip())
    hidden = hide_link(text.strip())
    asked = (
        phrases.read(hidden) if command is None else read_command(hide_link(command["rest"] or ""))
    )
    if asked is None and find_request(text, phrases.language, "watch_new") is not None:
        asked = phrases.read_limit(hidden)
    is_watch = asked is not None and asked.ask == "watch" and len(links) == 1
    return (asked, links[0]) if is_watch else (None, "")


def hide_link(text: str) -> str:
    """Return a text with LINK in place of each address, without what ends its sentence."""
    return LINK_PATTERN.sub(
        lambda found: LINK + found[0][len(strip_trailing(found[0])) :], text
    ).strip()


def read_command(words: str) -> AskedWatch | None:
    """Return what a command asks for; None for what is no address."""
    if not words:
        return AskedWatch(ask="list")
    stopped = STOP.fullmatch(words)
    if stopped is not None:
        return AskedWatch(ask="stop", ref=stopped["ref"].strip())
    if words == LINK:
        return AskedWatch(ask="watch")
    found = THRESHOLD.fullmatch(words)
    threshold = None if found is None else parse_amount(found["limit"].rstrip(".,"))
    if found is None or threshold is None:
        return None
    condition: Condition = "below" if found["side"].lower() == "below" else "above"
    return AskedWatch(ask="watch", condition=condition, threshold=threshold)


async def decide(
    context: HandlerContext,
    phrases: WatchPhrases,
    asked: AskedWatch,
    links: list[str],
    *,
    may_read_pages: bool,
) -> HandledRequest:
    """Decide what is asked for about watches."""
    person = context.utterance.person.id
    async with context.db.begin_read() as tx:
        active = await list_watches(tx, person)
        is_muted = "watch" in (await load_proactive_settings(tx, person)).muted
    if asked.ask == "list":
        items = tuple(
            build_listed_item("message", each.message, 1) for each in active if each.message
        )
        return HandledRequest(
            name=NAME,
            text=phrases.list_watches(active),
            items=items,
            records=tuple(each.id for each in active),
        )
    if asked.ask == "stop":
        return stop(
            phrases, active, links[0] if asked.ref == LINK and links else asked.ref, context
        )
    if not may_read_pages:
        return HandledRequest(name=NAME, text=say_off("page", context.perception.language))
    if len(links) != 1 or normalize_public_link(links[0]) is None:
        return refuse_links(phrases, links)
    watch = build_watch(context, phrases, asked, links[0])
    return store_new(phrases, active, watch, is_muted=is_muted)


def store_new(
    phrases: WatchPhrases, active: list[Watch], watch: Watch, *, is_muted: bool
) -> HandledRequest:
    """Store a new watch, unless there is the same one or the list is full."""
    same = tuple(each.id for each in active if is_same(each, watch))
    if same:
        known = (
            phrases.say("exists", url=watch.url)
            if watch.number is None
            else phrases.say_number("exists", watch)
        )
        return HandledRequest(name=NAME, text=known, records=same)
    if len(active) >= MAX_WATCHES:
        return HandledRequest(name=NAME, text=phrases.say("full"))
    said = phrases.confirm(watch)
    if is_muted:
        said = f"{said} {phrases.say('wanted_again')}"
    return HandledRequest(
        name=NAME,
        text=said,
        records=(watch.id,),
        changes=(WatchChange(watch=watch),),
    )


def refuse_links(phrases: WatchPhrases, links: list[str]) -> HandledRequest:
    """Say how a page is watched, or why this one is not."""
    text = phrases.say("usage") if len(links) != 1 else phrases.say("not_public", url=links[0])
    return HandledRequest(name=NAME, text=text)


def build_watch(
    context: HandlerContext, phrases: WatchPhrases, asked: AskedWatch, url: str
) -> Watch:
    """Return a new watch, which is looked at at once."""
    message, now = context.utterance.message, context.clock()
    return Watch(
        id=new_random_id(),
        person=context.utterance.person.id,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
        text=context.text.strip()[:MAX_TEXT_CHARS],
        language=phrases.language,
        url=url,
        condition=asked.condition,
        threshold=asked.threshold,
        next_check_at=now,
        created_at=now,
        changed_at=now,
    )


def is_same(one: Watch, other: Watch) -> bool:
    """Whether two watches wait for the same."""
    return (one.url, one.condition, one.threshold) == (other.url, other.condition, other.threshold)


def stop(
    phrases: WatchPhrases, active: list[Watch], ref: str, context: HandlerContext
) -> HandledRequest:
    """End the watch that a number of the list, an id or an address names."""
    named = [
        each
        for number, each in enumerate(active, 1)
        if ref in {str(number), each.url}
        or ref.casefold() == phrases.name(each).casefold()
        or (len(ref) >= 4 and each.id.startswith(ref))
    ]
    if not named:
        return HandledRequest(name=NAME, text=phrases.say("not_found"))
    changes = tuple(
        WatchChange(watch=replace(each, status="ended", changed_at=context.clock()), earlier=each)
        for each in named
    )
    return HandledRequest(
        name=NAME,
        text=phrases.tell_ended(named[0]),
        records=tuple(each.id for each in named),
        changes=changes,
    )
