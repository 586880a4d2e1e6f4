"""The statistics of PostgreSQL's query planner. The server updates them by itself, but a minute after a large import at
the earliest, or never where autovacuum is off."""

from tokonoma.store.database import Database

_LEAST = 16  # pages; for fewer any plan is good
# Those that have twice as many pages as when they were last looked at.
_GROWN = """select c.relname::text from pg_class c
where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r'
and pg_relation_size(c.oid) / current_setting('block_size')::integer >= greatest(:least, 2 * c.relpages)
and not exists (select 1 from pg_depend d
    where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
order by c.relname"""


def update_statistics(database: Database) -> int:
    with database.reading() as rows:
        names = [str(name) for (name,) in rows.rows(_GROWN, least=_LEAST)]
    for name in names:
        # One transaction for each, so that locks are short. The names are those of our own tables.
        with database.writing() as statements:
            statements.run(f'analyze "{name}"')
    return len(names)
