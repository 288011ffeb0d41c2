"""Whose words are in a mail: by its form, in any language and from any program."""

import pytest

from oldfriend.channels.email.mail_text import divide_text

OWN = "friend@example.org"
ANSWERS = {
    "gmail": (
        "Yes, at seven.\n\nOn Fri, 28 Nov 2026 at 18:30, Oldfriend <friend@example.org> wrote:\n\n"
        "> Shall we meet?\n> I am free.\n"
    ),
    "gmail, wrapped": (
        "Yes, at seven.\n\nOn Fri, 28 Nov 2026 at 18:30, Oldfriend\n<friend@example.org> wrote:\n"
        "> Shall we meet?\n"
    ),
    "german": "Yes, at seven.\n\nAm 28.11.2026 um 18:30 schrieb Oldfriend:\n> Treffen wir uns?\n",
    "spanish": (
        "Yes, at seven.\n\nEl vie, 28 nov 2026 a las 18:30, Oldfriend (<friend@example.org>)\n"
        "escribió:\n\n> ¿Quedamos?\n"
    ),
    "chinese": "Yes, at seven.\n\n于2026年11月28日周六 18:30写道：\n> 见面吗？\n",
    "signed": "Yes, at seven.\n\n-- \nNora Quist\n+372 555 0199\n\n> Shall we meet?\n",
    "outlook": (
        "Yes, at seven.\n\n________________________________\nFrom: Oldfriend <friend@example.org>\n"
        "Sent: Friday, November 28, 2026 6:30 PM\nTo: Nora <nora@example.org>\n"
        "Subject: Re: Friday\n\nShall we meet?\n"
    ),
    "outlook, german": (
        "Yes, at seven.\n\nVon: Oldfriend <friend@example.org>\nGesendet: Freitag, 28. 18:30\n"
        "An: Nora <nora@example.org>\nBetreff: Freitag\n\nTreffen wir uns?\n"
    ),
    "old outlook": (
        "Yes, at seven.\n\n-----Original Message-----\nFrom: friend@example.org\n"
        "Sent: 28 November 18:30\nTo: Nora\nSubject: Friday\n\nShall we meet?\n"
    ),
    "below": "> Shall we meet?\n\nYes, at seven.\n",
}


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_only_what_is_new_in_an_answer_is_its_senders(text: str) -> None:
    """Without the quoted mail, the line above it and the signature."""
    divided = divide_text(text, is_reply=True, own_address=OWN)

    assert (divided.own, divided.forwarded) == ("Yes, at seven.", "")


CLOSED = {
    "english": "Thanks,\nNora",
    "one line": "Thanks, Nora",
    "full name": "Best regards,\n\nNora Quist",
    "initial": "Best,\nN.",
    "german": "Viele Grüße\nNora",
    "german, one line": "LG Nora",
    "spanish": "Un saludo,\nNora",
    "french": "Cordialement,\nNora Quist",
    "chinese": "谢谢，\nNora",
    "dash": "\u2014\nNora",
    "marked": "--\nNora Quist\n+372 555 0199",
    "only a name": "Nora",
    "phone": "Sent from my iPhone",
    "phone, german": "Von meinem iPhone gesendet",
    "phone, spanish": "Enviado desde mi iPhone",
    "phone, french": "Envoyé de mon iPhone",
    "phone, chinese": "发自我的iPhone",
    "both": "Thanks!\nNora\n\nGet Outlook for Android",
}


@pytest.mark.parametrize("is_reply", [False, True])
@pytest.mark.parametrize("closing", CLOSED.values(), ids=CLOSED)
def test_closing_is_not_what_a_mail_says(closing: str, is_reply: bool) -> None:
    """It would become part of a reminder; known by the sender's name, whatever the language."""
    text = f"Remind me to call Tom\ntomorrow at 9\n\n{closing}\n"
    divided = divide_text(text, is_reply=is_reply, own_address=OWN, sender="Nora Quist nora.q")
    assert divided.own == "Remind me to call Tom\ntomorrow at 9"


def test_closing_of_a_name_without_spaces() -> None:
    """By the given name alone."""
    text = "明天上午十点提醒我买牛奶\n\n谢谢，\n小明"
    assert divide_text(text, is_reply=False, own_address=OWN, sender="王小明").own == text[:12]


@pytest.mark.parametrize(
    "text",
    [
        "Nora",
        "Call me Nora",
        "Things to do:\n\nbuy milk\ncall Ben",
        "Remind me of this tomorrow:\n\ncharge my iPhone",
        "Who is coming?\n\nTom, Ben and Ana",
        "Wishes:\n\na book for Nora\na bike for Ben",
    ],
)
def test_what_looks_like_a_closing_stays(text: str) -> None:
    """A mail that is nothing else, a list, another's name."""
    divided = divide_text(text, is_reply=False, own_address=OWN, sender="Nora Quist")
    assert divided.own == text


