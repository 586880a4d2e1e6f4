"""A Call is one asking for one tool. It walks the pipeline; every stage fills in what it knows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.reach import UNLIMITED, Reach

if TYPE_CHECKING:
    from tokonoma.core.content import ContentBlock
    from tokonoma.core.masks import RecordMasks
    from tokonoma.core.module import ToolInfo
    from tokonoma.core.policy import PolicyView

Progress = Callable[[float, float | None, str | None], None]
"""progress, total, message"""


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller and what it may use. `person` is the user behind a client or a web session."""

    name: str
    kind: Literal["owner", "key", "client", "web"] = "owner"
    reach: Reach = UNLIMITED
    person: str = ""

    @property
    def root(self) -> str:
        return self.reach.root

    @property
    def default(self) -> str:
        return self.reach.default


OWNER = Principal("owner")


@dataclass(frozen=True, slots=True)
class InnerStep:
    """A call that a tool makes for its caller."""

    module: str
    tool: str
    params: Mapping[str, Any]
    watches: bool = False  # see Call


@dataclass(frozen=True, slots=True)
class Quota:
    """How often a caller may use a tool, as far as it has come."""

    allowed: bool
    limit: int  # calls
    remaining: int
    reset: int  # seconds until all of them are there again
    wait: int  # seconds until the next one, if there is none


@dataclass(slots=True)
class Caller:
    """What the transport knows of the other side. `principal` is set where the transport has authenticated already."""

    transport: str  # stdio | http | cli | web
    token: str | None = None
    key: str | None = None  # the name of a credential whose reach a local caller takes on (`stdio --as NAME`)
    remote: str | None = None
    forwarded: bool = False  # the request has passed a proxy: whatever its address, it is not local
    origin: str = ""  # under which it knows this server, like `https://tokonoma.example.com`
    client: str | None = None
    protocol_version: str | None = None  # of MCP; None: it has not said so
    principal: Principal | None = None

    @property
    def is_owner_at_work(self) -> bool:
        """The owner's own hands: the terminal, or a page that the owner is signed in to. Over MCP it is an agent that
        speaks, also where it speaks as the owner."""
        if self.transport == "cli":
            return True
        return self.transport == "web" and self.principal is not None and self.principal.kind == "owner"


@dataclass(slots=True)
class Call:
    """`module` and `tool` are the names as asked; `entry` is what the choose stage found for them."""

    module: str
    tool: str
    params: Mapping[str, Any]
    caller: Caller
    request_id: str = ""
    trace_parent: str | None = None
    progress: Progress | None = None
    parent: str | None = None  # the request id of the batch that this is a step of
    watches: bool = False  # of a tool that reads a resource: it is watched, and the value is a mark of it
    time_limit: float | None = None  # seconds; None: the tool's own, or the server's
    due: float | None = None  # when its time is over, by `time.monotonic`, after the deadline stage
    bytes_in: int = 0
    bytes_out: int = 0

    cancel_token: CancelToken = field(default_factory=CancelToken)
    trace_id: str = ""
    span_id: str = ""
    identified: Principal | None = None
    tool_info: "ToolInfo | None" = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])  # params after the parse stage
    body: bytes = b""  # the value as JSON, as it left the guard
    blocks: "Sequence[ContentBlock]" = ()  # images and documents beside the value
    value: Any = None  # what the tool returned; stages on the way back may replace it
    view: "PolicyView | None" = None  # what its principal may see, after the guard stage
    masks: "RecordMasks | None" = None  # what it may not see of that, after the guard stage
    read_unclassified: bool = False  # it has read texts without a class, such as older versions
    verdict: str = "allow"  # of the policy's rules about tools; `declined` if its client has said no to the question
    approval: str = ""  # the id of the approval that it waits for, or runs with
    policy_version: str = ""  # of the policy that the call was walked under
    quota: Quota | None = None  # where a limit is set, after the limit stage
    step_tools: "Mapping[str, ToolInfo]" = field(default_factory=dict[str, Any])  # of a batch: id → tool
    step_authors: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])  # of a batch: id → names
    sources: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """The records whose text it returns, by address: who wrote each, "" if nobody knows, None if still to be read."""
    found: list[str] = field(default_factory=list[str])  # what it searched out: its sources, if it has named none
    authors: frozenset[str] = frozenset()  # who wrote its sources, after the authors stage; "": nobody knows
    detections: list[str] = field(default_factory=list[str])  # kind:hash of what the guard found in its texts
    corrections: list[str] = field(default_factory=list[str])  # plain slips that were understood, for the answer
    journaled: bool = False  # its journal entry was stored by its own write

    @property
    def principal(self) -> Principal:
        """The principal, after the identify stage."""
        assert self.identified is not None, "identify has not run"
        return self.identified

    @property
    def chosen_tool(self) -> "ToolInfo":
        """The catalogue entry, after the choose stage."""
        assert self.tool_info is not None, "choose has not run"
        return self.tool_info

    @property
    def granted_view(self) -> "PolicyView":
        """What the principal may see, after the guard stage."""
        assert self.view is not None, "guard has not run"
        return self.view

    @property
    def record_masks(self) -> "RecordMasks":
        """What the principal may not see of that, after the guard stage."""
        assert self.masks is not None, "guard has not run"
        return self.masks

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call is, if it asked to know."""
        if self.progress is not None:
            self.progress(progress, total, message)
