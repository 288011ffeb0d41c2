"""How does a model that is given play a role in a house? Asked through the chain that all are."""

import random
from collections.abc import Mapping
from dataclasses import replace

from oldfriend.app.choices.sections import Role
from oldfriend.app.house import House, RoleModel
from oldfriend.llm.chain import Chain
from oldfriend.llm.model import Model, Record
from oldfriend.llm.resting import Rests


def with_models(house: House, models: Mapping[Role, Model]) -> House:
    """The same house, with these models in their roles, and none in others."""
    return replace(house, models={role: role_of(house, model) for role, model in models.items()})


def role_of(house: House, model: Model) -> RoleModel:
    """A role that is played by one model."""
    rests = Rests()

    def chain(record: Record) -> Chain:
        return Chain(
            models=[model], record=record, rests=rests, clock=house.clock, random=random.random
        )

    return RoleModel(name=model.name, chain=chain)
