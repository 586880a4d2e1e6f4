"""Why a client cannot sign in: the settings, the keyring, the address, and the way to the metadata of clients."""

from collections.abc import Iterator

from tokonoma.app import App
from tokonoma.app.doctor.machine import Finding
from tokonoma.app.keyring import open_keyring
from tokonoma.auth.offer import OAuthOffer
from tokonoma.config.settings import Settings
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Refusal
from tokonoma.core.network import is_loopback
from tokonoma.keyring.status import check_keyring as check_status
from tokonoma.keyring.tables import TABLES
from tokonoma.store.database import Database
from tokonoma.store.migrate import read_applied

_GUIDE = "See docs/guides/remote.md."
_UNLOCK = "Put the master key back where it was: `tokonoma keyring status` says where it is looked for."
_REGISTER = "Set oauth_registration = true, or oauth_documents = on."


def check_oauth(app: App, database: Database) -> Iterator[Finding]:
    """Nothing is said while OAuth is off: by default, or because the owner wants it so."""
    settings = app.settings
    with database.reading() as rows:
        done = read_applied(database, rows)
        has_tables = "005_oauth" in done.get("auth", ())
        if not _is_wanted(settings, rows if has_tables else None):
            return
        sealed = _find_seal(app, rows) if TABLES[0].name in done.get("keyring", ()) else ""
        fetched = has_tables and _was_fetched(rows)
    public_url = settings.get_text("public_url")
    host = settings.get_text("host")
    if not is_loopback(host) and not public_url and not settings.get_names("allowed_hosts"):
        says = f"clients cannot sign in: {host} is open to other machines, and nothing says by which name"
        yield Finding("oauth", "fail", says, f"Set public_url to the address that clients use. {_GUIDE}")
        return
    if sealed:
        says = f"clients cannot sign in: the key that signs their tokens is in the keyring. {sealed}"
        yield Finding("oauth", "fail", says, _UNLOCK)
    yield from _check_registration(settings, fetched=fetched)
    yield from _check_address(settings)
    if settings.get_text("oauth_documents") != "off":
        yield _check_documents(settings, fetched=fetched)


def _is_wanted(settings: Settings, rows: Rows | None) -> bool:
    """`rows`: None in an older store; the next start adds its tables."""
    setting, public_url = settings.get_text("oauth"), settings.get_text("public_url")
    if rows is None:
        return setting == "on" or (setting == "auto" and bool(public_url))
    return OAuthOffer(setting, public_url).is_on(rows)


def _find_seal(app: App, rows: Rows) -> str:
    """Why the keyring cannot be opened; empty if it can, or was never used."""
    found = check_status(rows, open_keyring(app))
    return found.problem if found.state == "sealed" else ""


def _was_fetched(rows: Rows) -> bool:
    from tokonoma.auth.oauth.documents import was_fetched

    return was_fetched(rows)


def _check_registration(settings: Settings, *, fetched: bool) -> Iterator[Finding]:
    documents = settings.get_text("oauth_documents")
    if settings.get_flag("oauth_registration") or documents == "on" or (documents == "auto" and fetched):
        return
    if documents == "off":
        says = "new clients cannot sign in: they can neither register themselves nor name the URL of their metadata"
    else:
        says = (
            "new clients cannot sign in: they cannot register themselves, and that they may name the URL of their"
            " metadata is not announced before one could be fetched"
        )
    yield Finding("oauth", "fail", says, _REGISTER)


def _check_address(settings: Settings) -> Iterator[Finding]:
    from tokonoma.app.doctor.machine import is_tokonoma
    from tokonoma.app.doctor.public_url import check_public_url

    public_url, host, port = settings.get_text("public_url"), settings.get_text("host"), settings.get_int("port")
    if public_url:
        yield from check_public_url(public_url)
        if is_loopback(host) and public_url.startswith("https:") and not settings.get_names("trusted_proxies"):
            says = "all clients seem to come from the address of the proxy, so limits count them together"
            remedy = 'Say which proxy may name their addresses: trusted_proxies = ["127.0.0.1", "::1"].'
            yield Finding("oauth", "warn", says, remedy)
        return
    origin = f"http://{host if is_loopback(host) else 'localhost'}:{port}"
    if port and not settings.get_text("tls_cert") and is_tokonoma(host, port):
        yield from check_public_url(origin)
    else:
        yield Finding("oauth", "ok", f"clients on this machine sign in at {origin}/mcp while `tokonoma serve` runs")


def _check_documents(settings: Settings, *, fetched: bool) -> Finding:
    from tokonoma.auth.oauth.documents import check_document, read_known_clients
    from tokonoma.auth.oauth.fetch import DocumentFetcher

    client_id = next(iter(read_known_clients()))
    try:
        check_document(client_id, DocumentFetcher().fetch(client_id))
    except Refusal as error:
        says = f"metadata of clients cannot be fetched from their hosts ({error.reason}); for Claude a copy is used"
        remedy = 'Allow outgoing HTTPS, or set `oauth_documents = "off"`: clients then register themselves.'
        # While nothing was ever fetched, `auto` announces nothing, and clients register themselves.
        is_harmless = settings.get_text("oauth_documents") == "auto" and not fetched
        return Finding("documents", "ok" if is_harmless else "warn", says, "" if is_harmless else remedy)
    return Finding("documents", "ok", "metadata of clients can be fetched from their hosts")
