"""What a page receives and what it returns. A page is a plain function from the one to the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tokonoma.auth.sessions import Visitor, WebSession
from tokonoma.core.call import Caller
from tokonoma.core.errors import Denied, Missing
from tokonoma.server.http.security import HeaderList, Headers
from tokonoma.server.web.page_parts import Language, RunTool

Form = dict[str, list[str]]
_NO_TOOL = ("tool", "tool_rule")  # reasons: a mask hides it, a rule of the policy denies it


@dataclass(frozen=True, slots=True)
class PageRequest:
    method: str
    path: str
    query: str
    pairs: list[tuple[str, str]]  # of the query
    form: Form  # of a POST
    headers: Headers
    caller: Caller
    origin: str
    language: Language
    theme: str  # light, dark, or empty for the one of the system
    session: WebSession | None
    names: Mapping[str, str]  # what stands for `{name}` in the path of the route
    run_tool: RunTool

    def call(self, module: str, tool: str, **params: Any) -> Any:
        """The value of a tool, called through the pipeline as the person who is signed in. Raises Refusal. Parameters
        that are None are left out."""
        given = {name: value for name, value in params.items() if value is not None}
        return self.run_tool(self.person_caller, module, tool, given)

    def ask(self, module: str, tool: str, otherwise: Any, **params: Any) -> Any:
        """As `call`, for a part that a page can do without: `otherwise` for a person who has the module without this
        tool. Without the module there is no page."""
        try:
            return self.call(module, tool, **params)
        except (Missing, Denied) as error:
            if error.reason not in _NO_TOOL:
                raise
            return otherwise

    @property
    def person_caller(self) -> Caller:
        assert self.session is not None, "the page needs a session"
        return replace(self.caller, transport="web", principal=self.session.person.principal)

    @property
    def owner_caller(self) -> Caller:
        """For what only the owner may do. Denied for others."""
        if self.session is None or not self.session.person.is_owner:
            raise Denied("Only the owner can open this page.")
        return self.person_caller

    @property
    def visitor(self) -> Visitor:
        return Visitor(self.caller.remote, self.caller.client)

    def get_field(self, name: str) -> str:
        """A field of the form that is there once; else empty. Browsers send a line end as CR LF."""
        sent = self.form.get(name, [])
        return sent[0].replace("\r\n", "\n") if len(sent) == 1 else ""

    def list_field(self, name: str) -> list[str]:
        return self.form.get(name, [])

    def get_parameter(self, name: str) -> str:
        """The same of the query."""
        sent = [value for each, value in self.pairs if each == name]
        return sent[0] if len(sent) == 1 else ""

    def list_parameter(self, name: str) -> list[str]:
        return [value for each, value in self.pairs if each == name]


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the browser stores and does not show."""

    name: str
    content: bytes | Path


@dataclass(frozen=True, slots=True)
class PageResponse:
    """A template with its values, with `location` a redirect, with `download` a file, or with `data` a text of JSON for
    our own scripts."""

    template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200
    location: str = ""
    headers: HeaderList = field(default_factory=list[tuple[bytes, bytes]])
    redirect_origin: str = ""  # where a form of the page may lead, besides to us
    download: Download | None = None
    data: Any = None


Respond = Callable[[PageRequest], PageResponse]


def redirect(location: str, *headers: tuple[bytes, bytes]) -> PageResponse:
    return PageResponse(status=303, location=location, headers=list(headers))


def build_path(path: str, notice: str = "", **parameters: object) -> str:
    """A path with a query. What is None or empty is left out; `notice` is a word of `words.NOTICES`."""
    pairs = [(name, str(value)) for name, value in parameters.items() if value is not None and value != ""]
    query = urlencode([*pairs, *([("notice", notice)] if notice else [])])
    return f"{path}?{query}" if query else path


def refuse(title: str, text: str, status: int) -> PageResponse:
    """A page that says what went wrong, in words of the table."""
    return PageResponse("message.html", {"title": title, "text": text}, status)
