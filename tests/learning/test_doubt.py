"""Whatever bears a sign that it is another's, or not meant, is not believed without a model."""

import pytest

from oldfriend.learning.doubt import drop_doubtful, find_quoted_part, is_doubtful
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from tests.learning.rule_extraction.saying import material_of, message


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I live in Leeds. Which tram goes to the docks?"),
        ("en", "Please put this into Thai. I am allergic to sesame."),
        ("en", "name | town\nAna | Leeds"),
        ("en", "milk\neggs\nI need a new bike"),
        ("en", "Da stood up and said right, from today I'm off the drink"),
        ("en", "this lady at the door, i've quit my job, and sits down"),
        ("en", "Ana - I live in Leeds"),
        ("en", "This is for the little card of whoever it is: I am allergic to sesame."),
        ("en", "I had a dream about trains, I lived in one"),
        ("en", "I'm the queen of Spain, just kidding"),
        ("de", "Beim Bäcker vor mir so eine: ich bin geschieden"),
        ("de", "bin heut nacht nach Grönland gezogen, dann Wecker"),
        ("fr", "le baron Gontran, je demeure en la tour"),
        ("es", "la tía en la puerta, yo me voy a vivir a Cuba"),
    ],
)
def test_signs_of_doubt_are_seen(language: str, text: str) -> None:
    """Questions, orders, layout, others who speak, dreams and jokes."""
    assert is_doubtful(message(text, language=language))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "i live in leeds with my sister, she drives the 66"),
        ("en", "so my sister is moving in, and i've sold the sofa <3"),
        ("en", "big news: i got the job at the docks"),
        ("de", "Kurzes Update: ich wohne jetzt in Köln"),
        ("fr", "ça y est, j'ai emménagé à Rennes hier"),
        ("es", "ya está, me mudé a Cádiz con mi hermana"),
        ("it", "lavoro da walter, sei anni ormai, mani sempre nere"),
        ("pt", "o caetano é goleiro no clube, treino terça e quinta"),
    ],
)
def test_what_people_tell_of_themselves_bears_none(language: str, text: str) -> None:
    """Also where others are told of, and where news is announced."""
    assert not is_doubtful(message(text, language=language))


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("i drive the 66", None),
        ("it's ana's bike, isn't it", None),
        ("she says “no way” and he says “why not” all day", "“no way” and he says “why not”"),
        ("New neighbor knocks, just ‹I can't stand dogs› and off", "‹I can't stand dogs›"),
    ],
)
def test_a_quotation_is_found_by_its_marks(text: str, quoted: str | None) -> None:
    """Of whatever kind, and with what stands between two."""
    found = find_quoted_part(message(text))

    assert (found and text[found[0] : found[1]]) == quoted


def test_rules_leave_out_what_somebody_else_may_say() -> None:
    """The other messages of the talk are read."""
    inputs = material_of(message("Ana - I live in Leeds"), message("I love jazz.", number=1))
    read = extract_with_rules(inputs)
    kept = drop_doubtful(read, inputs)

    assert len(read.claims) > len(kept.claims)
    assert [each.value for each in kept.claims] == ["jazz"]
