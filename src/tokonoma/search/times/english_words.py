"""The words of time in English, by what they mean."""

from tokonoma.search.times.words import TimeUnit

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEAK_MONTHS = {"mar", "may", "march", "dec", "sep", "jan"}  # mostly none, unless told more exactly
NAMES = {"april", "june", "august"}  # also people's, beside these words:
BEFORE_NAME = {"did", "does", "with", "to", "tell", "ask", "is", "was", "has", "will", "would", "can", "aunt", "uncle"}
AFTER_NAME = ("say", "said", "tell", "told", "want", "like", "is ", "was ", "has ", "call", "ask", "give", "gave")
MONTHLY = (  # the March invoice
    "bill", "budget", "figures", "invoice", "issue", "meeting", "minutes", "newsletter", "notes", "numbers", "payslip",
    "reading", "rent", "report", "results", "review", "salary", "statement", "trip",
)  # fmt: skip
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SHORT_DAYS = ("mon", "wed", "sat", "sun")  # words, unless they are written in full
SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1}
AWAY = {
    "last": -1, "previous": -1, "this past": -1, "this last": -1, "this": 0, "current": 0, "the": 0, "next": 1,
    "coming": 1, "this coming": 1, "the coming": 1, "before last": -2, "after next": 2,
}  # fmt: skip
DAYS = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "yesterday": -1,
    "last night": -1, "last evening": -1, "day before yesterday": -2, "night before last": -2, "tomorrow": 1,
    "day after tomorrow": 2, "earlier today": 0, "just now": 0,
}  # fmt: skip
RECENT = {"recently": 30, "lately": 30, "these days": 30, "the other day": 14, "the other week": 21}
NUMBERS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
COUNTS = {word: (number, number) for number, word in enumerate(NUMBERS, 1)} | {
    "a": (1, 1), "an": (1, 1), "a couple of": (2, 2), "couple of": (2, 2), "a few": (2, 5), "few": (2, 5),
    "several": (3, 6),
}  # fmt: skip
UNITS: dict[str, TimeUnit] = {"day": "day", "night": "day", "week": "week", "fortnight": "week", "month": "month"}
FEASTS = {
    "christmas": "christmas", "xmas": "christmas", "christmas day": "christmas day", "christmas eve": "christmas eve",
    "boxing day": "boxing day", "new year's eve": "new year's eve", "new year's day": "new year's day",
    "new year's": "new year", "new year": "new year", "easter": "easter", "halloween": "halloween",
    "thanksgiving": "thanksgiving", "valentine's day": "valentine's day", "valentine's": "valentine's day",
    "golden week": "golden week", "obon": "obon", "turn of the year": "turn of the year", "year-end": "year's end",
    "year end": "year's end",
}  # fmt: skip
PARTS = {
    "early": "early", "mid": "middle", "late": "late", "later": "late", "beginning of": "begin", "start of": "begin",
    "middle of": "middle", "end of": "end", "first half of": "half", "second half of": "other half",
}  # fmt: skip
LEADING = {
    "in", "on", "of", "since", "until", "till", "by", "during", "from", "last", "next", "early", "late", "mid", "this",
    "before", "after", "throughout", "between", "through", "around", "dated", "past", "over", "at", "for", "back",
    "to", "than", "starting", "beginning",
}  # fmt: skip
AFTER = {"since", "after", "later than", "starting", "starting on", "starting in", "starting from", "beginning on"}
BEFORE = {"until", "till", "before", "by", "prior to", "up to", "earlier than", "no later than"}
EXCLUDED = {"before", "after", "prior to", "later than", "earlier than"}
TO = {"to", "until", "till", "through", "thru", "up to", "-", "–", "—"}
