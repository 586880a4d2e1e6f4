"""The pages of two servers on one database, each with a person who is signed in: one has some reach of everything, the
other all of what that reach leaves. See `twins.py`."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import httpx
from specs.twins import CANARY, Twins, normalize
from web.seeds import claims, items, manuals, memory, vault
from web.site import Site

from tokonoma.app import App
from tokonoma.auth.people import find_person
from tokonoma.auth.reaches import to_columns
from tokonoma.core.reach import Reach

_SEEDS = {"memory": memory, "items": items, "claims": claims, "manual": manuals, "vault": vault}
_SET_REACH = """update person set root = :root, start = :start, modules = :modules, mask = :mask, extras = :extras
where id = :id"""
# What differs between any two requests of two people.
_OWN = re.compile(
    r'name="token" value="[^"]*"|<time datetime="[^"]*">[^<]*</time>|person:pagereader\w|pagereader\w|ac_[0-9a-f]{32}'
    r"|<dt>entries of the journal</dt><dd>[0-9,]+</dd>|<small>Version [^<]*</small>|(cursor=|/found/)[\w.%~-]+"
)


class Reader:
    """A person who is signed in at one of the servers, and a browser."""

    def __init__(self, app: App, name: str) -> None:
        self._app, self._name = app, name
        site = Site(app)
        site.add_person(name)
        site.sign_in(name)
        self.token = site.find_token()
        with app.database.reading() as rows:
            self._id = find_person(rows, name).id
        # One loop for all requests: its threads keep their connections to the database.
        self._loop = asyncio.Runner()
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(site.endpoint, client=("127.0.0.1", 1)),
            base_url=site.origin,
            cookies=site.cookies,
            headers={"origin": site.origin, "sec-fetch-site": "same-origin"},
        )

    def limit(self, reach: Reach) -> None:
        """As the owner does it on a page: it holds from the next request on."""
        with self._app.database.writing() as statements:
            statements.run(_SET_REACH, id=self._id, **to_columns(reach))

    def get(self, path: str) -> httpx.Response:
        return self._loop.run(self._client.get(path))

    def post(self, path: str, form: Mapping[str, Any]) -> httpx.Response:
        return self._loop.run(self._client.post(path, data={**form, "token": self.token}))

    def close(self) -> None:
        self._loop.run(self._client.aclose())
        self._loop.close()


class PageTwins:
    def __init__(self, twins: Twins) -> None:
        self.twins = twins
        owner = Site(twins.whole)
        self.paths = [path for name, seed in _SEEDS.items() for path in seed.fill(owner, f"canary{name}inroot roof")]
        self._readers = Reader(twins.whole, "pagereadera"), Reader(twins.lacking, "pagereaderb")

    def meet(self, reach: Reach) -> tuple[Reader, Reader]:
        """Both with their rights, as `Twins.meet`, which comes first."""
        # Who may not write keeps no account of what was read: that is said of a person, not of a tool that is there.
        rules = {rule for rule in reach.mask if rule.endswith(":write") and "@" not in rule}
        plain = replace(self.twins.plain, mask=frozenset(rules))
        for reader, given in zip(self._readers, (reach, plain), strict=True):
            reader.limit(given)
        return self._readers

    def close(self) -> None:
        for reader in self._readers:
            reader.close()


def normalize_page(page: httpx.Response) -> tuple[int, str, str]:
    text = normalize(_OWN.sub("-", unescape(page.text)))
    return page.status_code, _OWN.sub("-", page.headers.get("location", "")), text


def list_words(text: str) -> set[str]:
    """The words of records that a text shows."""
    return {found[0] for found in CANARY.finditer(text)}
