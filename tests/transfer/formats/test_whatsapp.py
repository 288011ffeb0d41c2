"""WhatsApp's exports, as phones in many countries write them."""

from datetime import datetime

import pytest

from oldfriend.domain.errors import ImportRefused

SPOKEN = datetime.fromisoformat("2023-12-31T21:05")


@pytest.mark.parametrize(
    "line",
    [
        "12/31/23, 9:05 PM - Ana: hi",
        "12/31/23, 9:05\u202fPM - Ana: hi",
        "31/12/2023, 21:05 - Ana: hi",
        "31/12/23, 9:05 pm - Ana: hi",
        "31/12/23, 9:05 p.\u00a0m. - Ana: hi",
        "31/12/2023 9:05 p. m. - Ana: hi",
        "31.12.23, 21:05 - Ana: hi",
        "31.12.2023, 21:05 Uhr - Ana: hi",
        "31-12-2023 21:05 - Ana: hi",
        "31-12-23 21.05 - Ana: hi",
        "31/12/2023 à 21:05 - Ana: hi",
        "2023-12-31, 9:05 p.m. - Ana: hi",
        "2023/12/31 下午9:05 - Ana: hi",
        "2023/12/31 晚上9:05 - Ana: hi",
        "2023年12月31日 下午9:05 - Ana: hi",
        "2023. 12. 31. 오후 9:05 - Ana: hi",
        "2023/12/31 21:05 - Ana: hi",
        "23/12/31, 21:05 - Ana: hi\n24/01/01, 08:00 - Ana: morning",
        "٣١\u200f/١٢\u200f/٢٠٢٣، ٩:٠٥ م - Ana: hi",
        "\u200e[31/12/2023, 21:05:00] Ana: hi",
        "[12/31/23, 9:05:00\u202fPM] Ana: hi",
        "[31.12.23, 21:05:00] Ana: hi",
        "[31/12/23, 9:05:00 p. m.] ~\u202fAna: hi",
        "[2023/12/31 下午9:05:00] \u202aAna\u202c: hi",
        "[31-12-2023 21:05:00] Ana: hi",
        "\ufeff31/12/2023, 21:05 - Ana: hi",
    ],
)
def test_time_and_speaker_are_parsed_in_every_locale_format(read, line):
    first = read("chat.txt", line)[0]

    assert (first.at, first.speaker, first.text, first.role) == (SPOKEN, "Ana", "hi", None)


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("01/02/2023", "13/02/2023", [(1, 2), (13, 2)]),
        ("01/02/2023", "01/13/2023", [(2, 1), (13, 1)]),
        ("05/06/2023", "06/05/2023", [(6, 5), (5, 6)]),  # day first would run backwards
        ("06/05/2023", "05/06/2023", [(6, 5), (5, 6)]),
    ],
)
def test_day_month_order_is_inferred_from_the_whole_file(read, first, second, days):
    notes: list[str] = []
    told = read("chat.txt", f"{first}, 10:00 - Ana: a\n{second}, 10:00 - Ben: b\n", notes)

    assert [(message.at.day, message.at.month) for message in told] == days
    assert notes == []


def test_ambiguous_day_month_order_gives_a_notice(read):
    """A guess is never silent."""
    notes: list[str] = []
    told = read("chat.txt", "05/06/23, 10:00 - Ana: a\n06/06/23, 10:00 - Ana: b", notes)

    assert [message.at.day for message in told] == [5, 6]
    assert "day first" in notes[0]


def test_am_pm_clock_implies_month_first_dates(read):
    assert read("chat.txt", "5/6/23, 12:05 AM - Ana: a")[0].at == datetime.fromisoformat(
        "2023-05-06T00:05"
    )


@pytest.mark.parametrize(
    ("clock", "hour"),
    [("12:05 AM", 0), ("12:05 PM", 12), ("凌晨12:05", 0), ("中午12:05", 12), ("下午1:05", 13)],
)
def test_noon_and_midnight_are_parsed_in_twelve_hour_clocks(read, clock, hour):
    assert read("chat.txt", f"2023/12/31, {clock} - Ana: a")[0].at.hour == hour


