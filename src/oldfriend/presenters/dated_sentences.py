"""Dated sentences: what was last said long ago, told with its time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.presenters.base_schema import format_date
from oldfriend.presenters.belief_sentences import BeliefSentence, tell_belief
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.turn.quotes import format_day

_QUOTE: Final = re.compile("[“„«]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PastForms:
    """How a language tells a state of long ago."""

    then: str  # the template for a sentence whose verb has a past form here
    forms: Sequence[tuple[re.Pattern[str], str]]
    joints: re.Pattern[str]  # what may join a second verb, whose past form is unknown


def tell_as_of(
    belief: StoredBelief,
    evidence: Sequence[Evidence],
    *,
    as_of: Micros | None,
    zone: str,
    language: str = "",
) -> BeliefSentence:
    """Return a belief as a sentence to the person; a state of long ago with its time."""
    told = tell_belief(belief, evidence, language=language, zone=zone)
    if as_of is None:
        return told
    return replace(told, text=tell_with_time(told.text, told.language, as_of, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Whom beliefs are told to: their language and zone, and the moment; None: whenever."""

    language: str = ""
    zone: str = "UTC"
    now: Micros | None = None

    def tell(self, belief: StoredBelief, evidence: Sequence[Evidence]) -> BeliefSentence:
        """Return a belief as a sentence; a state that was long ago at the moment with its time."""
        details = BeliefDetails(content=belief, evidence=tuple(evidence))
        as_of = None if self.now is None else details.find_stale_since(self.now)
        return tell_as_of(belief, evidence, as_of=as_of, zone=self.zone, language=self.language)


ANYBODY: Final = Audience()
"""Beliefs are told in their own language, whenever that is."""


def tell_with_time(sentence: str, language: str, as_of: Micros, zone: str) -> str:
    """Tell a sentence to the person as of the month in which it was last said.

    "You live in Ulm." becomes "In March 2024 you lived in Ulm."; what has no past form in the pack
    of its language becomes "As of March 2024: …".
    """
    if language not in OFFLINE_LANGUAGES:
        return f"{sentence} ({format_date(as_of, zone, 'month')})"
    book, past = load_phrases(language), _load_past_forms(language)
    when = format_day(book, as_of, zone, "month")
    if past is not None and not past.joints.search(_QUOTE.split(sentence, maxsplit=1)[0]):
        for form, told in past.forms:
            if form.match(sentence):
                return past.then.format(when=when, text=form.sub(told, sentence, count=1))
    return book.phrases["as_of"].format(when=when, text=sentence)


@lru_cache(maxsize=16)
def _load_past_forms(language: str) -> _PastForms | None:
    """Load how a language tells a state of long ago; None if nothing is known of that."""
    pack = load_language_pack(language)
    if not pack.has("address"):
        return None
    told: dict[str, Any] = pack.read("address")
    joints = "|".join(map(re.escape, str(told.get("joints", "")).split()))
    return _PastForms(
        then=told["then"],
        forms=[(re.compile(form), past) for form, past in told["past_forms"]],
        joints=re.compile(rf"[,;]|\b(?:{joints})\b" if joints else "[,;，；]"),
    )
