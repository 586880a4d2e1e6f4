"""From a recipe to an embedder. Nothing is loaded or connected before the first text."""

from tokonoma.core.errors import Unready
from tokonoma.embed.builtin import build_builtin_embedder
from tokonoma.embed.config import ModelConfig, ProviderAccess
from tokonoma.embed.embedder import Embedder


def build_embedder(recipe: ModelConfig, access: ProviderAccess) -> Embedder | None:
    """None for the provider `none`; Unready, with what to do, if the recipe cannot be followed."""
    if recipe.provider == "none":
        return None
    if recipe.provider == "builtin":
        return build_builtin_embedder(recipe)
    if not recipe.model:
        raise Unready(f"The embedding provider {recipe.provider} needs a model: set embed_model.", reason="embedder")
    if recipe.provider == "openai":
        if not access.endpoints:
            raise Unready("The embedding provider openai needs an address: set embed_url.", reason="embedder")
        from tokonoma.embed.http import HttpEmbedder

        return HttpEmbedder(recipe, access)
    from tokonoma.embed.local import build_local_embedder

    return build_local_embedder(recipe, access)
