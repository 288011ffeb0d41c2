"""What of all that a model was shown can be heard in its reply?

A model does not say what it has used. Words that a reply has in common with something it was shown,
and not with the question, are what anybody can check. It does not know whose words they are.
"""

from collections.abc import Sequence

from oldfriend.memory.search.words import is_stop_word, stem_of, words_in


def heard(reply: str, asked: str, shown: Sequence[str], *, language: str) -> list[int]:
    """How much of each thing shown can be heard in a reply; in words of the question, if need be.

    All 0 where the reply has nothing in common with any of them.
    """
    said = telling(reply, language)
    terms = [telling(each, language) for each in shown]
    new = [len(each & (said - telling(asked, language))) for each in terms]
    return new if any(new) else [len(each & said) for each in terms]


def telling(text: str, language: str) -> frozenset[str]:
    """The words of a text that say something: neither common ones nor single letters."""
    return frozenset(
        stem_of(word, language)
        for word in words_in(text)
        if word.isdigit() or (len(word) > 1 and not is_stop_word(word, language))
    )
