"""Alarms ring once, late by a tick at most, and leave nothing behind on the loop."""

import asyncio

from tokonoma.server.http.timers import alarms


def test_the_due_ones_ring_once_and_the_dropped_ones_never():
    async def scene() -> list[str]:
        rung: list[str] = []
        watch = alarms()
        watch.set(0.01, lambda: rung.append("soon"))
        dropped = watch.set(0.01, lambda: rung.append("dropped"))
        later = watch.set(60, lambda: rung.append("later"))
        watch.drop(dropped)
        await asyncio.sleep(0.15)
        assert not later.rang
        watch.drop(later)
        watch.drop(later)  # dropping twice is no harm
        return rung

    assert asyncio.run(scene()) == ["soon"]


def test_an_alarm_may_set_another_when_it_rings():
    async def scene() -> None:
        second = asyncio.Event()
        watch = alarms()
        watch.set(0, lambda: watch.set(0, second.set))
        await asyncio.wait_for(second.wait(), 10)

    asyncio.run(scene())


def test_each_loop_has_its_own():
    async def own() -> object:
        assert alarms() is alarms()
        return alarms()

    assert asyncio.run(own()) is not asyncio.run(own())
