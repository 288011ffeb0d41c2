"""How was it said? Asked, imagined, merely assented to, or told of somebody else: all no evidence.

Looks at the sentences that a quote is part of, and of those at the ones that share words with the
claim, so that "Question for you. Should I …?" is a question. Irony is not understood.
"""

import re
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.borrowed import borrowed_fault
from oldfriend.background.gates.clauses import clauses_of, closest_clauses, terms_in
from oldfriend.background.gates.modality import DOUBTED, modal_fault
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.talk import Talk, spoken_in
from oldfriend.background.gates.telltales import Telltales, folded, telltales_of
from oldfriend.domain.messages import Message
from oldfriend.memory.search.words import is_stop_word, words_in
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.turn.perceive import is_question, sentences_of

WORD: Final = re.compile(r"[^\W_]+")
CLAUSE: Final = re.compile(r"[,;:.!?\n\u2026\u2014\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f]+")
FEWEST_TOLD: Final = 3
"""Words before a tag such as "you know?" that tell something."""
EMPTY_WORDS: Final = 4
"""So many small words may say something by themselves ("I can't go on"); fewer do not."""
SUPPOSED: Final = 0.5
"""A claim of whose words the companion has said so large a part, and the person none, is its."""
FEWEST_CLAUSES: Final = 2
FEW_WORDS: Final = 6
"""So few words say nothing but what was asked for."""
OF_ONESELF: Final = frozenset({"fact", "preference", "pattern", "triple"})


def flaw_of(claim: Claim, place: Place, talk: Talk) -> Reason | None:
    """Why words of the right author tell nothing all the same."""
    told, sentences = spoken_in(place), sentences_for(claim, place)
    if (borrowed := borrowed_fault(claim, place)) is not None:
        return borrowed
    if is_answer_to_supposition(claim, place, talk):
        return "imagined"
    if (unsaid := modal_fault(claim, place, told)) is not None:
        return unsaid
    wants = claim.kind == "commitment" and not any("?" in folded(each) for each in sentences)
    if not wants and all(asks_of(claim, each, told, place) for each in sentences):
        return "question"
    if is_assent(place.text, told):
        return None if answers_a_question(place, talk) else "companion's suggestion"
    if says_nothing(place.text, place.message.language, told):
        return "no quote"
    if is_about_another(claim, place, talk):
        return "about another"
    return "companion's suggestion" if is_supposed_by_companion(claim, place, talk) else None


def asks_of(claim: Claim, sentence: str, told: Telltales, place: Place) -> bool:
    """Whether a sentence asks, where it speaks of what is claimed."""
    language = place.message.language
    if not asks(sentence, told, language):
        return False
    plain = told.laughter.sub("", folded(sentence))
    clauses = clauses_of(sentence)
    if "?" in plain or len(clauses) < FEWEST_CLAUSES or claim.text.isascii():
        return True
    words = terms_in(f"{claim.text} {claim.value}", language)
    near = [each for each in clauses if words & terms_in(each.text, language)]
    return all(asks(each.text, told, language) for each in near or clauses)


def sentences_for(claim: Claim, place: Place) -> tuple[str, ...]:
    """The sentences around a quote that share words with a claim; all, where none does."""
    language = place.message.language
    words = terms_in(f"{claim.text} {claim.value}", language)
    sentences = tuple(place.sentences()) or (place.text,)
    return tuple(each for each in sentences if words & terms_in(each, language)) or sentences


def closest_sentences(claim: Claim, place: Place) -> tuple[str, ...]:
    """Of the sentences around a quote those that share most words with a claim."""
    language = place.message.language
    words = terms_in(f"{claim.text} {claim.value}", language)
    sentences = tuple(place.sentences()) or (place.text,)
    shared = [len(words & terms_in(each, language)) for each in sentences]
    return tuple(each for each, n in zip(sentences, shared, strict=True) if n == max(shared))


def asks(sentence: str, told: Telltales, language: str) -> bool:
    """Whether a sentence is a question that tells nothing."""
    sentence = told.laughter.sub("", sentence)
    plain = folded(sentence)
    if not is_question(sentence, phrasebook(spoken_language(language))):
        return False
    if "?" not in plain and told.exclaimed.search(plain):
        return False
    found = told.telling_question.search(plain)
    if found is None:
        return True
    rest = plain[found.end() :] if found.start() == 0 else plain[: found.start()]
    return len(words_in(rest)) < FEWEST_TOLD


def is_assent(words: str, told: Telltales) -> bool:
    """Whether words say no more than yes, maybe or no."""
    spoken = WORD.findall(folded(words).lower())
    return bool(spoken) and all(word in told.assent for word in spoken)


def answers_a_question(place: Place, talk: Talk) -> bool:
    """Whether what was said just before asked plainly, and suggested nothing."""
    asked = answered(place, talk)
    if asked is None:
        return False
    told = telltales_of(asked.language)
    return not any(told.suggestion.search(folded(each)) for each in questions_in(asked))


