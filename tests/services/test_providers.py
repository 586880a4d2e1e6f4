"""The data of the providers: whole, and safe to send a token to."""

import pytest

from tokonoma.core.errors import Missing
from tokonoma.core.providers import PROVIDER_MODULES
from tokonoma.services.providers import PROVIDERS, get_provider

ALL = sorted(PROVIDERS)


def test_every_service_has_a_provider():
    assert {name: each.modules for name, each in PROVIDERS.items()} == PROVIDER_MODULES
    with pytest.raises(Missing):
        get_provider("nowhere")


@pytest.mark.parametrize("name", ALL)
def test_every_address_is_https(name):
    provider = get_provider(name)
    urls = [*provider.base_url.values(), provider.authorize_url, provider.token_url]
    urls += [url for url in (provider.sites_url, provider.revoke_url, provider.token_page) if url]
    assert [url for url in urls if not url.startswith("https://")] == []


@pytest.mark.parametrize("name", ALL)
def test_every_module_can_be_asked(name):
    provider = get_provider(name)
    assert {*provider.modules} <= {*provider.base_url}
    assert {*provider.api_version} == {*provider.modules}
    assert {each.module for each in provider.whoami} == {*provider.modules}
    assert provider.pastes == bool(provider.token_page)
    assert {*provider.scopes} <= {*provider.modules}
