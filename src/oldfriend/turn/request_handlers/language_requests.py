"""Language requests: in which language the person wants to be answered.

"/language German", "/language auto"; the same in words: "please speak German with me".
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.messages import Person
from oldfriend.lang.command_menu import read_command
from oldfriend.lang.language_pack import LANGUAGES
from oldfriend.lang.reply_language import (
    AUTO,
    LanguageChoice,
    find_first_language,
    find_language,
    get_texts,
    name_language,
    names_unlisted,
    read_language_ask,
)
from oldfriend.memory.people import fix_language
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import find_request
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "language"
MAX_NAME_CHARS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FixLanguage:
    """The change that fixes the language of replies; None: it follows what the person writes."""

    language: str | None

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store the choice."""
        await fix_language(tx, scope.person.id, self.language)


async def handle_language(context: HandlerContext) -> HandledRequest | None:
    """Decide in which language the person is answered from now on."""
    command = read_command(context.text)
    spoken = context.perception.reply_language
    if command is None:
        return handle_words(context, spoken)
    if command.name != NAME:
        return None
    if not command.words:
        text = tell_choice(context.utterance.person, spoken)
        return HandledRequest(name=NAME, text=text, is_command=True)
    choice = find_language(command.words)
    if choice is not None:
        return build_request(choice, spoken, is_command=True)
    name = command.words[:MAX_NAME_CHARS]
    text = get_texts(spoken)["unknown"].format(name=name, names=list_names(spoken))
    return HandledRequest(name=NAME, text=text, is_command=True)


def handle_words(context: HandlerContext, spoken: str) -> HandledRequest | None:
    """Decide it by a message in plain words; None if it asks for no language."""
    choice = read_language_ask(context.text)
    if choice is not None:
        return build_request(choice, spoken, is_command=False)
    found = find_request(context.text, context.perception.language, "language")
    if found is None:
        return None
    choice = find_first_language(found.said)
    if choice is not None:
        request = build_request(choice, spoken, is_command=False)
    elif names_unlisted(found.said):
        request = HandledRequest(name=NAME, text=tell_unlisted(spoken), is_fallback=True)
    else:
        return None
    return replace(request, is_whole_message=not found.rest, rest=found.rest)


def build_request(choice: LanguageChoice, spoken: str, *, is_command: bool) -> HandledRequest:
    """Return the request that makes a choice, told in the chosen language."""
    if choice == AUTO:
        text, fixed = get_texts(spoken)["auto"], None
    else:
        fixed = choice
        told_in = fixed if fixed in OFFLINE_LANGUAGES else spoken
        text = get_texts(told_in)["fixed"].format(language=name_language(fixed, language=told_in))
        if fixed not in OFFLINE_LANGUAGES:
            text = f"{text} {get_texts(told_in)['limited']}"
    return HandledRequest(
        name=NAME, text=text, changes=(FixLanguage(language=fixed),), is_command=is_command
    )


def list_names(spoken: str) -> str:
    """Return the names of the languages that can be chosen."""
    return ", ".join(name_language(each, language=spoken) for each in LANGUAGES)


def tell_unlisted(spoken: str) -> str:
    """Tell that a language cannot be chosen, and which can."""
    return get_texts(spoken)["unlisted"].format(names=list_names(spoken))


def tell_choice(person: Person, spoken: str) -> str:
    """Tell how things stand, and what else may be chosen."""
    texts = get_texts(spoken)
    fixed = person.language if person.has_fixed_language else None
    other = name_language("de" if "de" not in {spoken, fixed} else "en", language=spoken)
    if fixed is None:
        return texts["is_auto"].format(other=other)
    return texts["is_fixed"].format(language=name_language(fixed, language=spoken), other=other)


LANGUAGE_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_language)