FORWARDED = {
    "gmail": (
        "Look at this!\n\n---------- Forwarded message ---------\nFrom: Ben <ben@else.example>\n"
        "Date: Fri, 28 Nov 2026 at 18:30\nSubject: News\nTo: Nora <nora@example.org>\n\n"
        "I live in Tartu now.\n"
    ),
    "apple": (
        "Look at this!\n\nBegin forwarded message:\n\n> From: Ben Tao <ben@else.example>\n"
        "> Subject: News\n> Date: 28 November 2026 at 18:30:12 EET\n> To: nora@example.org\n> \n"
        "> I live in Tartu now.\n"
    ),
    "outlook": (
        "Look at this!\n\nVon: Ben Tao <ben@else.example>\nGesendet: Freitag, 28. 18:30\n"
        "An: Nora <nora@example.org>\nBetreff: News\n\nI live in Tartu now.\n"
    ),
}


@pytest.mark.parametrize("is_reply", [False, True])
@pytest.mark.parametrize("text", FORWARDED.values(), ids=FORWARDED)
def test_forwarded_text_is_somebody_elses(text: str, is_reply: bool) -> None:
    """Also where a program calls a forwarded mail a reply."""
    divided = divide_text(text, is_reply=is_reply, own_address=OWN)

    assert divided.own == "Look at this!"
    assert divided.forwarded_from == "ben@else.example"
    assert divided.forwarded.endswith("I live in Tartu now.")


def test_a_first_mail_keeps_its_lists_and_quotations() -> None:
    """Labels alone are no headers; a ">" stays where nothing is replied to."""
    text = "My things:\nName: Nora\nCity: Tartu\nPhone: 555 0199\n\n> To be or not to be\n"

    assert divide_text(text, is_reply=False, own_address=OWN).own == text.strip()


@pytest.mark.parametrize(
    "above",
    [
        "On 30.11.2026 16:00, friend@example.org wrote:",
        "Am 30.11.2026 um 16:00 schrieb Nora Quist:",
        "2026年11月30日 16:00，Nora 写道：",
    ],
)
def test_reply_that_names_no_mail_is_cut_below_the_line_that_says_who_wrote(above: str) -> None:
    """In every language: some programs name neither the mail before nor "Re:"."""
    text = f"I live in Riga now.\n\n{above}\n> I've kept it.\n> Good night.\n"

    assert divide_text(text, is_reply=False, own_address=OWN).own == "I live in Riga now."


def test_one_quoted_stretch_with_an_answer_below_is_what_is_answered() -> None:
    """Several stretches are just cut."""
    one = divide_text("> Which day?\n\nFriday.\n\n> And where?\n", is_reply=True, own_address=OWN)
    two = divide_text("> Which day?\nFriday.\n> Where?\nTartu.", is_reply=True, own_address=OWN)

    assert (one.own, one.quoted) == ("Friday.", "Which day?")
    assert (two.own, two.quoted) == ("Friday.\nTartu.", "")


def test_an_unmarked_copy_of_our_mail_is_cut() -> None:
    """Known by the words that we sent, however they are wrapped."""
    sent = "You told me on Tuesday that\nthe dentist has moved to Riga street."
    text = "Good to know.\n\n28.11.2026 18:30, friend@example.org:\nYou told me on Tuesday\n"
    text += "that the dentist has moved to Riga street.\n"

    divided = divide_text(text, is_reply=True, own_address=OWN, replied_text=sent)

    assert divided.own == "Good to know."


def test_words_of_ours_that_stand_alone_stay() -> None:
    """A short answer may well use a word of the question."""
    divided = divide_text("Friday", is_reply=True, own_address=OWN, replied_text="Thursday, Friday")

    assert divided.own == "Friday"


def test_an_answer_that_repeats_a_line_of_ours_stays() -> None:
    """Who is asked to choose may do it in our words; the whole mail again is a copy."""
    question = "Which one?\n\nThe blue house by the lake\nThe small flat in Riga\n"
    choice = divide_text(
        "The small flat in Riga", is_reply=True, own_address=OWN, replied_text=question
    )
    copy = divide_text(question, is_reply=True, own_address=OWN, replied_text=question)

    assert (choice.own, copy.own) == ("The small flat in Riga", "")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 50_000,
        "> " * 20_000,
        ":" * 20_000,
        "\n" * 50_000,
        "--\n" * 20_000,
        "a: b\n" * 10_000,
        "From: a@b.c 10:10\n" * 3_000,
        "-" * 50_000,
        "a@" * 25_000,
        "> a\nb:\n" * 8_000,
    ],
)
def test_hostile_text_takes_little_time(text: str) -> None:
    """In proportion to its length."""
    divide_text(text, is_reply=True, own_address=OWN, replied_text=text)
