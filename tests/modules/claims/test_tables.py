"""Claims that an older version stored: their age counts from when they were known, and their entities are found."""

from tokonoma.core.clock import parse_time
from tokonoma.modules.claims.tables import COLUMNS, TABLES
from tokonoma.store.migrate import migrate

CREATED, KNOWN = parse_time("2026-05-01T00:00:00Z"), "2026-01-15T09:00:00.000Z"


def test_older_claims_are_brought_up_to_date(database):
    migrate(database, "claims", TABLES[:1], lambda reason: None)
    rows = [
        ("clm_known", f'{{"at": "{KNOWN}"}}', CREATED),
        ("clm_moved", f'{{"at": "{KNOWN}"}}', CREATED + 5),  # by feedback
        ("clm_gone", "{}", CREATED),
        ("clm_ahead", '{"at": "2027-01-15T09:00:00.000Z"}', CREATED),
    ]
    names = COLUMNS.split(", ")
    with database.writing() as statements:
        for claim_id, provenance, anchor in rows:
            values = [claim_id, "/", "internal", "internal", "project", "fact", claim_id, claim_id, provenance, CREATED,
                      CREATED, anchor, None, 0.0, 0.5, 0.5, None, None, 1]  # fmt: skip
            statements.run(
                f"insert into claim ({COLUMNS}) values ({', '.join(f':{name}' for name in names)})",
                **dict(zip(names, values, strict=True)),
            )
        for entity_id, key in (("e", ""), ("f", "who/rikyu")):
            statements.run(
                """insert into claim_entity (claim, id, space, label, type, name, canonical_key, attrs)
                values ('clm_known', :id, '/', 'internal', 'Actor', 'Rikyu', :key, '{}')""",
                id=entity_id,
                key=key,
            )
        statements.run(
            "insert into claim_feedback (claim, caller, signal, bucket) values ('clm_moved', 'o', 'helpful', 1)"
        )
    migrate(database, "claims", TABLES, lambda reason: None)
    with database.reading() as found:
        anchors = dict(found.rows("select id, anchor_at from claim"))
        assert anchors == {
            "clm_known": parse_time(KNOWN),
            "clm_moved": CREATED + 5,
            "clm_gone": CREATED,
            "clm_ahead": CREATED,
        }
        assert found.rows("select id, node, folded from claim_entity order by id") == [
            ("e", "Actor:rikyu", "rikyu  e"),
            ("f", "who/rikyu", "rikyu who/rikyu f"),
        ]
        assert found.rows("select score from claim_feedback") == [(1.0,)]
