"""A process that lives long keeps the planner's statistics by itself."""

import time

from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool

_KNOWN = {
    "sqlite": "select count(*) from sqlite_schema s where s.name = 'sqlite_stat1'",
    "postgresql": "select count(*) from pg_stats where tablename = 'item'",
}


def test_a_warm_process_updates_statistics_by_itself(tmp_path, database_url):
    app = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    try:
        items = [{"type": "docs", "title": f"lamp {number}", "content": "x" * 800} for number in range(300)]
        call_owner_tool(app, "items", "import", {"items": items})
        assert count_known(app) == 0
        app.warm()
        until = time.monotonic() + 60
        while not count_known(app) and time.monotonic() < until:
            time.sleep(0.01)
        assert count_known(app) > 0
    finally:
        app.close()


def count_known(app: App) -> int:
    with app.database.reading() as rows:
        return rows.rows(_KNOWN[app.database.kind])[0][0]
