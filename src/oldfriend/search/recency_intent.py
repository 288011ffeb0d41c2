"""Recency intent: whether a question asks for the latest of something, and the newest-first order.

Decided by words, in the languages of the companion; "last week" is a time and "last name" a name.
A question about how somebody is doing asks for the latest, too.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from oldfriend.search.types import Reason

_UNITS = (
    r"(?:name|night|day|week|weekend|month|year|spring|summer|autumn|fall|winter|term|season"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d+|few|two|three|four|five|six)s?"
)
_UNIDADES = (
    r"(?:nombre|noche|día|dia|semana|mes|año|verano|invierno|otoño|primavera|\d+|dos|tres|cuatro"
    r"|cinco|seis|lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?:e?s)?"
)
_UNITES = (
    r"(?:nom|nuit|jour|semaine|mois|an|année|été|hiver|automne|printemps|\d+|deux|trois|quatre"
    r"|cinq|six|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?"
)
_EINHEITEN = (
    r"(?:name|nacht|tag|woche|wochenende|monat|jahr|sommer|winter|herbst|frühling|\d+|zwei|drei"
    r"|vier|fünf|sechs|paar|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)(?:e?[ns])?"
)
_LATEST: Final = re.compile(
    rf"\b(?:latest|newest|most recent(?:ly)?|(?<!at )last(?! {_UNITS}\b)"
    rf"|últim[oa]s?(?! {_UNIDADES}\b)|más recientes?"
    rf"|derni(?:er|ère)s?(?! {_UNITES}\b)|plus récente?s?"
    rf"|letzte[nrsm]?(?! {_EINHEITEN}\b)|neue?ste[nrsm]?|jüngste[nrsm]?|zuletzt)\b"
    r"|最近一|最近那|最新|上次|上一次|上回|最后一[次回个]"
)
_NOT_MEANT: Final = re.compile(rf"\b{_UNITES} derni(?:er|ère)s?\b|\bhow long\b.*")
"""No question for the latest: "la semaine dernière", or the verb in "how long does it last?"."""
_WHOM = r"[^\s?]+(?: [^\s?]+){0,5}"
_HOW_SOMEBODY_IS: Final = re.compile(
    r"(?:^|[.!?…,¿] *|\b(?:so|and|know|tell me|y|sabes|und|weißt du|et|sais) )(?:"
    r"how(?:'s|'re| is| are| has| have) (?!i\b|.*\b(?:called|named|related|tied|connected|made|done"
    rf"|written|spel(?:led|t)|pronounced|cooked|used)\b){_WHOM}"
    rf"|c[óo]mo (?:est[áa]n?|siguen?|andan?|l[ea]s? va|se (?:encuentran?|sienten?)) {_WHOM}"
    rf"|wie (?:geht(?:'?s| es)|steht es um|läuft es (?:bei|mit)) {_WHOM}"
    rf"|comment (?:vont|va|se port(?:e|ent)|se sent(?:ent)?) {_WHOM}"
    r")\s*[?!.]*\s*$"
    r"|(?<!我)(?<!我最近)(?<!我现在)(?<!我过得)(?:怎么样|怎样|还好|好点|好些|好吗)[了吗没有]*\s*[?？]*\s*$"
)
"""Questions about how somebody, or something of theirs, is doing now."""
COMPARABLE_SCORE: Final = 0.5
COMPARABLE_COVERAGE: Final = 0.8
"""Share of the best score, or of the best word coverage, from which on hits are sorted by time."""


def is_recency_query(text: str) -> bool:
    """Tell whether a question wants the newest of all that answers."""
    folded = _NOT_MEANT.sub(" ", text.casefold().replace("’", "'"))
    return _LATEST.search(folded) is not None or _HOW_SOMEBODY_IS.search(folded) is not None


class RecencyCandidate(NamedTuple):
    """What the newest-first order needs to know of a hit."""

    score: float
    reasons: tuple[Reason, ...]
    timestamp: int

    @property
    def word_coverage(self) -> float:
        """Share of the question's words, by weight, that the hit contains."""
        return max((each.strength for each in self.reasons if each.cause == "words"), default=0.0)


def rank_newest_first(best_first: Sequence[RecencyCandidate]) -> list[int]:
    """Return indices of hits: those comparable to the best, newest first, then the others."""
    if not best_first:
        return []
    best = best_first[0]
    comparable = [
        place
        for place, each in enumerate(best_first)
        if each.score >= COMPARABLE_SCORE * best.score
        or 0 < COMPARABLE_COVERAGE * best.word_coverage <= each.word_coverage
    ]
    newest = sorted(comparable, key=lambda place: -best_first[place].timestamp)
    return [*newest, *(place for place in range(len(best_first)) if place not in comparable)]
