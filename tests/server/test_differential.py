"""One recorded dialogue, played to our wire and to the official SDK's low-level server: the answers are the same.

Differences that are allowed:
- the wording of an error, and data that only one of the two adds to it (the code must be the same);
- the SDK spells out `listChanged: false` and `subscribe: false`, which the protocol takes for granted; and a server of
  `subscriptions/listen` announces with it that the lists of tools and prompts change, which ours do not;
- the request called `stricter`: the SDK takes `true` for a progress token, the specification does not.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
DIALOGUE = json.loads((HERE / "dialogue.json").read_text(encoding="utf-8"))


def played(program: str, messages: list[Any]) -> list[list[Any]]:
    """For each request what came back, up to its answer."""
    with subprocess.Popen(
        [sys.executable, str(HERE / program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        heard: list[list[Any]] = []
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                heard.append([])
                while not heard[-1] or "id" not in heard[-1][-1]:
                    heard[-1].append(json.loads(process.stdout.readline()))
        process.stdin.close()
    return heard


def comparable(message: Any, other: Any) -> Any:
    if "error" in message:
        error = {"code": message["error"]["code"]}
        if message["error"].get("data") and other.get("error", {}).get("data"):
            error["data"] = message["error"]["data"]
        return {**message, "error": error}
    result = message.get("result", {})
    if "capabilities" in result:
        offered = {
            name: {flag: on for flag, on in flags.items() if on and name == "resources"}
            for name, flags in result["capabilities"].items()
        }
        return {**message, "result": {**result, "capabilities": offered}}
    return message


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_same_answers(era):
    asked = [message for message in DIALOGUE[era] if "id" in message]
    ours, theirs = played("program.py", DIALOGUE[era]), played("oracle.py", DIALOGUE[era])
    for message, mine, other in zip(asked, ours, theirs, strict=True):
        if message["id"] == "stricter":
            assert (mine[-1]["error"]["code"], "result" in other[-1]) == (-32602, True)
            continue
        assert len(mine) == len(other), message
        for one, two in zip(mine, other, strict=True):
            assert comparable(one, two) == comparable(two, one), message
