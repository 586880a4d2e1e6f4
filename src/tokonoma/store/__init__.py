"""Two databases, one SQL: SQLite through apsw, PostgreSQL through psycopg."""
