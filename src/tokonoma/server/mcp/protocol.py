"""The names and numbers of MCP in both eras: with a handshake (`initialize`), and stateless (all in each `_meta`)."""

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_SERVER = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

# Codes of the specification, 2026-07-28.
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

# Retired in 2026-07-28, still what a client of the handshake era expects.
RESOURCE_NOT_FOUND = -32002
REQUEST_CANCELLED = -32800

# The band left to servers: -32000 to -32019.
REFUSED = -32000
LIMITED = -32010
UNAUTHENTICATED = -32011

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
