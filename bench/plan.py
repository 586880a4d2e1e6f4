"""How much is measured: a full run takes a few minutes, a quick one under a minute."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    cold_rounds: int = 15
    memory_rounds: int = 3
    stdio_rounds: int = 6
    stdio_calls: int = 1000  # a round
    http_rounds: int = 5
    http_seconds: float = 2.0  # a round
    http_connections: int = 16
    write_rounds: int = 5
    write_seconds: float = 2.0  # a round
    write_processes: tuple[int, ...] = (1, 4)
    item_counts: tuple[int, ...] = (1_000, 10_000, 100_000)
    item_calls: int = 200
    search_sizes: tuple[int, ...] = (1_000, 10_000, 100_000)


QUICK = Plan(
    cold_rounds=5,
    memory_rounds=1,
    stdio_rounds=4,
    stdio_calls=300,
    http_rounds=2,
    http_seconds=1.0,
    write_rounds=2,
    write_seconds=1.0,
    item_counts=(1_000, 10_000),
    item_calls=60,
    search_sizes=(1_000,),
)
