"""Goals over the API: set, counted for, changed and ended; everybody's own."""

from tests.api.conftest import Browse
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY


async def test_goal_is_set_once_counted_for_changed_and_ended(browse: Browse) -> None:
    """ACCEPTANCE L20."""
    owner = await browse()
    made = await owner.post("/goals", json={"text": "Run twice a week", "kind": "general"})
    goal = made.json()
    again = await owner.post("/goals", json={"text": "run twice a week"})
    did = await owner.patch(f"/goals/{goal['id'][:8]}", json={"action": "did"})
    changed = await owner.patch(
        f"/goals/{goal['id']}",
        json={"action": "change", "priority": 9, "deadline": "2035-12-31", "next_action": "Shoes"},
    )
    less = await owner.patch(
        f"/goals/{goal['id']}",
        json={"action": "change", "deadline": None, "next_action": ""},
    )
    done = await owner.patch(f"/goals/{goal['id']}", json={"action": "done"})

    assert (made.status_code, again.json()["id"]) == (201, goal["id"])
    assert (goal["times"], goal["period"], goal["priority"]) == (2, "week", 5)
    assert did.json()["done_in_period"] == 1
    assert changed.json()["priority"] == 9
    assert changed.json()["deadline"].startswith("2035-12-31")
    assert less.json()["deadline"] is None
    assert (less.json()["next_action"], less.json()["priority"]) == ("", 9)
    assert done.json()["status"] == "completed"
    assert (await owner.get("/goals")).json()["items"] == []
    reopened = await owner.patch(f"/goals/{goal['id']}", json={"action": "reopen"})
    assert reopened.json()["status"] == "active"
    assert len((await owner.get("/goals", params={"ended": True})).json()["items"]) == 1


async def test_what_was_done_of_an_amount_is_asked_for(browse: Browse) -> None:
    """A press of "Did it" does not tell how much of 100 km it was."""
    owner = await browse()
    made = await owner.post("/goals", json={"text": "Run 100 km by June"})
    did = await owner.patch(f"/goals/{made.json()['id']}", json={"action": "did"})

    assert (did.status_code, "km" in did.text) == (422, True)
    (goal,) = (await owner.get("/goals")).json()["items"]
    assert (goal["progress_count"], goal["last_progress"]) == (0, None)
    assert (goal["told"], goal["last_told"]) == (goal["progress_count"], goal["last_progress"])
    assert (goal["amount_done"], goal["amount_wanted"], goal["unit"]) == (0, 100, "km")


async def test_amount_is_counted_listed_and_taken_back(browse: Browse) -> None:
    """The field behind "Did it": how much it was, with what was counted below the goal."""
    owner = await browse()
    goal = (await owner.post("/goals", json={"text": "Run 100 km by June"})).json()
    address = f"/goals/{goal['id']}"
    await owner.patch(address, json={"action": "did", "amount": 5})
    did = (await owner.patch(address, json={"action": "did", "amount": 7.5})).json()
    less = await owner.patch(address, json={"action": "undo", "step": did["steps"][1]["id"]})
    unknown = await owner.patch(address, json={"action": "undo", "step": "nothing"})
    none = await owner.patch(address, json={"action": "did", "amount": 0.0001})

    assert (did["amount_done"], [each["amount"] for each in did["steps"]]) == (12.5, [7.5, 5])
    assert (less.json()["amount_done"], len(less.json()["steps"])) == (7.5, 1)
    assert (unknown.status_code, none.status_code) == (404, 422)
    (shown,) = (await owner.get("/goals")).json()["items"]
    assert [each["amount"] for each in shown["steps"]] == [7.5]
    last = (await owner.patch(address, json={"action": "undo"})).json()
    assert (last["amount_done"], last["steps"]) == (0, [])


async def test_goal_gets_other_words_with_another_rhythm(browse: Browse) -> None:
    """How often it is wanted is read from the new words; nothing else is lost."""
    owner = await browse()
    made = {"text": "Run twice a week", "next_action": "Shoes"}
    goal = (await owner.post("/goals", json=made)).json()
    changed = await owner.patch(
        f"/goals/{goal['id']}", json={"action": "change", "text": "Swim three times a week"}
    )
    empty = await owner.patch(f"/goals/{goal['id']}", json={"action": "change", "text": "  "})

    assert changed.json()["text"] == "Swim three times a week"
    assert (changed.json()["times"], changed.json()["next_action"]) == (3, "Shoes")
    assert empty.status_code == 422


async def test_what_was_done_counts_once_for_a_key(browse: Browse) -> None:
    """A program that sends it again, as after a lost answer."""
    owner = await browse()
    goal = (await owner.post("/goals", json={"text": "Run twice a week"})).json()["id"]
    did = [
        await owner.patch(
            f"/goals/{goal}",
            json={"action": "did"},
            headers={"Idempotency-Key": "0192a1b2-one-run"},
        )
        for _ in range(2)
    ]

    assert [each.json()["done_in_period"] for each in did] == [1, 1]
    (shown,) = (await owner.get("/goals")).json()["items"]
    assert shown["done_in_period"] == 1


async def test_goals_of_others_and_past_days_are_refused(browse: Browse) -> None:
    """Own goals only, no patterns in ids."""
    owner, omar = await browse(), await browse("Omar")
    goal = (await owner.post("/goals", json={"text": "Secret"})).json()
    refused = [
        await omar.patch(f"/goals/{goal['id']}", json={"action": "done"}),
        await omar.patch("/goals/%25", json={"action": "done"}),
        await owner.post("/goals", json={"text": "Late", "deadline": "2001-01-01"}),
        await owner.post("/goals", json={"text": "Odd", "priority": 11}),
    ]

    assert [each.status_code for each in refused] == [404, 404, 422, 422]
    assert (await omar.get("/goals")).json()["items"] == []
