"""Simple statements: reads the key and value of a short plain statement about its author.

Used for text kept in the person's own words, such as a note. Knows no messages.
"""

from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.rule_extraction.claim_builder import rendered, third_person
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import sentences_in, starts_in

LONGEST: Final = 120
"""Characters; what is longer says more than one thing."""
_KEPT: Final = 4_096


@text_lru_cache(_KEPT)
def parse_plain_statement(text: str, language: str) -> tuple[str, str] | None:
    """The key and value that a text gives, where it says that and no more."""
    if len(text) > LONGEST or language not in list_languages("rules"):
        return None
    book = load_rule_book(language)
    sentences = list(sentences_in(text, book))
    return stated(sentences[0][1], book) if len(sentences) == 1 else None


def stated(sentence: str, book: RuleBook) -> tuple[str, str] | None:
    """The key and value that a whole sentence gives."""
    for place in starts_in(sentence, book):
        for rule in book.rules:
            for said in rule.said if rule.key else ():
                found = said.match(sentence, place)
                groups = found and third_person(found, rule, book)
                if found and groups and not says_more(sentence[found.end() :]):
                    return rule.key, rendered(rule.value, groups, "", None, book, is_sentence=False)
    return None


def says_more(rest: str) -> bool:
    """Whether there is more than marks."""
    return any(character.isalnum() for character in rest)


@text_lru_cache(_KEPT)
def parse_new_role(text: str, language: str) -> str:
    """What a text says that somebody has become, where it says that and no more; else ""."""
    if len(text) > LONGEST or language not in list_languages("rules"):
        return ""
    found = load_rule_book(language).became.fullmatch(text.strip(" .!。！"))
    return found["value"].strip() if found else ""
