"""How is a thing told that one asks for with "did"? "What did I buy?": "I bought a bicycle."

The other languages ask with the form in which it is told, and regular verbs have one stem.
"""

import re
from dataclasses import replace
from typing import Final

from oldfriend.memory.search.asking import Asked, QueryWord
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.values import Question
from oldfriend.memory.search.words import term_of

_PAST: Final = (
    "become became|begin began|bite bit|blow blew|break broke|bring brought|build built|burn burnt"
    "|buy bought|catch caught|choose chose|come came|dig dug|draw drew|dream dreamt"
    "|drink drank|drive drove|eat ate|fall fell|feed fed|feel felt|fight fought|find found|fly flew"
    "|forget forgot|forgive forgave|freeze froze|get got|give gave|go went|grow grew|hang hung"
    "|hear heard|hide hid|hold held|keep kept|know knew|lead led|learn learnt|leave left"
    "|lend lent|lose lost|make made|mean meant|meet met|pay paid|ride rode|ring rang|rise rose"
    "|run ran|say said|see saw|sell sold|send sent|shoot shot|sing sang"
    "|sit sat|sleep slept|speak spoke|spend spent|stand stood|steal stole|swim swam|take took"
    "|teach taught|tear tore|tell told|think thought|throw threw|understand understood|wake woke"
    "|wear wore|win won|write wrote"
)
_PAST_OF: Final = dict(each.split() for each in _PAST.split("|"))
_DID: Final = re.compile(rf"\bdid (?:(?!to\b)[\w'’-]+ ){{1,3}}?(?P<verb>{'|'.join(_PAST_OF)})\b")


def as_told(asked: Asked, question: Question, index: PersonIndex) -> Asked:
    """The question with its verb in the form in which somebody has told what they did."""
    plain = _verb_of(question)
    if plain is None:
        return asked
    told = _PAST_OF[plain]
    languages = dict.fromkeys((question.language, *index.numbering.languages.known))
    terms = tuple(dict.fromkeys(term_of(told, language) for language in languages))
    if not index.knows([terms])[0]:
        return asked
    word = QueryWord(surface=told, terms=terms)
    words = tuple(word if each.surface == plain else each for each in asked.words)
    return replace(asked, words=words)


def _verb_of(question: Question) -> str | None:
    """The verb of what somebody did, where it has a form of its own for that."""
    found = _DID.search(question.text.lower()) if question.language == "en" else None
    return None if found is None else found["verb"]
