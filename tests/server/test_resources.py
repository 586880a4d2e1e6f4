"""Who is told that something was written, and when nothing is done at all."""

from tokonoma.server.resources import POLL, ChangeFeed, list_templates


class Listener:
    def __init__(self, polls: bool, *uris: str) -> None:
        self.polls, self.uris, self.done = polls, uris, list[str]()

    def check(self) -> None:
        self.done.append("check")


class House:
    """Runs the job by hand."""

    def __init__(self) -> None:
        self.changed, self.asked, self.started = False, list[set[str]](), 0
        self.feed = ChangeFeed(self.has_changed, self.start)

    def has_changed(self, uris) -> bool:
        self.asked.append(set(uris))
        return self.changed

    def start(self, job) -> None:
        self.started += 1
        self.step = job.step

    def look(self) -> float | None:
        self.feed._next_check = 0.0
        return self.step()


def test_without_listeners_a_write_starts_nothing():
    house = House()
    house.feed.note_write()
    assert (house.started, house.asked) == (0, [])


def test_a_listener_that_polls_hears_of_writes_of_every_process():
    house, listener = House(), Listener(True, "a")
    house.feed.listen(listener)
    assert house.look() == POLL
    assert listener.done == ["check"]  # what was written before it listened
    assert house.look() == POLL
    house.changed = True
    assert house.look() == POLL
    assert listener.done == ["check", "check"]
    assert house.asked == [{"a"}] * 3
    house.feed.stop_listening(listener)
    assert house.look() is None


def test_a_listener_that_does_not_poll_hears_of_writes_of_this_process_alone():
    house, listener = House(), Listener(False)
    house.feed.listen(listener)
    assert house.started == 0
    house.feed.note_write()
    assert house.look() is None
    assert (listener.done, house.asked) == (["check"], [])


def test_many_writes_in_a_row_are_told_once():
    house, listener = House(), Listener(True)
    house.feed.listen(listener)
    house.look()
    for _ in range(5):
        house.feed.note_write()
        wait = house.step()
        assert wait is not None and 0 < wait < POLL
    assert listener.done == ["check"]
    house.look()
    assert listener.done == ["check", "check"]


def test_without_modules_there_are_no_templates():
    assert list_templates([]) == []