def answered(place: Place, talk: Talk) -> Message | None:
    """The message just before that asks something; None where nobody has asked."""
    asked = just_before(place, talk)
    if asked is None or asked.trust not in {"companion", "other"} or not questions_in(asked):
        return None
    return asked


def questions_in(message: Message) -> list[str]:
    """The questions in a message."""
    book = phrasebook(spoken_language(message.language))
    return [each for each in sentences_of(message.text) if is_question(each, book)]


def just_before(place: Place, talk: Talk) -> Message | None:
    """The last message of somebody else before the one that is quoted."""
    before = talk.before(place.message)
    return next((each for each in reversed(before) if each.trust != place.message.trust), None)


def says_nothing(words: str, language: str, told: Telltales) -> bool:
    """Whether words are a few small ones that could stand anywhere."""
    spoken = words_in(words)
    if len(spoken) >= EMPTY_WORDS or told.strong.search(folded(words)):
        return False
    return all(is_stop_word(word, language) for word in spoken)


def is_about_another(claim: Claim, place: Place, talk: Talk) -> bool:
    """Whether what is claimed of the person was said of somebody else ("Ana hates it")."""
    if is_likened(claim, place, spoken_in(place), talk):
        return True
    if claim.subject != "person" or claim.kind not in OF_ONESELF or place.message.trust == "other":
        return False
    told, clause = spoken_in(place), folded(clause_of(place))
    if told.reported.search(clause):
        return True
    closest = [each.text for each in closest_clauses(claim, place)]
    closest = closest or list(closest_sentences(claim, place))
    if all(is_of_others(each, told) for each in closest) and not told.whom.search(claim.text):
        return True
    if claim.kind == "pattern" and is_named_first(claim, talk):
        return True
    whom = named_first(clause, told, talk)
    if not whom or whom.casefold() in claim.text.casefold():
        return False
    rest = clause[clause.casefold().find(whom.casefold()) + len(whom) :]
    return not told.whom.search(claim.text) and not told.speaker.search(rest)


def is_named_first(claim: Claim, talk: Talk) -> bool:
    """Whether a pattern is of somebody who is named at its beginning: it is not the person's."""
    plain = claim.text.casefold()
    names = {*talk.names, *map(str.casefold, claim.names)}
    begun = (plain[len(name) :] for name in names if name and plain.startswith(name))
    return any(rest[:1] == " " and not rest.startswith(" and ") for rest in begun)


def is_of_others(sentence: str, told: Telltales) -> bool:
    """Whether a sentence is about somebody else, and does not speak of the speaker."""
    plain = folded(sentence).strip()
    found = told.of_others.search(plain)
    return found is not None and not told.speaker.search(plain[found.end() :])


def clause_of(place: Place) -> str:
    """The words that are quoted, from where their clause begins."""
    breaks = [found.end() for found in CLAUSE.finditer(place.message.text, 0, place.start)]
    return place.message.text[max(breaks, default=0) : place.end].strip()


def named_first(clause: str, told: Telltales, talk: Talk) -> str:
    """Whom a clause begins with: a name, or "my sister"; nothing where it is nobody."""
    mine = told.of_mine.match(clause)
    whom = told.whom.match(clause, mine.end()) if mine else None
    if whom is not None:
        return whom.group()
    plain = clause.casefold()
    return next((name for name in talk.names if name and plain.startswith(name)), "")


def is_likened(claim: Claim, place: Place, told: Telltales, talk: Talk) -> bool:
    """Whether who a claim begins with is named only for comparison ("cold, like Tom")."""
    plain, said = claim.text.casefold(), folded(place.message.text).casefold()
    names = [each for each in {*talk.names, *map(str.casefold, claim.names)} if each]
    whom = max((each for each in names if plain.startswith(each)), key=len, default="")
    found = [each.start() for each in re.finditer(re.escape(whom), said)] if whom else []
    return bool(found) and all(told.likened.search(said[:at]) for at in found)


def is_answer_to_supposition(claim: Claim, place: Place, talk: Talk) -> bool:
    """Whether few words answer what was asked of how something would be: nothing is so by it."""
    if claim.kind not in DOUBTED or len(words_in(place.message.text)) > FEW_WORDS:
        return False
    asked = answered(place, talk)
    if asked is None:
        return False
    told = telltales_of(asked.language)
    return all(told.supposing.search(folded(each)) for each in questions_in(asked))


def is_supposed_by_companion(claim: Claim, place: Place, talk: Talk) -> bool:
    """Whether the words of a claim are the companion's, and none of them the person's own."""
    language = talk.language
    words = terms_in(claim.value or claim.text, language)
    if not words or words & terms_in(place.message.text, language):
        return False
    before = talk.before(place.message)
    supposed = " ".join(each.text for each in before if each.trust == "companion")
    if len(words & terms_in(supposed, language)) < SUPPOSED * len(words):
        return False
    own = " ".join(each.text for each in before if each.trust == "person")
    return not words & terms_in(own, language) and not answers_a_question(place, talk)
