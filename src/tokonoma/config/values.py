"""How the values of settings are read. ValueError says what a value must be."""

import re
from collections.abc import Callable
from typing import Any

SettingValue = str | int | float | bool | tuple[str, ...]


def as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def as_names(value: Any) -> tuple[str, ...]:
    parts: list[Any] = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(each, str) for each in parts):
        raise ValueError("must be a list of names")
    return tuple(each.strip() for each in parts if each.strip())


def between(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return read


def as_seconds(value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number <= 86_400:
        raise ValueError("must be a number of seconds, more than 0 and at most 86400")
    return number


def as_bool(value: Any) -> bool:
    known = {True: True, False: False, "1": True, "0": False, "true": True, "false": False, "yes": True, "no": False}
    key = value.lower() if isinstance(value, str) else value
    if not isinstance(key, bool | str) or key not in known:
        raise ValueError("must be true or false")
    return known[key]


def one_of(*allowed: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return str(value)

    return read


def as_networks(value: Any) -> tuple[str, ...]:
    names = as_names(value)
    if names:
        from tokonoma.core.network import parse_network  # 3 ms to import, and hardly anybody has proxies

        for name in names:
            parse_network(name)
    return names


def as_origin(value: Any) -> str:
    if value == "":
        return ""
    from urllib.parse import urlsplit  # 2 ms to import, and only a server with a name of its own has one

    from tokonoma.core.network import is_loopback

    try:
        parts = urlsplit(as_text(value).rstrip("/"))
        safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        whole = f"{parts.scheme}://{parts.netloc}" == value.rstrip("/") and "@" not in value
        is_origin = safe and whole and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_origin = False
    if not is_origin:
        raise ValueError("must look like https://tokonoma.example.com, without a path (http:// on this machine alone)")
    return str(value).rstrip("/")


def as_rate(value: Any) -> str:
    if value != "" and not (isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,6}/(second|minute|hour)", value)):
        raise ValueError("must look like 120/minute (or be empty for no limit)")
    return str(value)
