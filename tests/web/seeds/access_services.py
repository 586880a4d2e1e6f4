from web.site import Site

from tokonoma.app.accounts import store_account
from tokonoma.core.ids import uuid7
from tokonoma.keyring.accounts import NewAccount, set_state

PATH = "/admin/services"


def fill(site: Site, text: str) -> list[str]:
    """An account and an app whose readable texts are this one. A service may call its user anything."""
    name = f"a-{uuid7()[-12:]}"
    details = {"site": text[:300], "base_url": "https://github.example"}
    new = NewAccount("github", name, who=text[:200], details=details, scopes=(text[:50] or "repo",))
    account = store_account(site.app, new, {"token": "x"})
    own = NewAccount("notion", f"{name}-app", kind="app", details={"client_id": text[:100]})
    app = store_account(site.app, own, {"client_secret": "x"})
    with site.app.database.writing() as statements:
        set_state(statements, account, text[:400])
    return [
        PATH,
        f"{PATH}/accounts/{account.id}",
        f"{PATH}/accounts/{app.id}",
        f"{PATH}/accounts/{account.id}/disconnect",
        f"{PATH}/connect/atlassian",
        f"{PATH}/connect/notion",
    ]
