"""A given model in a role, asked through the fallback chain that all are."""

import random
from collections.abc import Mapping
from dataclasses import replace

from oldfriend.app.app_context import AppContext, RoleModel
from oldfriend.config.settings_schema import ModelRole
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import CallSink, LanguageModel


def with_models(app: AppContext, models: Mapping[ModelRole, LanguageModel]) -> AppContext:
    """The same house, with these models in their roles, and none in others."""
    return replace(app, models={role: build_role(app, model) for role, model in models.items()})


def build_role(app: AppContext, model: LanguageModel) -> RoleModel:
    """A role that is played by one model."""
    rests = CircuitBreaker()

    def chain(record: CallSink) -> FallbackChain:
        return FallbackChain(
            models=[model],
            record=record,
            circuit_breaker=rests,
            clock=app.clock,
            random=random.random,
        )

    return RoleModel(name=model.name, build_chain=chain)
