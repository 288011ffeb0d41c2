"""What words frame as worked on, made up, dreamt or told by somebody is not stated."""

import pytest

from oldfriend.turn.attribution.reporting_frames import find_framed_spans, is_open_request
from tests.turn.attribution.attribution_fixtures import words_in

FRAMED = [
    ("en", "Translate this: I keep goats.", "I keep goats."),
    ("en", "Any mistakes in here? I keep goats.", "I keep goats."),
    ("en", "I keep goats.\nCan you rephrase that?", "I keep goats."),
    ("en", "As Greta said: I keep goats.", "I keep goats."),
    ("en", "had a weird dream. I kept goats", "had a weird dream. I kept goats"),
    ("en", "fix the spelling pls\ni keep gaots", "i keep gaots"),
    ("en", "this woman goes, i keep goats", ", i keep goats"),
    ("en", "my nephew at lunch: I keep goats", "I keep goats"),
    ("en", "On the wall of the pub: I keep goats", "I keep goats"),
    ("en", "THE KING: I keep goats", "I keep goats"),
    ("en", "let's continue the story, i'm Zorro", "let's continue the story, i'm Zorro"),
    (
        "en",
        "last night I kept goats, then the alarm rang",
        "last night I kept goats, then the alarm",
    ),
    ("de", "Beispielsatz von heute, ich habe Ziegen", "Beispielsatz von heute, ich habe Ziegen"),
    ("es", "mi primo me suelta tengo cabras", "tengo cabras"),
    ("pt", "diz-me o rapaz do talho, vou criar cabras", "vou criar cabras"),
    ("zh", "师傅跟我吹 我养了一百只羊", "我养了一百只羊"),
    ("es", "Corrígeme esta frase: Tengo cabras.", "Tengo cabras."),
    ("de", "Mein Krimi beginnt so: Ich halte Ziegen.", "Ich halte Ziegen."),
    ("fr", "rends ça plus pro stp : j'ai des chèvres", "j'ai des chèvres"),
    ("zh", "帮我翻译一下：我养羊。", "我养羊。"),
    ("pt", "como disse a Inês: eu tenho cabras", "eu tenho cabras"),
    ("ja", "次の文章を添削してください。\n\n私は羊を飼っています。", "私は羊を飼っています。"),
    ("ja", "もっと丁寧にして→俺は羊を飼ってる", "俺は羊を飼ってる"),
]
OWN = [
    ("en", "I translate novels for a living. I live in Oslo."),
    ("en", "Good news: I moved to Oslo."),
    ("en", "I told my boss: I'm leaving."),
    ("en", "My goals this year: run a 10k"),
    ("en", "We play cards every Friday. I always lose."),
    ("en", "What saves me is music: I play the cello."),
    ("en", "note to self: i promised Theo to ring"),
    ("en", "can you believe it? i start on the 9th"),
    ("es", "prometido: no vuelvo a apostar"),
    ("de", "abgemacht: bis sonntag schick ich die fotos"),
    ("fr", "la nouvelle est tombée : ils ne me renouvellent pas"),
    ("de", "Ich spiele Skat. Jeden Donnerstag."),
    ("de", "Ich schreibe an meinem zweiten Roman. Es läuft."),
    ("zh", "我在写小说，已经十万字了"),
    ("ja", "小説を書いてるんだけど、全然進まない"),
]


@pytest.mark.parametrize(("language", "text", "framed"), FRAMED)
def test_text_framed_as_reported_fictional_or_to_be_edited_is_detected(
    language: str, text: str, framed: str
) -> None:
    """What is asked for is the speaker's own, the text itself is not."""
    assert framed in words_in(text, find_framed_spans(text, language))


@pytest.mark.parametrize(("language", "text"), OWN)
def test_own_statement_about_texts_or_hobbies_is_not_detected_as_framed(
    language: str, text: str
) -> None:
    """Work, hobbies, and what one has said oneself."""
    assert list(find_framed_spans(text, language)) == []


def test_request_to_edit_a_text_that_is_not_given_yet_is_an_open_request() -> None:
    """The next message is the text."""
    assert is_open_request("can you translate this for me?", "en")
    assert not is_open_request("can you translate this: I keep goats", "en")
    assert not is_open_request("I translate books.", "en")
