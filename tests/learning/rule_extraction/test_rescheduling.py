"""An appointment or a promise that is at another time now, in five languages."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.learning.extraction import Claim
from tests.learning.rule_extraction.message_fixtures import WEDNESDAY, message, read, said
from tests.learning.segment_fixtures import believed


def put_off(first: str, then: str, language: str) -> tuple[Claim, list[Claim]]:
    """What is to come by the first words, and what the words of the next day put in its place."""
    (before,) = [each for each in said(first, language=language).claims if each.due_at]
    known = believed("it", before.kind, before.text, due_at=before.due_at, subject=before.subject)
    known = replace(known, memory=replace(known.memory, language=language))
    later = message(then, language=language, at=WEDNESDAY + DAY)
    told = read(later, known=(known,)).claims
    return before, [each for each in told if each.effect == "supersedes"]


@pytest.mark.parametrize(
    ("language", "first", "then", "told"),
    [
        (
            "en",
            "I have a dentist appointment on Monday at 3pm.",
            "The dentist moved my appointment to Tuesday.",
            "Has a dentist appointment: 13 May 2025.",
        ),
        (
            "en",
            "I have a dentist appointment on Monday at 3pm.",
            "My dentist appointment has been postponed from Monday to Friday.",
            "Has a dentist appointment: 9 May 2025.",
        ),
        (
            "es",
            "Tengo cita con el dentista el lunes a las cinco.",
            "Me han cambiado la cita del dentista al viernes.",
            "Tiene cita con el dentista: 9 de mayo de 2025.",
        ),
        (
            "de",
            "Am Montag um 15 Uhr habe ich einen Termin beim Zahnarzt.",
            "Der Zahnarzt hat den Termin auf Freitag verschoben.",
            "Hat einen Termin beim Zahnarzt: 9. Mai 2025.",
        ),
        (
            "fr",
            "J'ai un rendez-vous chez le dentiste lundi.",
            "Le dentiste a déplacé mon rendez-vous à vendredi.",
            "A un rendez-vous chez le dentiste : 9 mai 2025.",
        ),
        ("zh", "周一下午三点我要去看牙医。", "牙医改到周五了。", "会看牙医（2025年5月9日）。"),
    ],
)
def test_rescheduled_appointment_gets_the_new_due_date(
    language: str, first: str, then: str, told: str
) -> None:
    """It is named as fully as before."""
    before, (after,) = put_off(first, then, language)

    assert after.text == told
    assert after.kind == before.kind
    assert after.due_at not in {None, before.due_at}


@pytest.mark.parametrize(
    ("language", "first", "then"),
    [
        (
            "en",
            "I have an interview on Monday.",
            "My sister's interview has been postponed to Friday.",
        ),
        ("en", "I have an interview on Monday.", "Tom's interview was moved to Friday."),
        ("es", "Tengo una cita el lunes.", "La cita de mi madre se aplaza al viernes."),
        ("de", "Am Montag habe ich einen Termin.", "Uwes Termin ist auf Freitag verschoben."),
        ("zh", "我周一有面试。", "我妹妹的面试改到周五了。"),
    ],
)
def test_another_persons_rescheduled_event_keeps_ones_own_appointment(
    language: str, first: str, then: str
) -> None:
    """It is another one."""
    assert put_off(first, then, language)[1] == []


@pytest.mark.parametrize(
    ("language", "first", "then", "day"),
    [
        (
            "en",
            "I promised Priya to help with her move on Saturday.",
            "Priya's move has been postponed to Sunday.",
            "11 May 2025",
        ),
        (
            "en",
            "I promised Priya to visit her on Saturday.",
            "I'll visit Priya on Sunday instead.",
            "11 May 2025",
        ),
        (
            "es",
            "Le prometí a Carmen que la ayudaría con la mudanza el sábado.",
            "Lo de la mudanza de Carmen se aplaza al domingo.",
            "11 de mayo de 2025",
        ),
        (
            "de",
            "Ich habe Uwe versprochen, ihm am Samstag beim Umzug zu helfen.",
            "Uwes Umzug ist auf Sonntag verschoben.",
            "11. Mai 2025",
        ),
        ("zh", "我答应王芳周六帮她搬家。", "王芳搬家推迟到周日了。", "2025年5月11日"),
    ],
)
def test_rescheduled_promise_stays_a_commitment_with_a_new_date(
    language: str, first: str, then: str, day: str
) -> None:
    """What it is about has another day, and it stays a promise."""
    before, (after,) = put_off(first, then, language)

    assert (before.kind, after.kind) == ("commitment", "commitment")
    assert day in after.text


@pytest.mark.parametrize(
    ("language", "first", "then"),
    [
        ("en", "I promised Priya to visit her on Saturday.", "The wedding is moved to Sunday."),
        ("en", "I have a dentist appointment on Monday.", "I moved my sofa to the cellar today."),
        (
            "de",
            "Am Montag habe ich einen Termin beim Zahnarzt.",
            "Der Umzug ist auf Freitag verschoben.",
        ),
        ("zh", "周一下午三点我要去看牙医。", "会议改到周五了。"),
    ],
)
def test_rescheduling_of_an_unrelated_event_changes_nothing(
    language: str, first: str, then: str
) -> None:
    """Though it has another time, too."""
    _, after = put_off(first, then, language)

    assert after == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "They moved the sofa to the cellar on Friday."),
        ("en", "My brother was moved to tears on Monday."),
        ("es", "He movido el sofá al salón el lunes."),
        ("fr", "J'ai déplacé le canapé à la cave lundi."),
        ("de", "Peters Sohn ist erst am Montag geboren."),
        ("de", "Der Schrank wurde am Montag auf den Balkon verschoben."),
        ("zh", "桌子推到后面了。"),
    ],
)
def test_moving_an_object_yields_no_due_date(language: str, text: str) -> None:
    """A day has to follow at once."""
    assert not [each for each in said(text, language=language).claims if each.due_at]


@pytest.mark.parametrize(
    ("language", "first", "then", "told"),
    [
        (
            "en",
            "I have a dentist appointment on Thursday.",
            "dentist got moved to Friday",
            "Has a dentist appointment: 9 May 2025.",
        ),
        (
            "es",
            "Tengo cita con el dentista el jueves.",
            "Me han cambiado la cita del dentista al viernes.",
            "Tiene cita con el dentista: 9 de mayo de 2025.",
        ),
        (
            "de",
            "Am Donnerstag habe ich einen Termin beim Zahnarzt.",
            "Der Zahnarzt hat den Termin auf Freitag verschoben.",
            "Hat einen Termin beim Zahnarzt: 9. Mai 2025.",
        ),
    ],
)
def test_appointment_rescheduled_in_the_same_segment_is_due_once(
    language: str, first: str, then: str, told: str
) -> None:
    """It is due once, on the new day, and rests on both messages."""
    coming = [each for each in said(first, then, language=language).claims if each.due_at]

    assert [each.text for each in coming] == [told]
    assert {quote.message for quote in coming[0].quotes} == {"m0", "m1"}


def test_similar_name_does_not_reschedule_anothers_event() -> None:
    """Evan is not Eva."""
    coming = said("Eva's party is on Thursday.", "Evan's party has been moved to Friday.")

    assert len([each for each in coming.claims if each.due_at]) == 2


def test_rescheduled_exam_does_not_move_a_dentist_appointment() -> None:
    """Two that are to be on two days stay so."""
    coming = said("I have a dentist appointment on Thursday.", "The exam got moved to Friday.")

    assert len([each for each in coming.claims if each.due_at]) == 2
