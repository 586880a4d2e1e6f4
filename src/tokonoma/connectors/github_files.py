"""Files, branches and logs of GitHub: what needs more than one request or a conversion."""

import base64
import binascii
import re
from typing import Any, cast

from tokonoma.connectors.model import Params, ServiceTool, as_object
from tokonoma.connectors.requests import quote_segment
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.core.service import ServiceClient, ServiceRequest, ServiceResponse

_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MAX_LOG = 1024 * 1024  # bytes, of its end
_LINES = 200
_ENTRY = ("name", "path", "type", "size", "sha")


def read_file(response: ServiceResponse, params: Params) -> Any:
    """A file with its text; bytes that are no text stay in base64. A directory is a list of its entries."""
    value = response.value
    if isinstance(value, list):
        return [_pick_facts(entry) for entry in cast("list[Any]", value)]
    if not isinstance(value, dict):
        raise Unavailable("GitHub answered with neither a file nor a directory.", reason="external")
    file = cast("dict[str, Any]", value)
    facts = {**_pick_facts(file), **({"download_url": file["download_url"]} if "download_url" in file else {})}
    if file.get("encoding") != "base64":  # a submodule, a link, or a file above 1 MB
        return facts
    try:
        content = base64.b64decode(str(file.get("content", "")))
    except (binascii.Error, ValueError):
        raise Unavailable("GitHub answered with content that cannot be decoded.", reason="external") from None
    try:
        return {**facts, "text": content.decode()}
    except UnicodeDecodeError:
        return {**facts, "encoding": "base64", "content": base64.b64encode(content).decode()}


def encode_file(params: Params) -> Params:
    """The content as GitHub wants it: base64 without line breaks."""
    given = dict(params)
    content = str(given["content"])
    if given.pop("encoding", "text") == "text":
        return {**given, "content": base64.b64encode(content.encode("utf-8", "replace")).decode()}
    try:
        return {**given, "content": base64.b64encode(base64.b64decode(content, validate=True)).decode()}
    except (binascii.Error, ValueError):
        raise Invalid("content is not base64. Leave encoding out if it is text.", field="content") from None


async def create_branch(client: ServiceClient, tool: ServiceTool, params: Params) -> ServiceResponse:
    """A branch at a commit, whose sha is looked up first; without `from_ref` at the default branch."""
    repo = f"/repos/{quote_segment(params['owner'], 'owner')}/{quote_segment(params['repo'], 'repo')}"
    start = params.get("from_ref")
    if start is None:
        start = _read_key(await client.send(ServiceRequest("GET", repo, repeatable=True)), "default_branch")
    if not _SHA.fullmatch(start):
        path = f"{repo}/commits/{quote_segment(start, 'from_ref')}"
        start = _read_key(await client.send(ServiceRequest("GET", path, repeatable=True)), "sha")
    body = {"ref": f"refs/heads/{params['branch'].removeprefix('refs/heads/')}", "sha": start}
    return await client.send(ServiceRequest("POST", f"{repo}/git/refs", body=body))


def ask_for_log(params: Params) -> Params:
    """GitHub sends the whole log; `lines` is for us."""
    return {name: value for name, value in params.items() if name != "lines"}


def read_log(response: ServiceResponse, params: Params) -> Any:
    """The last lines of a log, which is where a failure is told."""
    end = response.content[-_MAX_LOG:].decode(errors="replace")
    lines = end.splitlines()
    most = max(1, params.get("lines", _LINES))
    is_cut = len(lines) > most or len(response.content) > _MAX_LOG
    return {"text": "\n".join(lines[-most:]), "lines": min(most, len(lines)), "is_cut": is_cut}


def _pick_facts(entry: Any) -> dict[str, Any]:
    held = as_object(entry)
    return {key: held[key] for key in _ENTRY if key in held}


def _read_key(response: ServiceResponse, key: str) -> str:
    found = as_object(response.value).get(key)
    if not isinstance(found, str):
        raise Unavailable(f"GitHub answered without {key}.", reason="external")
    return found
