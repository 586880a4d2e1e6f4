"""Whether those who have something open may still use it: streams of notifications, and calls that take long."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial

from tokonoma.core.call import Caller, Principal
from tokonoma.core.concurrency import Job, JobStarter, do_nothing
from tokonoma.core.errors import Denied, Missing, Refusal, Unauthenticated
from tokonoma.core.log import log
from tokonoma.core.reach import Reach
from tokonoma.server.mcp.interface import OnLoss

EVERY = 1.0
"""Seconds between two looks at a credential, however many streams it has."""

_NARROWED = "What this credential may use has been changed meanwhile. Send the request again."


@dataclass(slots=True, eq=False)
class _Follower:
    caller: Caller
    reach: Reach | None  # None: not known before the first look
    on_loss: OnLoss


class AccessWatch:
    """`ask` finds the principal of a caller in the store, whatever is remembered of it; `jobs` gives what runs a job.
    While nothing is open it does nothing, and no thread waits."""

    def __init__(self, ask: Callable[[Caller], Principal], jobs: Callable[[], JobStarter]) -> None:
        self._ask, self._jobs = ask, jobs
        self._followers: set[_Follower] = set()
        self._lock = threading.Lock()
        self._next_look = 0.0

    def follow(self, caller: Caller, on_loss: OnLoss) -> Callable[[], None]:
        """Call `on_loss`, from another thread, once the credential has ended, and whenever its reach has become
        smaller. Returns what ends that."""
        if caller.transport != "http" and caller.key is None:
            return do_nothing  # the owner
        reach = None if caller.principal is None else caller.principal.reach
        follower = _Follower(replace(caller, principal=None), reach, on_loss)
        with self._lock:
            if not self._followers:
                self._next_look = time.monotonic() + EVERY
            self._followers.add(follower)
        self._jobs().start(Job("access", self._look))
        return partial(self._discard, follower)

    def _discard(self, follower: _Follower) -> None:
        with self._lock:
            self._followers.discard(follower)

    def _look(self) -> float | None:
        """A step of the job: seconds until the next one, None if nothing is open."""
        with self._lock:
            followers = list(self._followers)
        early = self._next_look - time.monotonic()
        if not followers or early > 0:
            return early if followers else None
        self._next_look = time.monotonic() + EVERY
        found: dict[Hashable, Principal | Refusal | None] = {}
        for each in followers:
            credential = _identify_credential(each.caller)
            if credential not in found:
                found[credential] = self._find(each.caller)
            self._compare(each, found[credential])
        return EVERY

    def _find(self, caller: Caller) -> Principal | Refusal | None:
        """The principal, or why it is none any more; None if that cannot be known now."""
        try:
            return self._ask(caller)
        except (Unauthenticated, Missing) as refusal:
            return refusal
        except Exception as error:  # such as a database that is away: the next look may be better
            log("warning", "access", error=type(error).__name__)
            return None

    def _compare(self, follower: _Follower, found: Principal | Refusal | None) -> None:
        if isinstance(found, Refusal):
            self._discard(follower)
            follower.on_loss(found, True)
        elif found is not None:
            before, follower.reach = follower.reach, found.reach
            if before is not None and not found.reach.covers(before):
                follower.on_loss(Denied(_NARROWED, reason="narrowed"), False)


def _identify_credential(caller: Caller) -> Hashable:
    if caller.token is None and caller.key is None:
        return caller.remote, caller.forwarded
    return caller.token, caller.key, caller.origin
