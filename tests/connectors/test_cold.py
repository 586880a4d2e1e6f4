"""What a start pays for connected services: their catalogue, and nothing of what they need when they are called."""

import json
import subprocess
import sys

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.core.providers import PROVIDER_MODULES, SERVICE_NAMES
from tokonoma.keyring.accounts import NewAccount
from tokonoma.store.database import format_sqlite_url

CODE = """
import json, sys
from tokonoma.app import App
from tokonoma.core.call import OWNER
app = App({"home": sys.argv[1], **json.loads(sys.argv[2])}, {})
wanted = ("hashlib", "httpx", "cryptography", "tokonoma.store", "tokonoma.keyring", "tokonoma.connectors")
loaded = [name for name in sys.modules if name.startswith((*wanted, "tokonoma.services"))]
print(json.dumps([sorted(info.name for info in app.registry.visible_modules(OWNER)), loaded]))
"""


def start(home, **flags):
    words = [sys.executable, "-c", CODE, str(home), json.dumps(flags)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def test_a_start_with_seven_services_loads_nothing_for_them(tmp_path):
    home = tmp_path / "home"
    app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
    for provider in PROVIDER_MODULES:
        store_account(app, NewAccount(provider, "main"), {"token": "canary"})
    app.close()
    modules, loaded = start(home)
    assert set(modules) >= SERVICE_NAMES
    assert loaded == []
    # The same file by its URL is the same database; another one has no accounts.
    assert set(start(home, database_url=format_sqlite_url(home / "tokonoma.db"))[0]) >= SERVICE_NAMES
    assert not SERVICE_NAMES & set(start(home, database_url=format_sqlite_url(tmp_path / "other.db"))[0])
    assert "canary" not in (home / "services.json").read_text()


def test_a_database_is_named_without_user_and_password(tmp_path):
    app = App({"home": str(tmp_path), "database_url": "postgresql://ada:canary@db.example:5433/tokonoma?x=canary"}, {})
    assert app.modules._services._database() == "postgresql://db.example:5433/tokonoma"
    app.close()
