"""A finding of the doctor: what was looked at, how it is, and what to do about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.errors import Refusal

FindingState = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: FindingState
    says: str
    do: str = ""


def run_check(name: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """The findings of one look. One that breaks is a finding too: the others still happen."""
    try:
        return list(look())
    except Refusal as error:
        return [Finding(name, "fail", error.message)]
    except OSError as error:
        return [Finding(name, "fail", f"cannot be looked at: {error}.")]
    except Exception as error:
        return [Finding(name, "fail", f"the check itself broke ({type(error).__name__}).", "Please report this.")]
