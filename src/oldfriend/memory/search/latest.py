"""Does a question ask for the latest of something? Then the newest of all that answers is first.

By its words, in the languages of the companion; "last week" is a time, and "last name" a name.
"""

import re
from collections.abc import Sequence
from typing import Final

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
COMPARABLE: Final = 0.5
"""What answers at least half as well as the best is put in order of time."""


def asks_for_the_latest(text: str) -> bool:
    """Whether it is the newest that is wanted, of all that answers."""
    said = _NOT_MEANT.sub(" ", text.casefold().replace("’", "'"))
    return _LATEST.search(said) is not None


def newest_first(scores: Sequence[float], moments: Sequence[int]) -> list[int]:
    """The places of what was found, best first, with all that compares with the best by time."""
    if not scores:
        return []
    answering = sum(score >= COMPARABLE * scores[0] for score in scores)
    order = sorted(range(answering), key=lambda place: -moments[place])
    return [*order, *range(answering, len(scores))]
