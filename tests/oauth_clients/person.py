"""The owner with a browser without JavaScript: signs in with a one-time link, reads forms, and presses buttons."""

import ssl
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

Fields = list[tuple[str, str]]


class FormReader(HTMLParser):
    """The last form of a page as a browser sees it: where it leads, its fields as they are, and its buttons."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: Fields = []
        self.buttons: Fields = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action, self._inside = values.get("action", ""), True
            self.fields, self.buttons = [], []
        elif self._inside and tag == "input" and "name" in values:
            if values.get("type") not in ("checkbox", "radio") or "checked" in values:
                self.fields.append((values["name"], values.get("value", "on" if "type" in values else "")))
        elif self._inside and tag == "button" and "name" in values:
            self.buttons.append((values["name"], values.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"


class Person:
    """`origin`: of the server. `verify`: the certificates that the browser trusts."""

    def __init__(self, origin: str, verify: ssl.SSLContext | bool = True) -> None:
        self.origin = origin
        self.asked: list[str] = []  # what the consent pages have said
        self._browser = httpx.Client(verify=verify, trust_env=False, timeout=60.0)

    def close(self) -> None:
        self._browser.close()

    def sign_in(self, link: str) -> None:
        """`link`: as `tokonoma open` prints it."""
        form = FormReader(self._read(link))
        answer = self._send(link, form, form.fields)
        assert answer.status_code == 303, answer.text

    def decide(self, url: str, button: str = "allow", **chosen: str) -> str:
        """Answer the consent page at this URL; where the client is then to be sent. `chosen` replaces fields."""
        page = self._read(url)
        self.asked.append(page)
        form = FormReader(page)
        assert ("decision", button) in form.buttons, page
        kept = [(name, value) for name, value in form.fields if name not in chosen]
        answer = self._send(url, form, [*kept, *chosen.items(), ("decision", button)])
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def let_in(self, url: str, button: str = "allow", **chosen: str) -> None:
        """The same, and follow to the program of the client that listens there."""
        location = self.decide(url, button, **chosen)
        answer = self._browser.get(location)
        assert answer.status_code < 400, (location, answer.text)

    def _read(self, url: str) -> str:
        assert url.startswith(f"{self.origin}/"), url
        answer = self._browser.get(url, headers={"sec-fetch-site": "cross-site", "accept": "text/html"})
        assert answer.status_code == 200, (url, answer.status_code, answer.headers.get("location"), answer.text)
        return answer.text

    def _send(self, url: str, form: FormReader, fields: Fields) -> httpx.Response:
        assert form.action is not None
        target, data = urljoin(url, form.action), dict[str, Any]()
        for name, value in fields:
            data.setdefault(name, []).append(value)
        parts = urlsplit(url)
        headers = {"origin": f"{parts.scheme}://{parts.netloc}", "sec-fetch-site": "same-origin"}
        return self._browser.post(target, data=data, headers=headers)
