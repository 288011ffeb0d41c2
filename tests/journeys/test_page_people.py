"""How people are connected, drawn in a browser: every name can be read, on a phone too."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from playwright.sync_api import Browser, expect

from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.people import ensure_owner
from oldfriend.runtime.wiring import open_app
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.memories import elsewhere
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
TALK = (
    "My brother Jonah lives in Leeds.",
    "Priya is Jonah's wife.",
    "My sister Ana lives in Porto.",
    "My friend Sam works at the harbour museum.",
    "My mother Eva lives in Clevedon.",
    "My dog is called Rufus.",
    "I live in Bedminster.",
    "My cousin Henrietta lives in Southampton.",
    "My boss Ferdinand lives in Kidderminster.",
)
FEWEST_TIES = 9
UPON_EACH_OTHER = """() => {
  const names = [...document.querySelectorAll(".graph text")].map(
    (one) => [one.textContent, one.getBoundingClientRect()]);
  const lie = ([, one], [, other]) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 3 && other.top < one.bottom - 3;
  return names.flatMap((one, place) => names.slice(place + 1)
    .filter((other) => lie(one, other)).map((other) => [one[0], other[0]]));
}"""
EMPTY = """() => {
  const figure = document.querySelector(".graph"), frame = figure.getBoundingClientRect();
  const drawn = [...figure.children].map((one) => one.getBoundingClientRect());
  return Math.max(Math.min(...drawn.map((each) => each.top)) - frame.top,
    frame.bottom - Math.max(...drawn.map((each) => each.bottom)));
}"""
MOST_EMPTY_PX = 70
BEYOND_THE_EDGE = """() => [...document.querySelectorAll(".filters .chip")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent)"""
SIZES = """() => [...document.querySelectorAll(".graph text")].map((one) =>
  parseFloat(getComputedStyle(one).fontSize) * one.ownerSVGElement.getScreenCTM().a)"""
SMALLEST_PX = 11.5


BESIDE_ITS_LINE = """() => {
  const name = document.querySelector(".bond-name");
  const [x, y] = [Number(name.getAttribute("x")), Number(name.getAttribute("y")) - 4];
  const lines = [...document.querySelectorAll(".bond")].map((one) => [...one.points]);
  const [, from, to] = lines.find((one) => one.length === 3);
  return Math.abs((to.x - from.x) * (from.y - y) - (from.x - x) * (to.y - from.y))
    / Math.hypot(to.x - from.x, to.y - from.y);
}"""
"""How far a name is from the line in which two others meet, in units of the drawing."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """A process of somebody who has told of their people."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("people") / "data"))
    with served(program):
        with opened(browser, new_link(program)) as (page, _):
            for each in TALK:
                say(page, each)
        program.done("consolidate", "--now")
        yield program


async def know_apart(
    data: Path, names: Sequence[str], *, parents: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Have people stored by their names, as if nobody had asked whether two are one.

    ``parents``: the child of each.
    """
    async with open_app(load_settings({}, data=str(data))) as app, app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=(now := app.clock()), zone="UTC")
        people = {
            name: Entity(
                id=EntityId(ObjectId(new_id(now))),
                person=owner.id,
                kind="person",
                name=name,
                learned_at=Micros(now - len(names) + place),
            )
            for place, name in enumerate(names)
        }
        ties = [
            StoredBelief(
                id=MemoryId(ObjectId(new_id(now))),
                person=owner.id,
                kind="triple",
                text=f"{parent} is a parent of {child}.",
                language="en",
                subject="other",
                key="parent_of",
                value=child,
                entities=(people[parent].id, people[child].id),
                learned_at=now,
            )
            for parent, child in parents.items()
        ]
        by = Provenance(author="rule/1")
        for each in (*people.values(), *ties):
            await record_decision(tx, each, op="learned", base=0, provenance=by, now=now)


def test_two_parents_meet_in_one_line_to_their_child_that_is_named_once(
    browser: Browser, tmp_path: Path
) -> None:
    """And the name stands on that line, not in the room between two."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    parents = {"Jonah": "Ines", "Priya": "Ines"}
    elsewhere(know_apart(program.data, ["Jonah", "Priya", "Ines"], parents=parents))
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        page.goto(f"{link.partition('/#')[0]}/people/graph")
        expect(page.locator(".bond-name")).to_have_text("parent of")
        beside = page.evaluate(BESIDE_ITS_LINE)

    assert beside < 1
    assert complaints == []


def test_somebody_stored_twice_is_joined_on_people_and_set_apart_again(
    browser: Browser, tmp_path: Path
) -> None:
    """Asked about where it is likely, by hand else; each can be undone."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    elsewhere(know_apart(program.data, ["Tom", "Tom Baker", "Mim", "Miriam", "Ana", "Ben"]))
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        page.goto(f"{link.partition('/#')[0]}/people")
        cards = page.locator(".card")
        expect(cards).to_have_count(6)
        expect(page.get_by_text("Is Tom Baker the same as Tom?")).to_have_count(1)
        expect(page.get_by_text("the same as")).to_have_count(1)
        page.get_by_role("button", name="The same", exact=True).click()
        expect(cards).to_have_count(5)
        page.get_by_role("button", name="Undo").click()
        expect(cards).to_have_count(6)
        expect(page.get_by_text("the same as")).to_have_count(0)  # they have been told apart
        page.get_by_role("link", name="Miriam").click()
        page.get_by_role("button", name="same person as").click()
        page.get_by_label("Who is it as well?").fill("Mim")
        page.get_by_role("button", name="Mim", exact=True).click()
        expect(page.get_by_text("also called Mim")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("also called Mim")).to_have_count(0)

    assert complaints == []


@pytest.mark.parametrize("size", [(1360, 860), (390, 800)], ids=["wide", "phone"])
def test_names_in_the_drawing_of_people_lie_beside_each_other(
    browser: Browser, program: Program, size: tuple[int, int]
) -> None:
    """Those of people and of their ties, none too small; and the drawing fills its frame."""
    width, height = size
    viewport = {"width": width, "height": height}
    with opened(browser, link := new_link(program), viewport=viewport) as (page, complaints):
        page.get_by_label("Say something …").wait_for()
        page.goto(f"{link.partition('/#')[0]}/people")
        page.locator(".filters .chip").last.wait_for()
        beyond = page.evaluate(BEYOND_THE_EDGE)
        page.goto(f"{link.partition('/#')[0]}/people/graph")
        expect(page.locator(".bond-name").nth(FEWEST_TIES - 1)).to_be_attached()
        legend, drawing = page.locator(".graph-legend").bounding_box(), page.locator(".graph")
        frame = drawing.bounding_box()
        upon_each_other = page.evaluate(UPON_EACH_OTHER)
        empty = page.evaluate(EMPTY)
        smallest = min(page.evaluate(SIZES))

    assert beyond == []
    assert legend and frame
    assert legend["y"] + legend["height"] <= frame["y"]
    assert upon_each_other == []
    assert empty < MOST_EMPTY_PX
    assert smallest >= SMALLEST_PX
    assert complaints == []
