"""A real PostgreSQL for the tests, from the binaries of a package of PyPI. Everything it writes is in one folder."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any

import psycopg
from store.binaries import NOBODY, find_binaries, list_prefix
from store.prepared import migrate_everything

_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "log_min_messages": "fatal",
}


class PostgresServer:
    """One a test process."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._log = (folder / "log").open("w")
        self._data = folder / "data"
        self._data.mkdir()
        self._sockets = _short(folder)
        self._binaries, self._prefix = find_binaries(), list_prefix()
        if self._prefix:
            os.chown(self._data, NOBODY, NOBODY)
        self._call("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "-U", "postgres")
        self._settings = [word for name, value in (_SETTINGS | settings).items() for word in ("-c", f"{name}={value}")]
        self._free: list[str] = []
        self._migrated: list[str] = []
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._words("postgres", "-k", str(self._sockets), "-h", "", *self._settings),
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._admin = self._connected()

    def crash(self) -> None:
        """End it at once, as a power cut would; `start` brings it back."""
        self._admin.close()
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def freeze(self) -> None:
        """Stop all of its processes: connections stay open, and nothing is answered until `thaw`."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        main = self._process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for pid in (main, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _words(self, program: str, *words: str) -> list[str]:
        return [*self._prefix, str(self._binaries / program), "-D", str(self._data), *words]

    def _call(self, program: str, *words: str) -> None:
        subprocess.run(self._words(program, *words), check=True, stdout=self._log, stderr=subprocess.STDOUT)

    def _connected(self) -> psycopg.Connection[Any]:
        while True:  # until the server listens, or has given up
            try:
                return psycopg.connect(self.url("postgres"), autocommit=True)
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    raise RuntimeError(Path(self._log.name).read_text()) from None

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._sockets}"

    def execute(self, sql: str) -> list[Any]:
        return _run(self._admin, sql)

    def take(self) -> str:
        """The name of an empty database, which no other test uses meanwhile."""
        if self._free:
            return self._free.pop()
        name = f"test_{token_hex(6)}"
        self.execute(f"create database {name} template template0")
        return name

    def give(self, name: str) -> None:
        """Empty it for the next test: a new copy of the template takes a hundred times as long."""
        self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            for (schema,) in _run(
                connection, "select nspname from pg_namespace where nspname !~ '^(pg_|information_)'"
            ):
                _run(connection, f'drop schema "{schema}" cascade')
            _run(connection, "create schema public")
        self._free.append(name)

    def take_migrated(self) -> str:
        """The name of a database with all tables of the server and its modules, as empty as migrations leave them."""
        if self._migrated:
            return self._migrated.pop()
        name = self.take()
        migrate_everything(self.url(name))
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            _run(connection, _REMEMBER)
        return name

    def give_migrated(self, name: str) -> None:
        """Empty its tables for the next test; one whose tables are others now becomes an empty database."""
        self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            _run(connection, _FORGET)
            same = _run(connection, f"select ({_SHAPE}) = (select shape from before.shape)")[0][0]
        if same:
            self._migrated.append(name)
        else:
            self.give(name)

    def stop(self) -> None:
        self._admin.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        self._log.close()
        if self._sockets != self._data.parent:
            self._sockets.rmdir()
        subprocess.run(["rm", "-rf", str(self._data)], check=True)  # 50 MB that nobody wants to keep


# Every column and index of the tables. From the catalogues themselves: the views over them take twenty times as long.
_SHAPE = """select md5(string_agg(each, ' ' order by each)) from (
    select attrelid::regclass || '.' || attname || ':' || atttypid::regtype as each
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and attnum > 0 and not attisdropped
    union all select pg_get_indexdef(indexrelid) from pg_index join pg_class on pg_class.oid = indrelid
    where relnamespace = 'public'::regnamespace
) as parts"""
# The rows that migrations insert, in a schema beside the tables.
_REMEMBER = f"""do $$ declare name text; has_rows boolean; begin
    create schema before;
    for name in select tablename from pg_tables where schemaname = 'public' loop
        execute format('select exists (select 1 from public.%I)', name) into has_rows;
        if has_rows then execute format('create table before.%I as table public.%I', name, name); end if;
    end loop;
    create table before.shape as select ({_SHAPE}) as shape;
    create table before.known as select tablename from pg_tables where schemaname = 'public';
    create table before.sequences as
        select sequencename, last_value, start_value from pg_sequences where schemaname = 'public';
    create table before.indexes as select indexname from pg_indexes where schemaname = 'public';
end $$"""
# Rows are deleted without looking at what refers to them. A table that has grown large is truncated: that makes new
# files for it and its indexes, and takes twenty times as long as deleting a few rows.
_FORGET = """do $$ declare name text; size bigint; begin
    set local session_replication_role = replica;
    for name in select tablename from pg_tables where schemaname = 'public'
        and tablename not in (select tablename from before.known) loop
        execute format('drop table public.%I cascade', name);
    end loop;
    for name in select indexname from pg_indexes where schemaname = 'public'
        and indexname not in (select indexname from before.indexes) loop
        execute format('drop index public.%I', name);
    end loop;
    for name, size in select relname, pg_relation_size(oid) from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 loop
        execute format(case when size > 1e6 then 'truncate public.%I cascade' else 'delete from public.%I' end, name);
    end loop;
    perform setval(format('public.%I', sequencename), coalesce(last_value, start_value), last_value is not null)
        from before.sequences;
    for name in select tablename from pg_tables where schemaname = 'before'
        and tablename in (select tablename from before.known) loop
        execute format('insert into public.%I select * from before.%I', name, name);
    end loop;
end $$"""


def _run(connection: psycopg.Connection[Any], sql: str) -> list[Any]:
    cursor = connection.execute(sql.encode())
    return cursor.fetchall() if cursor.description else []


def _short(folder: Path) -> Path:
    """Where the socket lies. The name of a socket has at most 107 bytes on Linux, 103 elsewhere."""
    if len(str(folder)) < 80:
        return folder
    short = Path(gettempdir()) / f"tokonoma-{token_hex(4)}"
    with suppress(FileExistsError):
        short.mkdir(mode=0o700)
    return short
