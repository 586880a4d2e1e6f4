"""Chunks become lines, however they are cut, in bounded memory."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.server.mcp.session import LineBuffer

LINE = st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b""))


@given(st.lists(LINE), st.lists(st.integers(1, 9)), LINE)
def test_the_cuts_do_not_matter(lines, cuts, rest):
    stream = b"".join(line + b"\n" for line in lines) + rest
    reader, got = LineBuffer(100), []
    for cut in cuts:
        got += reader.feed(stream[:cut])
        stream = stream[cut:]
    got += reader.feed(stream)
    assert got == lines
    assert reader.take_rest() == rest


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=8), st.integers(1, 50))
def test_a_line_too_long_is_reported_once_in_its_place(plan, size):
    lines = [b"x" * (11 + length) if long else b"y" * (length % 11) for long, length in plan]
    stream = b"".join(line + b"\n" for line in lines)
    reader, got = LineBuffer(10), []
    for start in range(0, len(stream), size):
        got += reader.feed(stream[start : start + size])
    assert got == [None if long else line for (long, _), line in zip(plan, lines, strict=True)]


def test_what_is_thrown_away_is_not_kept():
    reader = LineBuffer(1000)
    told = [line for _ in range(10_000) for line in reader.feed(b"z" * 100)]
    assert told == [None]
    assert reader._parts == []
    assert list(reader.feed(b"\nnext\n")) == [b"next"]
