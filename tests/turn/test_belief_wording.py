"""A belief is told from its key and value in whatever language is read."""

from typing import Any

import pytest

from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import StoredBelief
from oldfriend.lang.language_pack import list_languages, load_language_pack
from oldfriend.turn.belief_wording import quote_own_words, word_belief

LANGUAGES = list_languages("wording")
PARTS = ("you", "other", "you_label", "other_label", "roles")


def believed(key: str, value: str, said_in: str = "de", **fields: Any) -> StoredBelief:
    """A fact with this key and value."""
    return StoredBelief(
        **{
            "id": MemoryId(ObjectId("m")),
            "person": PersonId("p"),
            "kind": "fact",
            "text": f"{value}.",
            "language": said_in,
            "key": key,
            "value": value,
            "subject": "other" if ":" in key else "person",
            "learned_at": Micros(0),
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("said_in", "key", "value", "language", "sentence"),
    [
        ("de", "location", "Ulm", "en", "You live in Ulm."),
        ("de", "hometown", "in Köln", "es", "Creciste en Köln."),
        ("de", "hometown", "auf dem Land", "en", "Where you grew up: “auf dem Land”."),
        ("fr", "birthplace", "Évreux", "de", "Du kommst aus Évreux."),
        ("en", "birthplace", "Arles", "fr", "Tu viens d’Arles."),
        ("de", "dislikes", "Rosenkohl", "en", "You do not like “Rosenkohl”."),
        ("en", "interests", "Barbara Pym", "zh", "你喜欢Barbara Pym。"),
        ("en", "interests", "the sea", "fr", "Tu aimes « the sea »."),
        ("en", "occupation", "a nurse", "de", "Deine Arbeit: „a nurse“."),
        ("zh", "workplace", "华为", "es", "Trabajas en 华为."),
        ("es", "dietary", "sin carne", "de", "Du isst kein Fleisch."),
        ("fr", "dietary", "végétarienne", "zh", "你吃素。"),
        ("es", "relationship_status", "casada", "en", "You are married."),
        ("de", "relationship_status", "verheiratet", "es", "Te has casado."),
        ("de", "birthday", "3. Mai", "en", "Your birthday is on 3 May."),
        ("zh", "birthday", "5月3日", "de", "Du hast am 3. Mai Geburtstag."),
        ("en", "birthday", "2001-05-03", "zh", "你出生于2001年5月3日。"),
        ("en", "birth_date", "1987", "de", "Du bist 1987 geboren."),
        ("fr", "age", "34 ans", "zh", "你34岁。"),
        ("de", "languages", "Spanisch", "fr", "Tu parles espagnol."),
        ("de", "location", "nicht mehr Ulm", "en", "No longer so: You live in Ulm."),
        ("en", "Jean:location", "Morecambe", "de", "Jean wohnt in Morecambe."),
        ("de", "die Schwester:location", "Bonn", "en", "Your sister lives in Bonn."),
        ("en", "birthday", "5 March 1990", "de", "Du bist am 5. März 1990 geboren."),
        ("de", "birthday", "5. März 1990", "en", "You were born on 5 March 1990."),
        ("de", "Ana:birthday", "5. März 1990", "es", "Ana nació el 5 de marzo de 1990."),
        ("de", "age", "34 Jahre alt", "en", "You are 34 years old."),
        ("en", "age", "34", "de", "Du bist 34 Jahre alt."),
        ("en", "age", "34-year-old", "de", "Du bist 34 Jahre alt."),
        ("zh", "age", "34岁", "es", "Tienes 34 años."),
        ("de", "Ella:age", "6 Monate", "en", "Ella’s age: “6 Monate”."),
        ("en", "age", "mid 30s", "de", "Dein Alter: „mid 30s“."),
        ("en", "age", "1990", "fr", "Ton âge : « 1990 »."),
        ("en", "smoking", "No longer smokes", "de", "Du rauchst nicht mehr."),
        ("es", "smoking", "ya no fuma", "en", "You no longer smoke."),
        ("zh", "smoking", "不再抽烟", "fr", "Tu ne fumes plus."),
        ("fr", "interests", "plus de sport", "en", "You like “plus de sport”."),
        ("fr", "location", "plus Ulm", "en", "No longer so: You live in Ulm."),
        ("en", "allergies", "none", "de", "Du hast keine Allergien."),
        ("de", "allergies", "keine", "zh", "你没有过敏。"),
        ("es", "allergies", "ninguna", "fr", "Tu n’as pas d’allergie."),
        ("fr", "Ana:allergies", "aucune", "en", "Ana has no allergies."),
        ("zh", "allergies", "没有", "es", "No tienes alergias."),
        ("en", "my sister:occupation", "a nurse", "de", "Was deine Schwester arbeitet: „a nurse“."),
        ("en", "my brother:birthday", "soon", "de", "Wann dein Bruder Geburtstag hat: „soon“."),
        (
            "en",
            "my sister:native_language",
            "Polish",
            "de",
            "Deine Schwester spricht von Haus aus Polnisch.",
        ),
        ("de", "el perro:age", "alt", "es", "La edad del perro: «alt»."),
        ("es", "Nacho:relation", "brother", "de", "Nacho ist dein Bruder."),
        ("en", "Desmond:relation", "husband", "fr", "Desmond est ton mari."),
        ("en", "Ana:relation", "best friend", "es", "Ana es tu mejor amistad."),
    ],
)
def test_key_and_value_are_told_in_the_language_of_the_reader(
    said_in: str, key: str, value: str, language: str, sentence: str
) -> None:
    """Names stand as they are, other words in quotation marks, dates in the reader's way."""
    assert word_belief(believed(key, value, said_in), language) == sentence


@pytest.mark.parametrize(
    ("language", "child", "parent"),
    [
        ("de", "Ella ist dein Kind.", "Ella ist ein Elternteil von dir."),
        ("es", "Ella es de tus hijos.", "Ella es tu madre o tu padre."),
        ("fr", "Ella est ton enfant.", "Ella est ta mère ou ton père."),
        ("zh", "Ella是你的孩子。", "Ella是你的父亲或母亲。"),
    ],
)
def test_tie_to_a_child_or_a_parent_says_who_is_which(
    language: str, child: str, parent: str
) -> None:
    """A tie tells what the person is to the other one, a fact what the other one is to them."""
    told = [
        word_belief(believed("parent_of", "Ella", "en", kind="triple"), language),
        word_belief(believed("Ella:relation", "child", "en"), language),
        word_belief(believed("child_of", "Ella", "en", kind="triple"), language),
    ]
    assert told == [child, child, parent]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "memory",
    [
        believed("in_own_words", "die schule zieht um"),
        believed("spirit_animal", "Otter"),
        believed("location", "?"),
        believed("location", "nicht mehr ?"),
        believed("smoking", "不再", "zh"),
        believed("", "", kind="event"),
        believed("location", "Bonn", subject="other"),
        believed("location", "Bonn", subject="companion"),
    ],
)
def test_what_has_no_template_is_not_worded(memory: StoredBelief, language: str) -> None:
    """Nor is what is told of somebody whom the key does not name."""
    assert word_belief(memory, language) is None


