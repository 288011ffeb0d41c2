"""Tagged requests: turns what the request tagger says of a message into a reminder or a to-do.

Times are taken whole: all words of time that stand together tell when to remind, or none of them
does. Whatever is in doubt is asked about.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.left_over import has_left_over, is_apart, is_other
from oldfriend.tasks.reminder_text import MIN_CLEAR, WHAT, find_what
from oldfriend.tasks.request_features import TaggedToken
from oldfriend.tasks.request_tagger import (
    ASK,
    LABELS,
    MAX_NONE,
    MIN_SURELY_WHEN,
    NONE,
    REMINDER,
    TODO,
    WHEN,
    TaggedMessage,
    find_limit,
    is_open,
)
from oldfriend.tasks.time_ambiguity import (
    has_choice,
    has_unread_hour,
    is_stray_day,
    is_unread,
    lacks_part,
)
from oldfriend.tasks.time_words import TimeBook, TimeWord
from oldfriend.tasks.told_time import Question, Told
from oldfriend.tasks.weekday_series import HOLE, is_weekday
from oldfriend.tasks.when_spans import Span, is_inside, mask, read_when

EVENT: Final = LABELS.index("event")
MIN_SURE: Final = 0.55
"""What tells the time is in doubt below it."""
MIN_CERTAINLY_WHEN: Final = 0.97
MIN_CUT: Final = 0.8
"""Two times of which each is as likely one of a reminder's are those of two reminders."""
MAX_EVENT: Final = 0.2
"""Words of time that are so unlikely to tell when to remind tell when something else is."""
MIN_APART: Final = 0.6
"""A day that is as much likelier than the hour beside it, or less, is told apart from it."""
MIN_SURELY_REMINDER: Final = 0.95
"""From it on, the one time that is told is the reminder's, whatever its words look like."""
MAX_PLACE: Final = 1_000_000
"""Beyond the end of any message."""
_TIMES: Final = frozenset({"clock", "day", "part", "amount"})
_HOUR: Final = re.compile(r"\d{1,2}(?:[:.h]\d\d)?")
_MINUTES: Final = re.compile(r"(?<=\d)[:.]\d\d(?![\d.:])")
_NEAR: Final = re.compile(r"(?:[^\w]{0,3}\w{1,15}){1,2}|[^\w]{0,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Words of time that stand together, and how likely they tell when to remind."""

    words: tuple[TimeWord, ...]
    likely: float

    @property
    def span(self) -> Span:
        """Where it is."""
        return self.words[0].start, self.words[-1].end

    @property
    def kinds(self) -> set[str]:
        """What its words tell."""
        return {each.kind for each in self.words}


def read_tagged(
    book: TimeBook, tagged: TaggedMessage, *, is_order: bool = False
) -> list[AskedTask]:
    """Return the reminders, or the reminder or to-do, that a message asks for, if it does.

    ``is_order`` tells that it may rather be an order about the list.
    """
    none = float(tagged.kinds[NONE])
    is_cued = any(each.cue for each in tagged.tokens)
    is_todo = tagged.kinds[TODO] > tagged.kinds[ASK] + tagged.kinds[REMINDER]
    text = to_simplified(tagged.text)
    is_over = bool(book.past.search(text) or book.no_clock.search(text))
    limit = find_limit(tagged, is_todo=is_todo, is_order=is_order)
    if none > (MAX_NONE if is_cued and is_over else limit):  # a day that is over is asked about
        return []
    text = book.no_clock.sub(lambda found: HOLE * len(found[0]), text)  # 25:00 is not at 00
    clusters = list_clusters(book, text, tagged)
    if cuts := find_cuts(tagged, clusters):
        return read_parts(book, tagged, cuts)
    asked = read_one(book, text, tagged, clusters, is_asking=is_cued)
    return [] if asked is None else [asked]


def read_one(
    book: TimeBook,
    text: str,
    tagged: TaggedMessage,
    clusters: Sequence[Cluster],
    *,
    is_asking: bool,
) -> AskedTask | None:
    """Return the one reminder or to-do of a message."""
    chosen = choose_clusters(tagged, clusters)
    starts = find_starts(book, text, clusters, chosen)
    chosen += [each for each in starts if each not in chosen]
    spans = find_when(book, text, tagged, clusters, chosen)
    others = [
        word for cluster in clusters for word in cluster.words if not is_inside(word.start, spans)
    ]
    no_hours = [each.span() for each in book.no_clock.finditer(to_simplified(tagged.text))]
    what = find_what(book, tagged, spans or no_hours)
    what = what if book.drop_joints(what) else ""
    if not spans:
        if tagged.kinds[TODO] > tagged.kinds[ASK] + tagged.kinds[REMINDER]:
            is_thing = any(map(str.isalpha, what))
            return AskedTask(action="todo", what=what) if is_thing else None
        return AskedTask(action="remind", what=what, told=Told()) if is_asking else None
    read = read_when(book, text, spans, find_events(tagged, others, spans))
    told = read.told
    words = tagged.text[spans[0][0] : spans[0][1]]
    for (_, before), (start, end) in pairwise(spans):
        words += ("" if start == before else " ") + tagged.text[start:end]
    asked = AskedTask(action="remind", what=what, told=told, time_words=words)
    if told is None:
        return asked
    lent = list_lent(told, others)
    untold = lent if told.offset is not None else []  # "dinner at 7" is to be read as it was said
    if told.clock is None and told.amount is None:
        untold += no_hours
    if untold or lent:
        what = find_what(book, tagged, [*spans, *untold], lent) or what
        asked = replace(asked, what=what)
    rated = [
        each
        for each in clusters
        if (each in chosen or each.kinds != {"part"})
        and not is_used(told, each)
        and each not in starts
        and not is_told_surely(each, chosen)
    ]
    sure = min((max(each.likely, 1 - each.likely) for each in rated), default=1.0)
    is_doubtful = (
        bool(read.unread)
        or is_unread(book, text, tagged, [*spans, *lent])
        or has_unread_hour(tagged, told, [*spans, *lent])
        or is_stray_day(book, text, told, spans)
        or sure < MIN_SURE
        or is_open(tagged)
    )
    is_choice = (
        has_choice(book, text, tagged.times)
        or any(map(str.isdecimal, read.unread))
        or lacks_part(told, drop_whole(told, others, clusters))
        or (bool(what) and has_left_over(book, drop_lent(text, what, told, spans), told))
    )
    doubt: Question | None = "several" if is_choice else "guess" if is_doubtful else None
    return replace(asked, told=replace(told, doubt=doubt))


def is_told_surely(cluster: Cluster, chosen: Sequence[Cluster]) -> bool:
    """Whether words that were not chosen only tell what others surely tell: another day or hour."""
    sure = {
        kind
        for each in chosen
        if each is not cluster and each.likely >= MIN_CERTAINLY_WHEN
        for kind in each.kinds
    }
    is_series = "every" in sure  # else "by Friday" is a day, and ends nothing
    kinds = {"day" if each == "until" and not is_series else each for each in cluster.kinds}
    return cluster not in chosen and kinds <= sure


def is_used(told: Told, cluster: Cluster) -> bool:
    """Whether a time before or after something rests on words, whichever of the two they tell."""
    used = {each.start for each in told.words}
    return told.offset is not None and all(each.start in used for each in cluster.words)


def find_events(
    tagged: TaggedMessage, others: Sequence[TimeWord], spans: Sequence[Span]
) -> list[Span]:
    """Return the spans that tell when something else is, those that stand together as one."""
    likely = tagged.labels.argmax(axis=1) == EVENT
    found: list[Span] = []
    for each, is_event in zip(tagged.tokens, likely, strict=True):
        if is_inside(each.start, spans):
            continue
        if is_event or any(word.start <= each.start < word.end for word in others):
            is_next = found and not re.search(r"\w", tagged.text[found[-1][1] : each.start])
            start = found.pop()[0] if is_next else each.start
            found.append((start, each.end))
    return found


def list_lent(told: Told, others: Sequence[TimeWord]) -> list[Span]:
    """List the words that tell when something else is, if the time of a reminder rests on it."""
    is_lent = told.offset is not None or (told.event is not None and not is_apart(told))
    return [(each.start, each.end) for each in others] if is_lent else []


def find_cuts(tagged: TaggedMessage, clusters: Sequence[Cluster]) -> list[int]:
    """Return the places before which a second reminder begins, a third, and so on.

    Times that tell the same, with words to remind of between them, are those of several: each
    has the words that follow it, or each has those that precede it.
    """
    timed = [each for each in clusters if each.likely >= MIN_CUT and each.kinds & _TIMES]
    if len(timed) < 2 or any({"offset", "every", "until"} & each.kinds for each in timed):
        return []
    if any(not one.kinds & other.kinds & _TIMES for one, other in pairwise(timed)):
        return []
    ends = [each.span for each in timed]
    said = [
        any(
            label[WHAT] >= MIN_CLEAR and start <= token.start < end
            for token, label in zip(tagged.tokens, tagged.labels, strict=True)
        )
        for start, end in pairwise([0, *(place for span in ends for place in span), MAX_PLACE])
    ][::2]
    if not all(said[1:-1]) or said[0] == said[-1]:
        return []
    return [end for _, end in ends[:-1]] if said[0] else [start for start, _ in ends[1:]]


def read_parts(book: TimeBook, tagged: TaggedMessage, cuts: Sequence[int]) -> list[AskedTask]:
    """Return the reminders of a message that is cut into one for each."""
    found: list[AskedTask] = []
    day: TimeWord | None = None
    text = to_simplified(tagged.text)
    for start, end in pairwise([0, *cuts, MAX_PLACE]):
        places = [at for at, each in enumerate(tagged.tokens) if start <= each.start < end]
        part = replace(
            tagged,
            tokens=[tagged.tokens[each] for each in places],
            labels=tagged.labels[places],
            times=[each for each in tagged.times if start <= each.start < end],
        )
        asked = read_one(book, text, part, list_clusters(book, text, part), is_asking=True)
        if asked is None:
            continue
        told = asked.told
        if told is not None and told.clock is not None and told.day is None:
            asked = replace(asked, told=replace(told, day=day))
        day = day if told is None or told.day is None else told.day
        found.append(asked)
    return found


def drop_lent(text: str, what: str, told: Told, spans: Sequence[Span]) -> str:
    """Return what to remind of without the words of it that lend their day to the time."""
    for each in told.words:
        if each.end > each.start and not is_inside(each.start, spans):
            what = what.replace(text[each.start : each.end], " ")
    return what


def drop_whole(
    told: Told, words: Sequence[TimeWord], clusters: Sequence[Cluster]
) -> list[TimeWord]:
    """Return words without the hours that have a day of their own, if the reminder's is another.

    "Match on Saturday at 11, tell me on Friday evening to wash the shirt." The day before
    something has no use for its hour.
    """
    if told.offset is not None:
        sure = [word for each in clusters if each.likely < MAX_EVENT for word in each.words]
        return [each for each in words if each.kind != "clock" or each not in sure]
    if told.day is None:
        return [*words]
    whole: list[TimeWord] = []
    for each in clusters:
        days = [word for word in each.words if word.kind == "day"]
        if days and all(is_other(word, told.day) for word in days):
            whole += each.words
    return [each for each in words if each.kind != "clock" or each not in whole]


def list_clusters(book: TimeBook, text: str, tagged: TaggedMessage) -> list[Cluster]:
    """List the words of time that stand together."""
    groups: list[list[TimeWord]] = []
    for word in tagged.times:
        if word.kind == "vague":
            continue
        if groups and book.glue.fullmatch(text[groups[-1][-1].end : word.start]):
            groups[-1].append(word)
        else:
            groups.append([word])
    clusters = []
    for words in groups:
        rated = [(each, rate_words(tagged, [each])) for each in words]
        starts = [
            at
            for at, (one, other) in enumerate(pairwise(rated), 1)
            if abs(one[1] - other[1]) >= MIN_APART
            and {"day", "offset"} & {one[0].kind, other[0].kind}
        ]
        for start, end in pairwise([0, *starts, len(words)]):
            part = words[start:end]
            clusters.append(Cluster(words=tuple(part), likely=rate_words(tagged, part)))
    return clusters


def rate_words(tagged: TaggedMessage, words: Sequence[TimeWord]) -> float:
    """Return how likely words of time tell when to remind."""
    places = [
        place
        for place, token in enumerate(tagged.tokens)
        if any(each.start <= token.start < each.end for each in words)
    ]
    return float(tagged.labels[places, WHEN].mean()) if places else 0.0


def choose_clusters(tagged: TaggedMessage, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Return the clusters that tell when to remind.

    Of two hours, the one in the clause that asks does; a part of the day alone only does beside
    an hour if it is sure: "Good evening" is not. An hour that comes again, if no other time is
    told, does in any case.
    """
    chosen = [each for each in clusters if each.likely >= 0.5]
    if not chosen:
        chosen = choose_only_time(tagged, clusters)
    timed = [each for each in chosen if each.kinds & {"clock", "amount", "offset"}]
    if timed:
        chosen = [
            each
            for each in chosen
            if each.kinds != {"part"} or len(chosen) == 1 or each.likely >= MIN_SURELY_WHEN
        ]
    if len(timed) > 1 and not any("offset" in each.kinds for each in timed):
        beside = [each for each in timed if is_in_asking_clause(tagged, each)]
        if len(beside) == 1:
            chosen = [each for each in chosen if each in beside or each not in timed]
    return chosen


def choose_only_time(tagged: TaggedMessage, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Return the one time of a message, if it surely asks for a reminder and tells no other.

    "The cake tomorrow at nine, tell me then": what is then is what the reminder is for.
    """
    timed = [each for each in clusters if each.kinds & {"clock", "amount"}]
    told = [each for each in clusters if not timed or not is_repeated(each, timed[0])]
    if len(told) != 1 or not told[0].kinds & {"clock", "amount", "day", "every"}:
        return []
    asking = {each.clause for each in tagged.tokens if each.cue}
    if any(
        each.word.isdecimal() and each.clause in asking and not each.time for each in tagged.tokens
    ):
        return []  # "tell me at 845"
    is_series = told[0].kinds >= {"every", "clock"} and is_in_asking_clause(tagged, told[0])
    return told if is_series or float(tagged.kinds[REMINDER]) >= MIN_SURELY_REMINDER else []


def find_starts(
    book: TimeBook, text: str, clusters: Sequence[Cluster], chosen: Sequence[Cluster]
) -> list[Cluster]:
    """Return the day from which a series comes, told apart from it: "starting tomorrow"."""
    weekdays = [word for each in chosen for word in each.words if is_weekday(word)]
    if len(weekdays) < 2 and not any({"every", "until"} & each.kinds for each in chosen):
        return []
    return [each for each in clusters if each.kinds == {"day"} and book.is_start(text, *each.span)]


def is_repeated(cluster: Cluster, whole: Cluster) -> bool:
    """Whether words of time only say again what others told whole."""
    known = [(each.kind, each.entry, each.groups) for each in whole.words]
    return cluster is not whole and all(
        (each.kind, each.entry, each.groups) in known for each in cluster.words
    )


def is_in_asking_clause(tagged: TaggedMessage, cluster: Cluster) -> bool:
    """Whether words of time stand in the clause that asks for the reminder."""
    start, end = cluster.span
    clauses = {each.clause for each in tagged.tokens if each.cue}
    return any(each.clause in clauses for each in tagged.tokens if start <= each.start < end)


def find_when(
    book: TimeBook,
    text: str,
    tagged: TaggedMessage,
    clusters: Sequence[Cluster],
    chosen: Sequence[Cluster],
) -> list[Span]:
    """Return the spans that tell when to remind, without what changes no time at their edges."""
    best = tagged.labels.argmax(axis=1)
    rejected = [each.span for each in clusters if each not in chosen]
    taken = [each.span for each in chosen]
    runs: list[tuple[int, int, int]] = []
    for place, token in enumerate(tagged.tokens):
        is_when = best[place] == WHEN
        is_taken = is_inside(token.start, taken) and (is_when or not token.cue)
        if not is_taken and not (is_when and not is_inside(token.start, rejected)):
            continue
        if runs and is_number(tagged.tokens[runs[-1][2] + 1 : place], tagged.text):
            runs[-1] = (runs[-1][0], token.end, place)
        else:
            runs.append((token.start, token.end, place))
    spans = [(start, end) for start, end, _ in runs]
    words = book.find_loosely(mask(text, spans))
    trimmed = (trim(book, text, span, words) for span in complete(book, text, spans))
    return [each for each in trimmed if each is not None]


def complete(book: TimeBook, text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans with what belongs to their times: "6" with ":50", half of an amount with all."""
    amounts = [each for each in book.find_loosely(text) if each.kind == "amount"]
    leads = book.find_until(text)
    whole: list[Span] = []
    for start, end in spans:
        more = _MINUTES.match(text, end)
        lead = [each for each, after in leads if after == start]
        cut = [each.start for each in amounts if each.start < start < each.end]
        whole.append((min([start, *lead, *cut]), end if more is None else more.end()))
    return whole


def is_number(tokens: Sequence[TaggedToken], text: str) -> bool:
    """Whether nothing but an hour in digits stands between words that tell when, or nothing."""
    between = text[tokens[0].start : tokens[-1].end] if tokens else ""
    return not between or _HOUR.fullmatch(between) is not None


def trim(book: TimeBook, text: str, span: Span, words: Sequence[TimeWord]) -> Span | None:
    """Return a span without words at its edges that tell no time; None if all of it does."""
    start, end = span
    inside = [each for each in words if start <= each.start and each.end <= end]
    if not inside:
        return span if book.refers.search(text[start:end]) else None
    pointing = [each.span() for each in book.refers.finditer(text, start, end)]
    first = min([inside[0].start, *(each[0] for each in pointing)])
    last = max([inside[-1].end, *(each[1] for each in pointing)])
    left, right = last_words(text[start:first]), first_words(text[last:end])
    is_left = is_telling(book, left) or bool(book.find_until(left))
    return start if is_left else first, end if is_telling(book, right) else last


def first_words(text: str) -> str:
    """Return the first words of a text, which may belong to a time before it."""
    found = _NEAR.match(text)
    return text if found is None else found[0]


def last_words(text: str) -> str:
    """Return the last words of a text, which may belong to a time after it."""
    return first_words(text[::-1])[::-1]


def is_telling(book: TimeBook, text: str) -> bool:
    """Whether words may be a part of a time."""
    return bool(book.significant.search(text) or book.refers.search(text))
