"""The tables of `manual`. All but the traces and the figures is derived from the files, which are the truth."""

from tokonoma.core.module import Migration

NAME = "manual"

TABLES = (
    Migration(
        "001_manual",
        (
            # What a file looked like when it was last read; kept apart from what callers see of it.
            """create table manual_stamp (
                manual text not null, path text not null, size {big} not null, mtime {big} not null,
                ctime {big} not null, inode {big} not null, checked_at {big} not null, hash text not null,
                primary key (manual, path)
            )""",
            """create table manual_file (
                manual text not null, path text not null, kind text not null, size {big} not null, lines {big} not null,
                problem text not null, primary key (manual, path)
            )""",
            """create table manual_section (
                manual text not null, path text not null, line {big} not null, own_end {big} not null,
                end_line {big} not null, level {big} not null, title text not null, anchor text not null, parent {big},
                size {big} not null, folded text not null, tight text not null, defines text not null,
                space text not null, label text not null, primary key (manual, path, line)
            )""",
            "create table manual_state (name text primary key, value text not null)",
            """create table manual_trace (
                id text primary key, principal text not null, at {big} not null, data text not null
            )""",
            "create index manual_trace_at on manual_trace (principal, at)",
            # For the thresholds: no query, no body, no snippet.
            """create table manual_run (
                id text primary key, at {big} not null, cutoff {big} not null, candidates {big} not null,
                widened {big} not null, used {big} not null, hit {big} not null, tokens_in {big} not null,
                tokens_out {big} not null
            )""",
            "create index manual_run_at on manual_run (at)",
        ),
    ),
    Migration(
        "002_references",
        (
            "alter table manual_section add column refers text not null default '[]'",
            # Which sections a caller sees is asked before every answer: without their texts that is quick.
            "create index manual_section_seen on manual_section (space, label, manual, path, line)",
            "delete from manual_stamp",  # every file is read anew
        ),
    ),
    Migration("003_traces", ("delete from manual_trace",)),  # stored in another form; they expire in half an hour
    Migration(
        "004_account",
        (
            # Why a file is not searched, if it is not; and its encoding, if that is not UTF-8.
            "alter table manual_file add column reason text not null default ''",
            "alter table manual_file add column encoding text not null default ''",
            "delete from manual_stamp",
        ),
    ),
    Migration("005_words", ("delete from manual_stamp",)),  # definitions are read from prose only: all files anew
    Migration(
        "006_links",
        (
            # The other names of the page, one per line: its front matter's aliases. They are searched like titles.
            "alter table manual_section add column names text not null default ''",
            "delete from manual_stamp",
        ),
    ),
    Migration(
        "007_hashes",
        (
            "alter table manual_section add column hash text not null default ''",
            "alter table manual_section add column body_hash text not null default ''",
            # What changed sections have become, so that an old ref leads there.
            """create table manual_past (
                manual text not null, path text not null, hash text not null, successor text not null,
                at {big} not null, primary key (manual, path, hash)
            )""",
            "delete from manual_trace",  # their hits have no hashes
            "delete from manual_stamp",  # every file is read anew
        ),
    ),
    Migration("008_json_nodes", ("delete from manual_stamp",)),  # JSON files have sections: every file is read anew
)
RECORDS = frozenset({"manual_section"})
