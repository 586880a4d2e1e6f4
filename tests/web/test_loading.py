"""What a server loads for pages: nothing before the first one, and no cryptography for any."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from tokonoma.app import App
from web.site import Site
app = App({"home": sys.argv[1], "durable": False, "embed_provider": "none", "log_level": "warning"}, {})
site = Site(app)
site.get("/health")
print([name in sys.modules for name in ("jinja2", "markdown_it", "joserfc")])
site.sign_in()
memo = site.call("memory", "save", content="x")["memo_id"]
assert site.get(f"/admin/memory/{memo}").status_code == 200
print([name in sys.modules for name in ("jinja2", "markdown_it", "joserfc")])
app.close()
"""


def test_pages_load_what_they_need_when_they_are_asked_for(tmp_path):
    script = SCRIPT.replace("from web.site", f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\nfrom web.site")
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "home"], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[False, False, False]", "[True, True, False]"]
