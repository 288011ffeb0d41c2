"""Does a question ask for the latest of something? Then the newest of all that answers is first.

By its words, in the languages of the companion; "last week" is a time, and "last name" a name. Who
asks how somebody is wants to know how they are by now, too.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from oldfriend.memory.search.values import Reason

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
"""French says "la semaine dernière"; and "how long does it last?" is a verb."""
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
"""How somebody is, or something of theirs: by now."""
COMPARABLE: Final = 0.5
AS_MANY_WORDS: Final = 0.8
"""What answers half as well as the best, or holds nearly as much of the question's words, is put in
order of time."""


def asks_for_the_latest(text: str) -> bool:
    """Whether it is the newest that is wanted, of all that answers."""
    said = _NOT_MEANT.sub(" ", text.casefold().replace("’", "'"))
    return _LATEST.search(said) is not None or _HOW_SOMEBODY_IS.search(said) is not None


class Answer(NamedTuple):
    """What counts of something that was found."""

    score: float
    why: tuple[Reason, ...]
    moment: int

    @property
    def words(self) -> float:
        """How much of what the question's words tell stands in it."""
        return max((each.strength for each in self.why if each.cause == "words"), default=0.0)


def newest_first(best_first: Sequence[Answer]) -> list[int]:
    """The places of what was found, with all that compares with the best in order of time."""
    if not best_first:
        return []
    best = best_first[0]
    comparing = [
        place
        for place, each in enumerate(best_first)
        if each.score >= COMPARABLE * best.score or 0 < AS_MANY_WORDS * best.words <= each.words
    ]
    newest = sorted(comparing, key=lambda place: -best_first[place].moment)
    return [*newest, *(place for place in range(len(best_first)) if place not in comparing)]
