"""Message subjects: the relative or possession of the speaker that a text is about."""

from oldfriend.search import list_named_entities
from oldfriend.search.role_references import RoleReference, find_role_references
from oldfriend.search.subject_query import find_belongings, is_only_about_kin
from oldfriend.search.synonyms import list_role_keys
from oldfriend.search.tokenizer import is_stop_word, tokenize
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for
from oldfriend.turn.attribution.spans import find_sentences
from oldfriend.turn.recalled import RecalledMessage, RecallResult


def is_of_other_subject(text: str, language: str, other: str, other_language: str) -> bool:
    """Tell whether two texts are about different ones of those and things of their speaker's.

    "My dog is called Rex" is not about the cat; where one says of nothing whose it is, nothing is
    known. What the speaker tells of themselves is not about a relative.
    """
    roles, others = list_meant_roles(text, language), list_meant_roles(other, other_language)
    if has_common_role(roles, others):
        return False
    things, other_things = list_own_things(text, language), list_own_things(other, other_language)
    if not (things.isdisjoint(tokenize(other)) and other_things.isdisjoint(tokenize(text))):
        return False
    if (roles or things) and (others or other_things):
        return True
    is_of_self = not (others or other_things) and speaks_of_self(other, other_language)
    return is_of_self and is_only_about_kin(text, language)


def is_of_another_subject(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message is about another one or thing of its speaker's than the question."""
    message = recalled.message
    if list_named_entities(message.text, recall_result.named_entities):
        return False
    language = message.language or ""
    return is_of_other_subject(message.text, language, recall_result.question, language)


def has_same_frame(text: str, question: str, language: str) -> bool:
    """Tell whether a sentence of a text says a question's words, and more in place of what it asks.

    "Bin day is Tuesday" for "when is bin day?".
    """
    asked = tokenize(question)[1:]
    if all(is_stop_word(each, language) for each in asked):
        return False
    said = (tokenize(each.text) for each in find_sentences(text))
    return any({*asked} < {*each} for each in said)


def has_all_words(text: str, question: str, language: str) -> bool:
    """Tell whether a text says all content words of a question, and one more."""
    asked, said = (
        {each for each in tokenize(words) if not is_stop_word(each, language)}
        for words in (question, text)
    )
    return bool(asked) and asked < said


def has_common_role(roles: frozenset[str], others: frozenset[str]) -> bool:
    """Tell whether a role is among others, or one of them a kind of it: a dog is a pet."""
    return any(
        one in list_role_keys(other) or other in list_role_keys(one)
        for one in roles
        for other in others
    )


def list_meant_roles(text: str, language: str) -> frozenset[str]:
    """List the roles by which a text calls somebody: of "my sister's husband" the husband."""
    references = find_role_references(text, language)
    passed = {each.owner.span for each in references if isinstance(each.owner, RoleReference)}
    meant = (each for each in references if each.span not in passed)
    return frozenset(role for each in meant for role in each.role.split("/"))


def list_own_things(text: str, language: str) -> frozenset[str]:
    """List the words, in lower case, for what a text calls the speaker's and is no relative."""
    return frozenset(tokenize(found)[-1] for _, found in find_belongings(text, language))


def speaks_of_self(text: str, language: str) -> bool:
    """Tell whether somebody speaks of themselves in a text."""
    plain = fold_punctuation(text)
    return any(each.self.search(plain) for each in load_cues_for(text, language))
