"""`open`: a one-time link that signs a person in to the pages of a running server."""

import http.client
import ssl
from urllib.parse import quote, urlsplit

import click

from tokonoma.app import App
from tokonoma.auth.people import ensure_owner, find_person
from tokonoma.auth.sessions import TICKET_SECONDS, check_path, create_ticket, withdraw_ticket
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.output import open_browser, print_line, print_note
from tokonoma.core.errors import Unavailable

_WAIT = 3.0  # seconds for a server to answer
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]"}  # noqa: S104 - listened on, not connected to


@command("open", "host", "port", "public_url", "database_url")
@click.argument("page", default="")
@click.option("--person", default="owner", show_default=True, help="Whom the link signs in, by name or id.")
@click.option("--no-browser", is_flag=True, help="Print the link, but open no browser.")
@pass_app
def open_page(app: App, page: str, person: str, no_browser: bool) -> None:
    """Print a link that signs the owner in to the pages of a running server, and open it in a browser.

    The link is good once, for five minutes. PAGE is the name of a page, such as journal, or a path.
    """
    path = check_path(page if page.startswith("/") else f"/admin/{page}")
    asked, verify = _find_server(app)
    with app.write_as_owner("people.link") as statements:
        ensure_owner(statements)
        found = find_person(statements, person)
        secret = create_ticket(statements, found.id, path)
    landing = f"/sign-in?link={quote(secret)}"
    if _ask(asked, landing, verify=verify) != 200:
        with app.database.writing() as statements:
            withdraw_ticket(statements, secret)
        advice = "It uses another data folder or database: `tokonoma where` shows those of this command."
        raise Unavailable(f"The server at {asked} does not know this link. {advice}", reason="other_server")
    link = (app.settings.get_text("public_url") or asked) + landing
    print_line(link)
    print_note(f"This link signs {found.name!r} in, once, within {TICKET_SECONDS // 60} minutes.")
    if not no_browser:
        open_browser(link)


def _find_server(app: App) -> tuple[str, bool]:
    """The origin of a server that answers: at its own address, else where browsers reach it; and whether its
    certificate counts. At its own address it may be that of the public name."""
    settings = app.settings
    host = settings.get_text("host")
    name = _EVERY_ADDRESS.get(host, f"[{host}]" if ":" in host and not host.startswith("[") else host)
    scheme = "https" if settings.get_text("tls_cert") else "http"
    own = f"{scheme}://{name}:{settings.get_int('port')}"
    public = settings.get_text("public_url")
    for origin, verify in ((own, False), (public, True)):
        if origin and _ask(origin, "/health", verify=verify) == 200:
            return origin, verify
    message = f"No server answers at {' or '.join(filter(None, [own, public]))}. Start one with `tokonoma serve`,"
    raise Unavailable(f"{message} or say where it is with --host and --port, or public_url.", reason="no_server")


def _ask(origin: str, path: str, *, verify: bool) -> int:
    """The status of a GET; 0 if nothing answers."""
    place = urlsplit(origin)
    if place.scheme == "https":
        context = ssl.create_default_context()
        if not verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(place.netloc, timeout=_WAIT, context=context)
    else:
        connection = http.client.HTTPConnection(place.netloc, timeout=_WAIT)
    try:
        connection.request("GET", path, headers={"Host": place.netloc})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
