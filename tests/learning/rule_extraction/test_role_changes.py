"""Somebody has taken another's place, or always had it: in five languages."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from tests.learning.rule_extraction.message_fixtures import WEDNESDAY, message, read, said
from tests.learning.segment_fixtures import believed


def ended(language: str, text: str, *others: str, part: str = "boss") -> list[str]:
    """Whose place is taken, of those who are known by a part."""
    known = [
        believed(
            name, "fact", f"Boss: {name}.", key=f"{name}:relation", value=part, subject="other"
        )
        for name in others or ("Karen",)
    ]
    known = [replace(each, memory=replace(each.memory, language=language)) for each in known]
    claims = read(message(text, language=language), known=tuple(known)).claims
    return [
        each.ended_claim.key.partition(":")[0] for each in claims if each.ended_claim is not None
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "That's not right, my boss is Tina."),
        ("en", "No, my boss is Tina."),
        ("en", "My new boss is Tina."),
        ("es", "En realidad mi jefa es Begoña."),
        ("es", "Mi nueva jefa es Begoña."),
        ("fr", "Non, ma cheffe s'appelle Anne."),
        ("de", "Nein, meine Chefin heißt Tina."),
        ("de", "Meine neue Chefin heißt Tina."),
        ("zh", "不对，我老板叫王芳。"),
    ],
)
def test_new_or_corrected_boss_ends_the_earlier_boss_relation(language: str, text: str) -> None:
    """Who was it before is it no more."""
    assert ended(language, text) == ["Karen"]


@pytest.mark.parametrize(
    ("language", "part", "text"),
    [
        ("en", "sister", "My sister Ana is coming on Friday, not Karen."),
        ("en", "daughter", "My daughter Mia plays the piano and not Karen."),
        ("en", "friend", "My friend Max lives in Rome, not Karen."),
        ("en", "sister", "My sister is Ana who lives in Rome, not Karen."),
        ("de", "sister", "Meine Schwester Ana kommt am Freitag, nicht Karen."),
        ("de", "daughter", "Meine Tochter Mia spielt Klavier, und nicht Karen."),
        ("es", "daughter", "Mi hija Mia toca el piano y no Karen."),
        ("fr", "daughter", "Ma fille Mia joue du piano, pas Karen."),
        ("zh", "sister", "我妹妹小丽住在北京，不是Karen。"),
    ],
)
def test_denied_action_does_not_end_the_relation(language: str, part: str, text: str) -> None:
    """The words tell who does it, and not who plays the part."""
    assert ended(language, text, part=part) == []


@pytest.mark.parametrize(
    ("language", "part", "text"),
    [
        ("en", "sister", "My sister is called Ana, not Karen."),
        ("en", "cat", "My cat is Mizo, not Karen."),
        ("de", "dog", "Nein, mein Hund heißt Benno, nicht Karen."),
        ("es", "dog", "Mi perro se llama Rex, no Karen."),
        ("fr", "dog", "Mon chien ne s'appelle pas Karen, il s'appelle Rex."),
        ("zh", "dog", "不对，我的狗叫旺旺，不叫Karen。"),
    ],
)
def test_denied_name_ends_the_wrong_relation(language: str, part: str, text: str) -> None:
    """The words tell who plays the part."""
    assert ended(language, text, part=part) == ["Karen"]


@pytest.mark.parametrize("text", ["My boss is Tina.", "My boss Tina is nice.", "No, I like Tina."])
def test_second_boss_without_correction_keeps_the_first(text: str) -> None:
    """There may be two."""
    assert ended("en", text) == []


@pytest.mark.parametrize(
    ("language", "part", "text"),
    [
        ("en", "daughter", "Actually my daughter Mia is sick today."),
        ("en", "brother", "No problem, my brother Tom will help."),
        ("en", "sister", "No, my sister Eva."),
        ("en", "wife", "Sorry, my wife Mara is at work."),
        ("en", "cat", "Actually, we have a cat called Mimi."),
        ("en", "dog", "No, Rex is my dog."),
        ("en", "child", "No, my kids Ana and Ben are at school."),
        ("es", "brother", "No, mi hermano Luis vive en Lima."),
        ("es", "dog", "En realidad tengo un perro que se llama Rex."),
        ("fr", "sister", "Pardon, ma sœur Eva m'a appelée."),
        ("fr", "dog", "En fait j'ai un chien qui s'appelle Rex."),
        ("de", "daughter", "Nein, meine Tochter Mia ist krank."),
        ("de", "dog", "Eigentlich habe ich einen Hund, der Rex heißt."),
        ("zh", "sister", "其实我妹妹小丽住在北京。"),
        ("zh", "cat", "其实我家有一只猫叫咪咪。"),
    ],
)
def test_no_or_actually_without_a_role_correction_ends_no_relation(
    language: str, part: str, text: str
) -> None:
    """A "no" or "actually" before it may answer anything; who was known is theirs still."""
    assert ended(language, text, part=part) == []


@pytest.mark.parametrize(
    ("language", "part", "text"),
    [
        ("en", "boss", "No, it's not Karen, my boss is Tina."),
        ("en", "sister", "No, my sister's name is Eva."),
        ("es", "sister", "No, mi hermana es Eva."),
        ("fr", "sister", "Non, ma sœur s'appelle Eva."),
        ("de", "sister", "Nein, meine Schwester heißt Eva."),
        ("zh", "sister", "不对，我妹妹叫小丽。"),
    ],
)
def test_explicit_role_correction_ends_the_earlier_relation(
    language: str, part: str, text: str
) -> None:
    """Whatever the part."""
    assert ended(language, text, part=part) == ["Karen"]


def test_new_best_friend_is_added_and_only_a_sole_earlier_one_is_corrected() -> None:
    """But who is put right means one alone; of several nobody knows which."""
    assert ended("en", "My new best friend is Sana.", part="best friend") == []
    assert ended("en", "No, my best friend is Sana.", part="best friend") == ["Karen"]
    assert ended("en", "No, my boss is Tina.", "Karen", "Paul") == []


def test_correction_in_the_same_segment_ends_the_just_named_relation() -> None:
    """In the same talk; what is said again afterwards holds."""
    claims = said("My boss is Karen.", "No, my boss is Tina.").claims

    assert [each.ended_claim.value for each in claims if each.ended_claim is not None] == ["boss"]
    assert [each.ended_claim.key for each in claims if each.ended_claim is not None] == [
        "Karen:relation"
    ]


def test_older_correction_does_not_end_a_relation_seen_later() -> None:
    """Whoever was told of since then stays."""
    karen = believed(
        "k", "fact", "Boss: Karen.", key="Karen:relation", value="boss", subject="other"
    )
    newer = replace(karen, stats=replace(karen.stats, last_seen=WEDNESDAY + DAY))
    claims = read(message("No, my boss is Tina."), known=(newer,)).claims

    assert [each.key for each in claims] == ["Tina:relation"]


@pytest.mark.parametrize(
    ("language", "first", "right"),
    [
        ("en", "my cat is called Moppel, shes 9", "my cat's name is Mopsi actually"),
        ("en", "my cat is called Moppel", "my cat is called Mopsi, sorry"),
        ("de", "Meine Katze heißt Moppel und ist 9", "meine Katze heißt Mopsi, sorry"),
        ("es", "Mi gato se llama Moppel", "mi gato se llama Mopsi en realidad"),
        ("fr", "Mon chat s'appelle Moppel", "mon chat s'appelle Mopsi en fait"),
    ],
)
def test_name_that_is_put_right_by_the_last_words_is_the_only_one(
    language: str, first: str, right: str
) -> None:
    """One cat, not two."""
    told = said(first, right, language=language).claims
    ended_keys = {each.ended_claim.key for each in told if each.ended_claim is not None}
    assert ended_keys == {"Moppel:relation"}


def test_another_who_is_spoken_of_takes_nobodys_place() -> None:
    """What happened to another brother is no correction of the first one's name."""
    told = said("my brother is called Tom", "my brother Jim called, sorry").claims
    assert not any(each.ended_claim for each in told)
