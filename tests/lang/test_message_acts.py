"""Whether a message asks, tells, commands or chats is known without marks, in any language."""

import pytest

from oldfriend.lang.message_acts import ACTS, classify_act, list_buckets


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("whens baz coming", "question"),
        ("donde vive mi hermana", "question"),
        ("wie hiess nochmal die ärztin", "question"),
        ("c quoi deja le nom du chien", "question"),
        ("我妹妹现在住哪", "question"),
        ("onde eu deixei a bicicleta", "question"),
        ("told mum about the baby, she cried", "statement"),
        ("ich wohne jetzt in köln", "statement"),
        ("remind me in 2 mins to take my tablets", "command"),
        ("recuérdame llamar a mi madre", "command"),
        ("haha yeah", "smalltalk"),
        ("my name is robin", "statement"),
        ("my name's oksana and i'm from hull", "statement"),
        ("le plombier c'est qui", "question"),
        ("tu sais c'est quand l'anniv de lola", "question"),
        ("il fait koi ton frere", "question"),
        ("ma voisine c'est une infirmière", "statement"),
        ("我叫王小明", "statement"),
        ("我弟弟叫什么名字", "question"),
        ("家里的水费好多一个月", "question"),
        ("犬の名前はポチです", "statement"),
        ("犬の名前なんだっけ", "question"),
    ],
)
def test_message_act_is_classified_by_words_without_punctuation(text: str, act: str) -> None:
    """Without question marks, accents or capitals."""
    likely = classify_act(text)

    assert max(ACTS, key=lambda each: likely[each]) == act


def test_question_mark_does_not_change_act_features() -> None:
    """Marks are for the rules; the words alone decide here."""
    assert list_buckets("where is kat").tolist() == list_buckets("where is kat?").tolist()


@pytest.mark.parametrize("text", ["", " ", "?", "\udcff", "a" * 100_000, "ठीक है", "🙂"])
def test_act_probabilities_sum_to_one_for_any_text(text: str) -> None:
    """They sum to one."""
    assert sum(classify_act(text).values()) == pytest.approx(1)
