"""What a hostile client sends."""

from typing import Any

HOSTILE_URIS: list[Any] = [
    # Schemes that a browser runs, or opens itself
    "javascript:alert(1)", "JavaScript:alert(1)", "javascript://localhost/%0aalert(1)", "javascript:/callback",
    "data:text/html,<script>alert(1)</script>", "data:/text", "file:///etc/passwd", "file://localhost/callback",
    "vbscript:msgbox(1)", "vbscript:/x", "about:blank", "about:/blank", "blob:https://a.example/1", "blob:/a",
    "view-source:https://a.example/", "filesystem:/a", "intent://x/#Intent;end", "chrome://settings/", "ftp://a.example/x",
    "ws://a.example/x", "mailto:a@b.example", "tel:/123", "ms-msdt:/id", "urn:/ietf:wg:oauth:2.0:oob",
    "urn:ietf:wg:oauth:2.0:oob",
    # http beyond the person's own machine, and what only looks like it
    "http://a.example/cb", "http://127.0.0.1.evil.example/cb", "http://localhost.evil.example/cb", "http://127.1/cb",
    "http://2130706433/cb", "http://0x7f.0.0.1/cb", "http://0/cb", "http://[::ffff:127.0.0.1]/cb", "http://10.0.0.1/cb",
    "http://169.254.169.254/latest", "http://LOCALHOST/cb", "http://localhost:99999999/cb",
    # Users, fragments and other tricks with hosts
    "http://localhost@evil.example/cb", "http://user@localhost/cb", "https://user:pass@a.example/cb", "https://@a.example/cb",
    "https://a.example/cb#", "https://a.example/cb#x", "https://", "https:///cb", "https://:443/cb", "https://?x",
    "https:a.example/cb", "https:/a.example/cb", "https://a.example:0/cb", "https://a.example:x/cb",
    "https://a.example:70000/cb", "https://a..example/cb", "https://a%2eexample/cb", "https://[::1/cb", "https://[x]/cb",
    "https://a.example\\@evil.example/cb", "https://-a.example/cb", "https://a_b.example./cb",
    # Characters and paths that two programs read in two ways
    " https://a.example/cb", "https://a.example/cb ", "https://a.example/c b", "https://a.example/\ncb",
    "https://a.example/\tcb", "https://a.example/cb\x00", "https://ä.example/cb", "https://a.example/‮cb",
    "https://a.example/<script>", 'https://a.example/"', "https://a.example/../cb", "https://a.example/x/%2E%2e/cb",
    "https://a.example/./cb", "HTTPS://a.example/cb",
    # No URI at all
    "", "cb", "/cb", "//a.example/cb", ":", "://a", "a:/b", "cursor:", "cursor:callback", "cursor://", "1x://a/b",
    None, 7, True, [], {}, ["https://a.example/cb"], "https://a.example/" + "x" * 2000,
]  # fmt: skip
