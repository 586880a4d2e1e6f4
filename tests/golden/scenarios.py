"""What is played, in which order, against which kind of server."""

from dataclasses import dataclass, field
from typing import Literal

from golden.calls_claims import CLAIMS
from golden.calls_cli import COMMANDS
from golden.calls_files import BRIDGE, MANUAL, VAULT
from golden.calls_gateway import BATCH, SCHEMAS, SYSTEM
from golden.calls_http import GATES, KEYS, LIMITED, PAGES, SOCKETS
from golden.calls_items import ITEMS
from golden.calls_meaning import MEANING
from golden.calls_memory import MEMORY
from golden.calls_wire import DIRECT, HANDSHAKE, LINES, METHODS, MODERN_LINES
from golden.steps import Step

# Words alone: whether a vector is there yet is a matter of time.
WORDS = {"TOKONOMA_EMBED_PROVIDER": "none"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """Its recording is `recorded/<name>.jsonl`: the same one for every database it is played on."""

    name: str
    client: Literal["stdio", "http", "cli"]
    steps: list[Step]
    words: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=lambda: WORDS)
    databases: tuple[str, ...] = ("sqlite", "postgresql")


TOOLS: list[Step] = [*SYSTEM, *MEMORY, *ITEMS, *MANUAL, *VAULT, *BRIDGE, *BATCH, *CLAIMS]
LIMITS = ("--rate-limit", "2/hour", "--modules-off", "bridge")
FRIENDS = ("--allowed-hosts", "tea.example", "--allowed-origins", "https://tea.example")

SCENARIOS = [
    Scenario("stdio", "stdio", [*HANDSHAKE, *METHODS, *LINES, *MODERN_LINES, *SCHEMAS, *TOOLS]),
    Scenario("http", "http", [*METHODS, *PAGES, *GATES, *SOCKETS, *TOOLS, *KEYS]),
    Scenario("meaning", "stdio", [*MEANING], env={}),
    Scenario("direct", "stdio", [*DIRECT], ("--direct", "all"), databases=("sqlite",)),
    Scenario("limited", "http", LIMITED, (*LIMITS, *FRIENDS), databases=("sqlite",)),
    Scenario("cli", "cli", [*COMMANDS], databases=("sqlite",)),
]