def test_line_without_a_header_continues_the_previous_message(read):
    told = read("chat.txt", "31/12/23, 21:05 - Ana: one\n\n two\n31/12/23, 21:06 - Ben: Ana: no\n")

    assert [(m.line, m.speaker, m.text) for m in told] == [
        (1, "Ana", "one\n\n two"),
        (4, "Ben", "Ana: no"),
    ]


def test_pasted_header_of_another_style_starts_no_message(read):
    told = read("chat.txt", "31/12/23, 21:05 - Ana: look:\n[30/12/23, 20:00:00] Eve: psst\n")

    assert [m.text for m in told] == ["look:\n[30/12/23, 20:00:00] Eve: psst"]


def test_impossible_date_keeps_the_text_and_gives_a_notice(read):
    notes: list[str] = []
    told = read("chat.txt", "31/12/23, 21:05 - Ana: a\n99/99/23, 21:05 - Ben: b", notes)

    assert [m.text for m in told] == ["a\n99/99/23, 21:05 - Ben: b"]
    assert "Line 2" in notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "<Media omitted>",
        "<Multimedia omitido>",
        "<Medien ausgeschlossen>",
        "<Médias omis>",
        "<Media omessi>",
        "<Mídia oculta>",
        "<Media weggelaten>",
        "<省略多媒体文件>",
        "<媒體已略去>",
        "\u200eimage omitted",
        "\u200eimagen omitida",
        "\u200eBild weggelassen",
        "\u200eimage absente",
        "\u200eimmagine omessa",
        "\u200eimagem ocultada",
        "\u200eafbeelding weggelaten",
        "\u200e图像已忽略",
        "\u200eGIF retiré",
        "\u200eplan.pdf • \u200e3 pages \u200edocument omitted",
        "video omitted",
        "sticker weggelassen",
    ],
)
def test_omitted_media_is_a_placeholder_message_of_its_sender(read, text):
    message = read("chat.txt", f"31/12/23, 21:05 - Ana: {text}")[0]

    assert (message.speaker, message.details, message.role) == ("Ana", {"media": "omitted"}, None)
    assert message.is_placeholder == ("plan.pdf" not in text)


@pytest.mark.parametrize(
    "text",
    [
        "<Media omitted>\nour boat",
        "\u200ewe talked all night and then said nothing, my part in it was omitted",
        "IMG-20231231-WA0001.jpg (file attached)",
        "the media was omitted",
    ],
)
def test_message_with_own_text_is_no_placeholder(read, text):
    """A caption, a file's name, a sentence that happens to end like one."""
    assert not read("chat.txt", f"31/12/23, 21:05 - Ana: {text}")[0].is_placeholder


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("IMG-20231231-WA0001.jpg (file attached)", "IMG-20231231-WA0001.jpg"),
        ("IMG-20231231-WA0001.jpg (archivo adjunto)\nlook!", "IMG-20231231-WA0001.jpg"),
        ("Der Plan.pdf (Datei angehängt)", "Der Plan.pdf"),
        ("\u200e<attached: 00000012-PHOTO-2023.jpg>", "00000012-PHOTO-2023.jpg"),
        ("\u200e<pièce jointe : 00000012-PHOTO-2023.jpg>", "00000012-PHOTO-2023.jpg"),
        ("\u200e<附件：00000012-PHOTO-2023.jpg>", "00000012-PHOTO-2023.jpg"),
    ],
)
def test_attached_file_name_is_kept_in_the_details(read, text, file):
    assert read("chat.txt", f"31/12/23, 21:05 - Ana: {text}")[0].details == {"media": file}


@pytest.mark.parametrize("text", ["I <3 you", "je suis absent", "<hug>", "see a.pdf (it is long)!"])
def test_text_resembling_media_has_no_media_details(read, text):
    assert read("chat.txt", f"31/12/23, 21:05 - Ana: {text}")[0].details == {}


