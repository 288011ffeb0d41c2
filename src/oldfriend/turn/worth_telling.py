"""What of all that came to mind is an answer, for whoever only quotes? Beside the point is none.

Says nothing itself.
"""

from typing import Final

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.domain.ties import RELATION_OF
from oldfriend.memory.restating import restated
from oldfriend.memory.search import named_in
from oldfriend.memory.search.asked_for import names_of_kin
from oldfriend.memory.search.liking import says_otherwise
from oldfriend.memory.search.matters import words_of
from oldfriend.memory.search.past import tells_of_before, without_before
from oldfriend.memory.search.questions import Matter, names_any
from oldfriend.memory.search.whose import tells_only_of_kin
from oldfriend.memory.search.words import is_unspaced
from oldfriend.turn.recall import Recalled, Recollection, Remembered

MUCH_BETTER = 0.75
"""Exact words are told instead of a belief that is so much less likely to answer."""
BLURRED: Final = frozenset({"de", "es", "fr"})
"""Spoken languages in which the embedder that ships finds everything alike."""
ONE_STATEMENT = 160
"""Characters; what is longer says more than what is put right of it."""
TELLING = frozenset({"words", "date", "said_by", "mentions", "answers"})


def in_place_of_words(recollection: Recollection) -> list[Remembered]:
    """The beliefs that the person has written anew since they said the words that answer best."""
    if not (recollection.is_good_enough and recollection.found):
        return []
    best = recollection.found[0].message.id
    return [each for each in recollection.beliefs if best in each.overwritten]


def may_answer(remembered: Remembered, matter: Matter | None) -> bool:
    """Whether a belief may answer that is no value of what is asked for: not as one of another."""
    memory = remembered.known.memory
    return matter is None or not (memory.key or memory.kind in {"commitment", "expectation"})


def tells_who(remembered: Remembered) -> bool:
    """Whether a belief tells who somebody is, and the question says no more than their name."""
    is_relation = remembered.known.memory.key.endswith(RELATION_OF)
    return is_relation and holds_only_names(remembered)


def is_spoken_of(recalled: Recalled, recollection: Recollection) -> bool:
    """Whether words speak of somebody whom the question names."""
    return bool(named_in(recalled.message.text, recollection.named))


def may_tell_of_then(recalled: Recalled, recollection: Recollection) -> bool:
    """Whether words speak of before, where that is asked; or were said at the time asked about."""
    if recollection.asks_before:
        return tells_of_before(recalled.message.text) and is_not_only_of_before(recalled)
    return any(reason.cause == "date" for reason in recalled.hit.why)


def is_not_only_of_before(recalled: Recalled) -> bool:
    """Whether more of a question is told than that it was before: of a home, not of a saxophone."""
    said = recalled.message.text.casefold()
    rest = without_before(said)
    words = [word for each in recalled.hit.why if each.cause == "words" for word in each.words]
    is_close = any(each.cause == "meaning" for each in recalled.hit.why)
    return is_close or any(word in rest or word not in said for word in words)


def is_better_said(recollection: Recollection) -> bool:
    """Whether exact words answer so much better that any belief would be beside the point."""
    if not (recollection.is_good_enough and recollection.found):
        return False
    if holds_only_names(recollection.beliefs[0]):
        return recollection.answerable > recollection.believable * MUCH_BETTER
    return recollection.answerable * MUCH_BETTER > recollection.believable


def has_newer_words(recollection: Recollection) -> bool:
    """Whether how it is by now, where that is asked, was told after the words for any belief."""
    if not (recollection.asks_for_latest and recollection.is_good_enough):
        return False
    newest = recollection.found[0].message.at
    return all(each.known.standing.last_seen < newest for each in recollection.beliefs)


def says_the_opposite(recalled: Recalled, recollection: Recollection) -> bool:
    """Whether words tell what they cannot stand to who asks what they like, or the other way."""
    liking = recollection.liking
    return liking is not None and says_otherwise(recalled.message.text, liking)


def is_put_right(recalled: Recalled, recollection: Recollection) -> bool:
    """Whether somebody has put right since what they said there; the newer words tell both."""
    old = recalled.message
    return len(old.text) <= ONE_STATEMENT and any(
        each.message.at > old.at
        and each.message.author == old.author
        and len(each.message.text) <= ONE_STATEMENT
        and restated(each.message.text, old.text, old.language or "") is not None
        for each in recollection.found
    )


def holds_only_names(remembered: Remembered) -> bool:
    """Whether a belief about somebody holds no word of what was asked but who that is."""
    words = {word for reason in remembered.why if reason.cause == "words" for word in reason.words}
    about, _, _ = remembered.known.memory.key.lower().rpartition(":")
    names = set(about.split())
    return bool(about) and all(
        word in names or (is_unspaced(word) and word in about) for word in words
    )


def is_telling(recalled: Recalled, language: str) -> bool:
    """Whether a message may be quoted as an answer.

    Where everything is close in meaning, closeness tells nothing: there it must hold a word of
    the question, or be what the question asks for by name or date.
    """
    causes = {reason.cause for reason in recalled.hit.why}
    return language not in BLURRED or bool(causes & TELLING)


def is_close_in_meaning(recalled: Recalled, language: str) -> bool:
    """Whether a message means nearly the same; where everything does, none."""
    return language not in BLURRED and any(each.cause == "meaning" for each in recalled.hit.why)


def may_tell_what_is_asked(recalled: Recalled, recollection: Recollection) -> bool:
    """Whether words speak of what is asked for, or of whom by name: "Eva" for "my sister"."""
    matter, text = recollection.matter, recalled.message.text
    if matter is None or matter.may_be_told_by(text):
        return matter is None or bool(matter.words) or is_more_than_a_sign(recalled, matter)
    if matter.is_of_another_s or (matter.is_own and not matter.is_promise):
        return False
    kin = names_of_kin((each.known for each in recollection.beliefs), matter)
    return names_any(kin, text) or is_spoken_of(recalled, recollection)


def is_more_than_a_sign(recalled: Recalled, matter: Matter) -> bool:
    """Whether words hold more of a question than one sign of a script without spaces.

    天 of 哪天 is no birthday; of a home 住 is enough, which is a word for what is asked.
    """
    language = recalled.message.language or ""
    words = [word for each in recalled.hit.why if each.cause == "words" for word in each.words]
    if language not in CJK_LANGUAGES or any(len(word) > 1 for word in words):
        return True
    meant = frozenset(word for key in matter.keys for word in words_of(key, language))
    return names_any(meant, recalled.message.text)


def is_of_whom_is_asked(recalled: Recalled, recollection: Recollection) -> bool:
    """Whether words are of, or by, somebody of whom a fact is asked."""
    matter, named, message = recollection.matter, recollection.named, recalled.message
    if matter is not None and matter.is_own and not matter.words:
        return not tells_only_of_kin(message.text, message.language or "")
    if matter is None or matter.is_own or not named:
        return True
    return is_spoken_of(recalled, recollection) or bool(named_in(message.speaker, named))


def is_beside(recalled: Recalled) -> bool:
    """Whether only what stands around a message speaks for it; then it is quoted after that."""
    return not any(reason.cause in {"words", "meaning"} for reason in recalled.hit.why)