def test_words_about_something_to_come_stand_behind_its_time() -> None:
    """The time that the words themselves hold in their own language is not told twice."""
    due, _ = parse_timestamp("2026-12-03T23:59:00+00:00", "UTC")
    memory = believed("", "", kind="expectation", due_at=due, grain="", zone="UTC")
    text = quote_own_words(memory, "Zahnarzt: 3. Dezember 2026.", "en", "UTC")
    assert text == "Coming up (3 December 2026): “Zahnarzt.”"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_the_same_keys(language: str) -> None:
    """Whatever is told in English is told in each other language, in a sentence or by a label."""
    ours, english = (load_language_pack(each).read("wording") for each in (language, "en"))
    for side in ("you", "other"):
        told = {*ours[side], *ours[f"{side}_label"]}
        assert not {*english[side], *english[f"{side}_label"]} - told
    for part in PARTS:
        for key, text in ours[part].items():
            filled = text.format(name="Ana", value="Ulm")
            assert "{" not in filled, (part, key)
            assert part in {"you", "you_label"} or "Ana" in filled, (part, key)
    assert ours["values"].keys() == ours["said"].keys() == english["values"].keys()
    for key, meanings in english["values"].items():
        assert ours["values"][key].keys() == ours["said"][key].keys() == meanings.keys()
    assert ours["languages"].keys() == english["languages"].keys()
