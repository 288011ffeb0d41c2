"""Thought grounding: rejects thoughts that use words nobody has said.

Whether something praises, blames or predicts cannot be decided by word lists, because there are
always new words. Whether a word was said, or only connects what was said, can. So each word must
stand in what the model was shown, or among the few that connect and soften (``plain`` in
the file ``judgment`` of its pack). This may reject a good thought; a missing one costs nothing.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.learning.validation.cue_words import fold_characters
from oldfriend.learning.validation.tone_of_judgment import (
    is_marked_as_maybe,
    load_judgement_patterns,
    load_synonym_groups,
    load_word_list,
)
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize

ROOT_LENGTH: Final = 5
"""Initial letters that forms and compounds of one word share."""


def is_grounded(text: str, sources: Sequence[str], *, language: str) -> bool:
    """Return whether all content of a text was said."""
    return not list_ungrounded_words(text, sources, language=language)


def list_ungrounded_words(text: str, sources: Sequence[str], *, language: str) -> list[str]:
    """Return the words of a text that nobody has said, apart from connectives."""
    causal_words = get_causal_words(text, language)
    asserted = load_judgement_patterns(choose_language(language)).supposition_statements.sub(
        " ", fold_characters(text)
    )
    plain = load_word_list("connectives", language) - causal_words
    said_words = {word for each in sources for word in tokenize(fold_characters(each))}
    synonyms = expand_synonyms(sources, said_words, plain, language)
    stems = {stem_word(word, language) for word in said_words | plain}
    roots = {root for word in said_words for root in get_roots(word)}
    unsaid_causes = causal_words - said_words
    known = (
        said_words
        | synonyms
        | {f"{word}s" for word in said_words}
        | {word.removesuffix("s") for word in said_words}
    )
    return [
        word
        for word in tokenize(drop_connectives(asserted, plain | synonyms))
        if word in unsaid_causes
        or not (
            word in known
            or is_stop_word(word, language)
            or stem_word(word, language) in stems
            or word.isdecimal()
            or not roots.isdisjoint(get_roots(word))
            or (is_unspaced(word) and len(word) > 1)
        )
    ]


def get_causal_words(text: str, language: str) -> frozenset[str]:
    """Return the words that give a reason; none if the text marks itself as a guess."""
    patterns = load_judgement_patterns(choose_language(language))
    return (
        frozenset()
        if is_marked_as_maybe(fold_characters(text), patterns)
        else load_word_list("causal_words", language)
    )


def expand_synonyms(
    sources: Sequence[str], heard: set[str], connectives: frozenset[str], language: str
) -> frozenset[str]:
    """Return other forms and synonyms of what was said; connectives have none."""
    source_text = fold_characters(" ".join(sources))
    return frozenset(
        word
        for synonyms in load_synonym_groups(language)
        if any(
            each in source_text if is_unspaced(each) else each in heard
            for each in synonyms
            if each not in connectives and not is_stop_word(each, language)
        )
        for word in synonyms
    )


def get_roots(word: str) -> set[str]:
    """Return the roots that forms and compounds of a word share, also without a German "ge"."""
    if is_unspaced(word):
        return set()
    is_participle = word.startswith("ge") and word.endswith(("t", "en"))
    bare = word.removeprefix("ge") if is_participle else word
    return {each[:ROOT_LENGTH] for each in (word, bare) if len(each) >= ROOT_LENGTH}


def drop_connectives(text: str, connectives: frozenset[str]) -> str:
    """Return a text without connectives, in scripts without spaces."""
    shown = fold_characters(text)
    if not any(is_unspaced(each) for each in connectives):
        return shown
    for word in sorted(connectives, key=len, reverse=True):
        shown = shown.replace(word, " ")
    return shown
