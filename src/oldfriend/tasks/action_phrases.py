"""Action phrases: what a sentence asks to have done at a time, such as a search or a summary.

The time stands at the beginning ("tomorrow at 8, look up …") or is that of a series ("… every
Monday"); other times belong to what is asked for ("tell me what is on tomorrow").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS, TimeWord
from oldfriend.tasks.told_time import Told, collect

APOSTROPHES: Final = str.maketrans("\u2019\u2018", "''")
EDGES: Final = " \t\n,.;!\uff0c\u3002\uff01"
COLONS: Final = (":", "\uff1a", "\u2013", "\u2014")
QUESTION_MARKS: Final = ("?", "\uff1f")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAction:
    """What is to be done, and when."""

    what: str
    told: Told
    time_words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPhrases:
    """How one language asks for it."""

    polite: re.Pattern[str]
    does: Sequence[re.Pattern[str]]
    times: TaskPhrases

    def read(self, sentence: str) -> AskedAction | None:
        """Return the action that a sentence asks for at a time; None for any other."""
        if len(sentence) > MAX_REQUEST_CHARS:
            return None
        text = self.strip_polite(" ".join(sentence.translate(APOSTROPHES).split()))
        for cluster in self.list_clusters(text):
            told = collect(cluster)
            is_first = not self.times.drop_glue(text[: cluster[0].start])
            if told is None or not (is_first or told.every):
                continue
            before, after = text[: cluster[0].start], text[cluster[-1].end :]
            is_set_off = is_first and after.lstrip().startswith(COLONS)
            what = f"{before.strip(EDGES)} {after.strip(EDGES).lstrip(''.join(COLONS))}".strip()
            what = self.strip_polite(what if not is_first else what.removeprefix(before).strip())
            if self.is_action(what) or (is_set_off and what.endswith(QUESTION_MARKS)):
                words = text[cluster[0].start : cluster[-1].end]
                words = words[:1].lower() + words[1:]  # it began the sentence
                return AskedAction(what=what, told=told, time_words=words)
        return None

    def read_timed(self, text: str) -> AskedAction | None:
        """Return an action and its time, the first that tells an hour or a series; None without."""
        plain = self.strip_polite(" ".join(text.translate(APOSTROPHES).split()))
        told = [(each, collect(each)) for each in self.list_clusters(plain)]
        timed = [(words, each) for words, each in told if each is not None]
        timed.sort(key=lambda pair: not (pair[1].clock or pair[1].every or pair[1].amount))
        if not timed:
            return None
        cluster, when = timed[0]
        words = plain[cluster[0].start : cluster[-1].end]
        before, after = plain[: cluster[0].start], plain[cluster[-1].end :]
        before = self.times.drop_last_joint(before).strip(EDGES)
        what = self.strip_polite(f"{before} {after.strip(EDGES)}".strip(EDGES + "".join(COLONS)))
        if not what:  # a time alone answers a question
            return None
        return AskedAction(what=what, told=when, time_words=words[:1].lower() + words[1:])

    def list_clusters(self, text: str) -> list[list[TimeWord]]:
        """Return the words of times in groups between which stands nothing of matter."""
        clusters: list[list[TimeWord]] = []
        for word in sorted(self.times.book.find(text), key=lambda each: each.start):
            if clusters and not self.times.drop_glue(text[clusters[-1][-1].end : word.start]):
                clusters[-1].append(word)
            else:
                clusters.append([word])
        return clusters

    def strip_polite(self, text: str) -> str:
        """Return a text without polite words at its beginning."""
        found = self.polite.match(text)
        return text if found is None else text[found.end() :].strip()

    def is_action(self, text: str) -> bool:
        """Whether a text, without its time, asks for something to be done."""
        return any(each.fullmatch(text.strip(EDGES)) for each in self.does)

    def find_question(self, text: str) -> str:
        """Return what an action asks for, as it can be asked by itself."""
        plain = text.translate(APOSTROPHES).strip(EDGES)
        found = next((match for each in self.does if (match := each.fullmatch(plain))), None)
        return text if found is None else found["ask"]


@cache
def load_action_phrases(language: str) -> ActionPhrases:
    """Load the phrases of a language, or of the fallback."""
    language = choose_language_with("actions", language)
    pack = load_language_pack(language).read("actions")
    return ActionPhrases(
        polite=re.compile(f"(?:{pack['polite']}){{1,3}}", re.IGNORECASE),
        does=tuple(re.compile(each, re.IGNORECASE) for each in pack["does"]),
        times=load_task_phrases(language),
    )
