"""The embedders of a process: one for each recipe that is asked for, all closed at the end."""

import threading
from collections.abc import Callable

from tokonoma.embed.config import ModelConfig, ProviderAccess
from tokonoma.embed.embedder import Embedder


class EmbedderCache:
    """`make` is providers.embedder_of. A model that is no longer set up is reached as far as today's access goes: a
    question never goes to an address that was taken out of the settings."""

    def __init__(
        self,
        recipe: ModelConfig,
        access: ProviderAccess,
        make: Callable[[ModelConfig, ProviderAccess], Embedder | None],
    ) -> None:
        self.config = recipe
        self._access, self._make = access, make
        self._made: dict[ModelConfig, Embedder | None] = {}
        self._guard = threading.Lock()

    def get(self, recipe: ModelConfig) -> Embedder | None:
        """None where the recipe asks for none; Unready where it cannot be followed."""
        with self._guard:
            if recipe not in self._made:
                self._made[recipe] = self._make(recipe, self._access)
            return self._made[recipe]

    def get_current(self) -> Embedder:
        found = self.get(self.config)
        assert found is not None, "no worker is started for the provider `none`"
        return found

    def close(self) -> None:
        with self._guard:
            made, self._made = list(self._made.values()), {}
        for each in made:
            if each is not None:
                each.close()