@pytest.mark.parametrize(
    "line",
    [
        "Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
        "Los mensajes y las llamadas están cifrados de extremo a extremo.",
        "Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.",
        "Ana created group “Trip: Lisbon”",
        'Ana changed the subject from "Trip: a" to "Trip: b"',
        "Ana hat den Betreff von „a: b“ zu „c“ geändert",
        "Ana cambió el asunto a “Viaje: Lisboa”",
        "Ben left",
        "你将群组名称更改为“旅行: 里斯本”",
        "Ana: This message was deleted",
        "Ana: You deleted this message.",
        "Ana: Se eliminó este mensaje.",
        "Ana: Diese Nachricht wurde gelöscht.",
        "Ana: Ce message a été supprimé",
        "Ana: Questo messaggio è stato eliminato",
        "Ana: Mensagem apagada",
        "Ana: Dit bericht is verwijderd",
        "Ana: 此消息已删除",
        "Trip: \u200eMessages and calls are end-to-end encrypted.",
        "Ana: \u200eAna created this group",
        "Ana: \u200eMissed voice call",
    ],
)
def test_whatsapp_notice_has_the_system_role_and_no_speaker(read, line):
    message = read("chat.txt", f"31/12/23, 21:05 - {line}")[0]

    assert (message.role, message.speaker) == ("system", "")
    assert message.text == line.replace("\u200e", "")


@pytest.mark.parametrize(
    "mark",
    [
        "<This message was edited>",
        "<Se editó este mensaje.>",
        "<Diese Nachricht wurde bearbeitet.>",
        "<Ce message a été modifié>",
        "<Questo messaggio è stato modificato>",
        "<Mensagem editada>",
        "<Dit bericht is bewerkt>",
        "<这条消息已编辑>",
    ],
)
def test_edit_marker_is_moved_from_the_text_to_the_details(read, mark):
    message = read("chat.txt", f"31/12/23, 21:05 - Ana: noon \u200e{mark}")[0]

    assert (message.text, message.details) == ("noon", {"edited": "yes"})


def test_same_text_in_the_same_minute_gets_distinct_ids(read):
    told = read("chat.txt", "31/12/23, 21:05 - Ana: ok\n" * 3)

    assert len({message.external_id for message in told}) == 3


def test_newer_export_keeps_the_ids_of_known_messages(read):
    """Importing again adds only what is new."""
    older = "31/12/23, 21:05 - Ana: ok\n31/12/23, 21:05 - Ben: ok\n"
    ids = [m.external_id for m in read("chat.txt", older)]
    newer = [m.external_id for m in read("chat (1).txt", f"{older}31/12/23, 21:05 - Ana: ok\n")]

    assert newer[:2] == ids
    assert newer[2] not in ids


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("WhatsApp Chat with Ana Lima.txt", "Ana Lima"),
        ("WhatsApp Chat with Ana (2).txt", "Ana"),
        ("Chat de WhatsApp con Ana.txt", "Ana"),
        ("WhatsApp-Chat mit Ana.txt", "Ana"),
        ("Conversa do WhatsApp com Ana.txt", "Ana"),
        ("Discussion WhatsApp avec Ana.txt", "Ana"),
        ("ana.txt", "ana"),
    ],
)
def test_chat_title_is_taken_from_the_file_name(read, name, title):
    assert read(name, "31/12/23, 21:05 - Ana: ok")[0].chat_title == title


def test_malformed_first_line_in_a_whatsapp_named_file_is_refused(read):
    with pytest.raises(ImportRefused) as refused:
        read("WhatsApp Chat with Ana.txt", "\nwhat is this?\n31/12/23, 21:05 - Ana: ok")

    assert refused.value.line == 2
    assert "31/12/2023, 21:05 - Ana: hello" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("\u200eForwarded\nI live in Berlin", True),
        ("Forwarded many times\nhi", True),
        ("Weitergeleitet\nIch wohne in Berlin", True),
        ("Häufig weitergeleitet\nja", True),
        ("Reenviado muchas veces\nhola", True),
        ("Transféré\nsalut", True),
        ("转发\n我住在北京", True),
        ("Forwarded", False),
        ("Forwarded it\nto Ana", False),
        ("I live in Porto", False),
    ],
)
def test_forwarded_message_is_outside(read, text, outside):
    (told,) = read("chat.txt", f"31/12/2023, 21:05 - Ana: {text}")

    assert told.outside is outside
