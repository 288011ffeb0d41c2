"""Words of others, words taken back and words only supposed are not read as the person's own."""

from dataclasses import replace
from typing import Final

import pytest

from oldfriend.learning.extraction import ExtractionInput
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.validate import validate_extraction
from tests.learning.segment_fixtures import talk

NOT_OWN: Final[tuple[tuple[str, str], ...]] = (
    # the source stands behind the words
    ("en", "I live in Berlin, says the postcard from Tom."),
    ("en", "I live in Berlin, it says on the postcard from Tom."),
    ("en", "I work as a nurse, reads the sign on her door."),
    ("en", "I am allergic to nuts, according to Tom's profile."),
    ("de", "Ich wohne in Berlin, steht auf der Postkarte von Tom."),
    ("es", "Vivo en Berlín, dice la postal de Tom."),
    ("fr", "J'habite à Berlin, dit la carte postale de Tom."),
    ("zh", "我住在柏林，汤姆的明信片上写着。"),
    # in a heading
    ("en", "Tom's words:\nI live in Berlin."),
    ("en", "Tom's words: I live in Berlin."),
    ("en", "Words of Tom:\nI live in Berlin."),
    ("de", "Toms Worte:\nIch wohne in Berlin."),
    ("es", "Palabras de Tom:\nVivo en Berlín."),
    ("zh", "汤姆的话：\n我住在柏林。"),
    # in who types
    ("en", "Viktor here. I moved to Oslo."),
    ("en", "Viktor speaking. I live in Oslo."),
    ("de", "Viktor hier. Ich bin nach Oslo gezogen."),
    ("es", "Aquí Viktor. Me mudé a Oslo."),
    ("fr", "Ici Viktor. J'ai déménagé à Oslo."),
    # in a line of a chat
    ("en", "see you\n12/03/2024, 10:15 - +49 170 1234567: I live in Berlin."),
    # taken back
    ("en", "I'm married, NOT!"),
    ("en", "I live in Oslo, psych!"),
    ("de", "Ich bin verheiratet, NICHT!"),
    ("es", "Estoy casada, ¡NO!"),
    # supposed
    ("en", "Suppose the following. I live in Oslo."),
    ("en", "Let's assume the following. I am married."),
    ("en", "Imagine this. I live in Oslo."),
    ("es", "Imagina esto. Vivo en Oslo."),
    ("de", "Stell dir Folgendes vor. Ich wohne in Oslo."),
    ("de", "Nehmen wir Folgendes an. Ich wohne in Oslo."),
    ("es", "Supongamos lo siguiente. Vivo en Oslo."),
    ("fr", "Supposons ceci. J'habite à Oslo."),
    ("zh", "假设如下。我住在奥斯陆。"),
)
OWN: Final[tuple[tuple[str, str], ...]] = (
    ("en", "I live in Berlin, says my passport."),
    ("en", "I live in Berlin, and Tom says it suits me."),
    ("en", "My news:\nI live in Berlin."),
    ("en", "Big update:\nI live in Berlin."),
    ("en", "It's official: I live in Berlin."),
    ("en", "Nora here. I moved to Oslo."),
    ("en", "This is great. I moved to Oslo."),
    ("en", "Winter here. I moved to Oslo."),
    ("en", "I moved to Oslo. Not bad!"),
    ("en", "I'm married, not engaged."),
    ("en", "I suppose it's fine. I live in Oslo."),
    ("en", "Imagine that! I moved to Oslo."),
    ("en", "Imagine that. I moved to Oslo."),
    ("de", "Stell dir das vor. Ich bin nach Oslo gezogen."),
    ("es", "Imagínate eso. Me mudé a Oslo."),
    ("fr", "Imagine ça. J'ai déménagé à Oslo."),
    ("de", "Nora hier. Ich bin nach Oslo gezogen."),
    ("de", "Ich bin verheiratet, nicht ledig."),
    ("es", "Aquí Nora. Me mudé a Oslo."),
    ("fr", "Ici Nora. J'ai déménagé à Oslo."),
)


@pytest.mark.parametrize(("language", "text"), NOT_OWN)
def test_words_that_are_not_meant_as_ones_own_are_not_believed(language: str, text: str) -> None:
    """By their source, their heading, who types, or what is said of them."""
    assert not _read(_say(text, language))


@pytest.mark.parametrize(("language", "text"), OWN)
def test_similar_words_of_ones_own_are_believed(language: str, text: str) -> None:
    """Though they have a heading, a name or a "not", too."""
    assert _read(_say(text, language))


def test_who_has_no_name_yet_may_say_it() -> None:
    """Whose message it is cannot be told by the name of somebody who has none."""
    material = _say("This is Viktor. I moved to Oslo.", "en")
    unnamed = replace(material, person=replace(material.person, name="owner"))

    assert _read(unnamed)


def _say(text: str, language: str) -> ExtractionInput:
    """One message as it stands."""
    material = talk("Hello.", language=language)
    (message,) = material.messages
    return replace(material, messages=(replace(message, text=text, language=language),))


def _read(material: ExtractionInput) -> list[str]:
    """What the rules read, and the gates let through."""
    checked = validate_extraction(extract_with_rules(material), material)
    return [each.text for each in checked.extraction.claims]
