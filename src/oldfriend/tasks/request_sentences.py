"""Request sentences: reads the requests of a text, whether told in one sentence or in several."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS

MAX_REQUESTS: Final = 5
"""Requests that are handled of one text."""

Read = tuple[Sequence[str], Sequence[AskedTask], Sequence[str]]
"""Sentences, what they ask for, and those of them that ask for nothing."""


def read_requests(
    text: str, languages: Sequence[str]
) -> tuple[TaskPhrases, list[AskedTask], list[str]]:
    """Return the requests of a text, and its other sentences, in the first language with any."""
    first = load_task_phrases(languages[0])
    sentences = split_sentences(text)
    for language in dict.fromkeys(choose_language_with("tasks", each) for each in languages):
        phrases = load_task_phrases(language)
        is_asked = phrases is first or bool(phrases.list_cues(text[:MAX_REQUEST_CHARS]))
        pairs = [phrases.split_order(each) if is_asked else (each, "") for each in sentences]
        read = [*read_runs(phrases, [each for each, _ in pairs], is_asked=is_asked)]
        asked = [each for _, found, _ in read for each in found]
        if asked:
            rest = [each for _, _, left in read for each in left if phrases.strip_polite(each)]
            orders = [order for _, order in pairs if order]
            return phrases, asked[:MAX_REQUESTS], [*rest, *orders]
    return first, [], sentences


def read_runs(phrases: TaskPhrases, sentences: Sequence[str], *, is_asked: bool) -> Iterator[Read]:
    """Yield sentences that are about the list, each alone, and the runs of others between them.

    A reminder is only looked for if one may be asked for in the language.
    """
    read = [(each, read_about_list(phrases, each)) for each in sentences]
    for is_run, pairs in groupby(read, key=lambda pair: pair[1] is None):
        if is_run:
            run = [sentence for sentence, _ in pairs]
            yield read_run(phrases, run) if is_asked else (run, [], run)
        else:
            yield from (([text], [found], []) for text, found in pairs if found is not None)


def read_about_list(phrases: TaskPhrases, sentence: str) -> AskedTask | None:
    """Return what a sentence asks for about the list, unless it rather asks for a reminder."""
    asked = phrases.read(sentence)
    if asked is None or not asked.is_maybe:
        return asked
    return None if is_complete(phrases, phrases.read_reminder(sentence)) else asked


def read_run(phrases: TaskPhrases, run: Sequence[str]) -> Read:
    """Return what sentences ask for: two reminders or more, each in its own, or one in all."""
    single = [phrases.read_reminders(each) for each in run] if len(run) > 1 else []
    asks = [bool(phrases.list_cues(each)) for each in run]
    is_whole = [
        all(is_complete(phrases, each) for each in found) and (is_asking or not any(asks[at:]))
        for at, (found, is_asking) in enumerate(zip(single, asks, strict=False))
    ]
    complete = [
        each for found, whole in zip(single, is_whole, strict=True) if whole for each in found
    ]
    found = phrases.read_reminders(" ".join(run)) if len(complete) < 2 else []
    if complete and not found:
        told = zip(run, single, is_whole, strict=True)
        left = [text for text, found, whole in told if not found or not whole]
        return run, complete, left
    if not found:
        return run, [], run
    left = [each for each in run if not any(is_part(phrases, each, asked) for asked in found)]
    return run, found, left


def is_complete(phrases: TaskPhrases, asked: AskedTask | None) -> bool:
    """Whether a reminder has its text and its time; "that day at ten" needs another sentence."""
    if asked is None or not asked.what:
        return False
    told = asked.told
    if asked.action == "todo" or told is None:
        return asked.action == "todo"
    is_dayless = not (told.day or told.amount or told.every)
    refers = phrases.book.refers.search(to_simplified(asked.time_words))
    return (
        told.doubt is None
        and bool(told.words)
        and not (is_dayless and (told.offset is not None or refers is not None))
    )


def is_part(phrases: TaskPhrases, sentence: str, asked: AskedTask) -> bool:
    """Whether a sentence holds a part of what a request says."""
    said = [*asked.what.split(", "), asked.time_words]
    return bool(phrases.list_cues(sentence)) or any(each and each in sentence for each in said)


def list_undecided(text: str, asked: Sequence[AskedTask]) -> list[str]:
    """Return the sentences that only name what is no task: an order to forget beside a reminder."""
    sentences = split_sentences(text)
    refs = [each.ref for each in asked if each.is_maybe and each.action == "cancel" and each.ref]
    others = [each.what or each.ref for each in asked if each.ref not in refs]
    return [
        each
        for each in sentences
        if any(ref in each for ref in refs) and not any(one and one in each for one in others)
    ]
