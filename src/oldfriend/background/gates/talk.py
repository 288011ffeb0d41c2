"""What is a claim held against? The talk that it was read in, and what is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oldfriend.background.extraction import Claim, Material, Named
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.telltales import Telltales, telltales_of
from oldfriend.domain.ids import MemoryId, MessageId
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import Entity, Memory
from oldfriend.domain.messages import Message
from oldfriend.prompts.phrasebook import SPOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A segment, ready to be looked things up in."""

    material: Material
    language: str
    names: frozenset[str]  # of whoever is known, or named in it; folded
    named: tuple[Named, ...]  # whoever was found to be named in it
    messages: Mapping[MessageId, Message]
    known: Mapping[MemoryId, Memory]
    heard: tuple[Message, ...]  # all of it with what was said just before, oldest first

    def before(self, message: Message) -> tuple[Message, ...]:
        """What was said before a message, oldest first."""
        return self.heard[: self._index(message)]

    def after(self, message: Message) -> tuple[Message, ...]:
        """What was said after a message, oldest first."""
        return self.heard[self._index(message) + 1 :]

    def _index(self, message: Message) -> int:
        return next(at for at, each in enumerate(self.heard) if each.id == message.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A claim with the places that support it, as far as they do."""

    claim: Claim
    places: tuple[Place, ...]
    talk: Talk

    @property
    def told(self) -> Telltales:
        """The words that tell, of the language in which the claim is written."""
        return telltales_of(detect_language(self.claim.text, fallback=self.talk.language))


def talk_in(material: Material, named: Iterable[Named] = ()) -> Talk:
    """The talk of a material, with whoever was found to be named in it."""
    named = tuple(named)
    everybody: list[Entity | Named] = [*material.entities, *named]
    names = {name for each in everybody for name in (each.name, *each.aliases)}
    return Talk(
        names=frozenset(name.casefold() for name in names),
        named=named,
        material=material,
        language=language_of(material),
        messages={message.id: message for message in material.messages},
        known={known.memory.id: known.memory for known in material.known},
        heard=(*material.before, *material.messages),
    )


def language_of(material: Material) -> str:
    """In which language the person talks there, by all that they say together.

    In none that no message of theirs seems to be in, unless it is spoken here: "is" and "Ben"
    are Dutch words.
    """
    own = [each for each in material.messages if each.trust == "person"]
    told = detect_language(" ".join(each.text for each in own), fallback=material.language)
    is_likely = told in SPOKEN or any(each.language == told for each in own)
    return told if is_likely else material.language


def spoken_in(place: Place) -> Telltales:
    """The words that tell, of the language in which something was said."""
    return telltales_of(detect_language(place.said, fallback=place.message.language))
