"""Numbers and the diary at the command line."""

from tests.cli.conftest import Call


def test_numbers_and_entries_are_shown(call: Call) -> None:
    """To read, and for a program."""
    assert "71.4 kg" in call("say", "I weighed 71.4 kg this morning").stdout
    call("say", "/log coffee 3 cups")
    call("say", "/journal We walked along the sea #family")

    assert "weight" in call("measurements").stdout
    assert "71.4 kg" in call("measurements", "weight").stdout
    (value,) = call("measurements", "weight", "--json").json["measurements"]
    assert (value["value"], value["unit"], value["origin"]) == (71.4, "kg", "told")
    assert "3 cup" in call("measurements", "coffee").stdout
    assert "along the sea" in call("diary", "--tag", "family").stdout
    assert "along the sea" in call("journal", "walking").stdout
    assert "no such entry" in call("diary", "mountains").stdout
