"""SQL that tries to reach anything but the tables. None does, and nothing is changed."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope
from tests.corpus import SAMPLES
from tests.server.asking import Served, fingerprint
from tests.tiers import some

pytestmark = pytest.mark.usefixtures("nothing_is_derived")
SECRET = "the secret of another file"
FILES = """
SELECT * FROM '{secret}'
SELECT * FROM read_csv('{secret}')
SELECT * FROM read_csv_auto('{secret}')
SELECT * FROM sniff_csv('{secret}')
SELECT * FROM read_text('{secret}')
SELECT * FROM read_blob('{secret}')
SELECT * FROM read_text(['{secret}', '{secret}'])
SELECT * FROM read_json('{secret}')
SELECT * FROM read_json_auto('{secret}')
SELECT * FROM read_ndjson('{secret}')
SELECT * FROM read_json_objects('{secret}')
SELECT * FROM read_ndjson_objects('{secret}')
SELECT * FROM read_parquet('{secret}')
SELECT * FROM parquet_scan('{secret}')
SELECT * FROM parquet_schema('{secret}')
SELECT * FROM parquet_metadata('{secret}')
SELECT * FROM parquet_file_metadata('{secret}')
SELECT * FROM parquet_kv_metadata('{secret}')
SELECT * FROM parquet_bloom_probe('{secret}', 'a', 1)
SELECT * FROM glob('{folder}/*')
SELECT * FROM glob('/etc/*')
SELECT * FROM '/etc/passwd'
SELECT * FROM 'file:///etc/passwd'
SELECT * FROM "/etc/passwd"
SELECT * FROM '/proc/self/environ'
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('/proc/self/cmdline')
SELECT * FROM read_blob('/proc/self/mem')
SELECT * FROM read_text('/dev/stdin')
SELECT * FROM read_text('/proc/self/fd/0')
SELECT * FROM read_text('../../../../../../etc/passwd')
SELECT * FROM read_text('{folder}/./secret.csv')
SELECT * FROM read_text('{folder}/lake/../secret.csv')
SELECT * FROM read_text('{folder}/link')
SELECT (SELECT content FROM read_text('{secret}'))
WITH a AS (SELECT * FROM read_text('{secret}')) SELECT * FROM a
SELECT * FROM query('SELECT * FROM read_text(''{secret}'')')
SELECT * FROM query_table('{secret}')
DESCRIBE SELECT * FROM read_csv('{secret}')
SUMMARIZE SELECT * FROM read_csv('{secret}')
EXPLAIN ANALYZE SELECT * FROM read_csv('{secret}')
FROM '{secret}'
FROM read_text('{secret}')
VALUES ((SELECT content FROM read_text('{secret}')))
SELECT * FROM slice, read_text('{secret}')
SELECT * FROM slice WHERE name IN (SELECT content FROM read_text('{secret}'))
PIVOT (SELECT * FROM read_csv('{secret}')) ON a USING count(*)
SELECT * FROM read_duckdb('{folder}/*')
SELECT * FROM read_xlsx('{secret}')
SELECT * FROM st_read('{secret}')
SELECT * FROM sqlite_scan('{secret}', 'a')
SELECT * FROM postgres_scan('host=127.0.0.1', 'a', 'b')
SELECT * FROM mysql_query('a', 'SELECT 1')
SELECT * FROM delta_scan('{folder}')
SELECT * FROM iceberg_scan('{folder}')
SELECT getenv('HOME')
SELECT getvariable('HOME') FROM read_text('{secret}')
"""
WRITES = """
COPY slice TO '{folder}/evil.csv'
COPY (SELECT 1) TO '{folder}/evil.csv'
COPY (SELECT 1) TO '{lake}' (FORMAT parquet)
COPY (SELECT 1) TO '{secret}'
COPY (SELECT 1) TO '/dev/stdout'
COPY (SELECT 1) TO '{folder}/parts' (PARTITION_BY (a))
COPY slice FROM '{secret}'
EXPORT DATABASE '{folder}/evil'
IMPORT DATABASE '{folder}'
ATTACH '{folder}/evil.db'
ATTACH '{folder}/evil.db' AS evil (READ_ONLY)
ATTACH ':memory:' AS evil
DETACH memory
USE evil
CREATE TABLE evil (a INTEGER)
CREATE TABLE evil AS SELECT * FROM slice
CREATE TEMP TABLE evil (a INTEGER)
CREATE OR REPLACE VIEW slice AS SELECT 1
CREATE VIEW evil AS SELECT 1
CREATE MACRO evil(a) AS a
CREATE MACRO evil() AS TABLE SELECT * FROM read_text('{secret}')
CREATE FUNCTION evil(a) AS a
CREATE SCHEMA evil
CREATE SEQUENCE evil
CREATE TYPE evil AS ENUM ('a')
CREATE INDEX evil ON slice (id)
CREATE SECRET evil (TYPE S3, KEY_ID 'a', SECRET 'b')
CREATE PERSISTENT SECRET evil (TYPE S3, KEY_ID 'a', SECRET 'b')
DROP SECRET evil
INSERT INTO slice SELECT * FROM slice
INSERT INTO run VALUES ('a', 'b', 'c')
WITH a AS (INSERT INTO run VALUES ('a', 'b', 'c') RETURNING run_id) SELECT * FROM a
UPDATE slice SET name = 'evil'
DELETE FROM slice
TRUNCATE slice
MERGE INTO run USING run AS b ON run.run_id = b.run_id WHEN MATCHED THEN DELETE
DROP VIEW slice
DROP TABLE slice
DROP SCHEMA main CASCADE
ALTER TABLE run ADD COLUMN evil INTEGER
ALTER VIEW slice RENAME TO evil
COMMENT ON TABLE slice IS 'evil'
VACUUM
ANALYZE
CHECKPOINT
FORCE CHECKPOINT
BEGIN
COMMIT
ROLLBACK
PREPARE evil AS SELECT 1
EXECUTE evil
DEALLOCATE evil
CALL pragma_version()
SET memory_limit = '100GB'
SET enable_external_access = true
SET lock_configuration = false
SET allowed_paths = ['/']
SET allowed_directories = ['/']
SET temp_directory = '{folder}'
SET threads = 1000
SET GLOBAL enable_external_access = true
SET SESSION search_path = 'evil'
SET VARIABLE evil = 1
RESET enable_external_access
RESET memory_limit
PRAGMA enable_external_access
PRAGMA memory_limit = '100GB'
PRAGMA database_list
PRAGMA enable_logging
PRAGMA import_database('{folder}')
PRAGMA enable_profiling = 'json'
PRAGMA profiling_output = '{folder}/evil.json'
INSTALL httpfs
INSTALL 'httpfs' FROM 'https://evil.example'
FORCE INSTALL httpfs
LOAD httpfs
LOAD '{folder}/evil.duckdb_extension'
UPDATE EXTENSIONS
SELECT 1; COPY (SELECT 1) TO '{folder}/evil.csv'
SELECT 1; SET enable_external_access = true; SELECT 2
;; COPY (SELECT 1) TO '{folder}/evil.csv' ;;
/* SELECT */ COPY (SELECT 1) TO '{folder}/evil.csv'
-- SELECT
EXPLAIN COPY (SELECT 1) TO '{folder}/evil.csv'
EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/evil.csv'
EXPLAIN ANALYZE CREATE TABLE evil AS SELECT 1
EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO '{folder}/evil.csv'
SELECT * FROM (COPY (SELECT 1) TO '{folder}/evil.csv')
SELECT * FROM query('COPY (SELECT 1) TO ''{folder}/evil.csv''')
SELECT * FROM query('SELECT 1; COPY (SELECT 1) TO ''{folder}/evil.csv''')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('COPY (SELECT 1) TO ''{folder}/evil.csv'''))
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''{secret}'')'))
PRAGMA json_execute_serialized_sql('x')
SELECT nextval('evil')
SELECT write_csv('{folder}/evil.csv')
SELECT * FROM enable_logging()
SELECT * FROM load_aws_credentials()
"""
NETWORK = """
SELECT * FROM 'https://127.0.0.1:1/a.csv'
SELECT * FROM read_csv('http://127.0.0.1:1/a.csv')
SELECT * FROM read_parquet('s3://bucket/a.parquet')
SELECT * FROM read_parquet('gs://bucket/a.parquet')
SELECT * FROM read_parquet('hf://datasets/a/b.parquet')
SELECT * FROM read_text('http://169.254.169.254/latest/meta-data')
SELECT * FROM read_csv('az://container/a.csv')
SELECT * FROM read_csv('//evil.example/share/a.csv')
SELECT * FROM read_csv('\\\\evil.example\\share\\a.csv')
ATTACH 'https://127.0.0.1:1/a.db' AS evil
SELECT http_get('http://127.0.0.1:1/')
COPY (SELECT 1) TO 's3://bucket/a.parquet'
"""
HARMLESS = """
SELECT * FROM checkpoint()
SELECT * FROM force_checkpoint()
SELECT * FROM duckdb_logs()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_databases()
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_extensions()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM pragma_database_size()
SELECT write_log('evil')
SELECT current_setting('memory_limit')
"""
"""These may run: they change nothing that stays, and the recording itself is no secret from its reader."""
ESCAPES = tuple(
    (kind, line) for kind in ("FILES", "WRITES", "NETWORK") for line in globals()[kind].strip().splitlines()
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake, and a file beside it that nobody asked for."""
    folder = tmp_path_factory.mktemp("store")
    stepscope.ingest([SAMPLES / "profiler_hook", SAMPLES / "chrome" / "kineto_cuda.json"], folder / "lake")
    (folder / "secret.csv").write_text(f"a\n{SECRET}\n", encoding="utf-8")
    (folder / "link").symlink_to(folder / "secret.csv")
    shutil.copy(SAMPLES / "chrome" / "phases.json", folder / "phases.json")
    return folder


@pytest.fixture(scope="module", params=some(("lake", "cache"), ("lake",), "of a lake more may be read"))
def page(store: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """A page over a lake, whose files DuckDB opens itself, or over the cache, of which it knows nothing."""
    opened = str(store / ("lake" if request.param == "lake" else "phases.json"))
    made = Served(opened, processes=1)
    assert made.sql("SELECT count(*) AS n FROM slice").json["rows"][0][0] > 0
    yield made
    made.close()


def test_there_are_enough() -> None:
    assert len(set(ESCAPES)) >= 150


def test_no_sql_reaches_out(page: Served, store: Path) -> None:
    parquet = str(next(store.glob("lake/**/*.parquet")))
    before = fingerprint(store)
    for kind, line in ESCAPES:
        sql = line.format(secret=store / "secret.csv", folder=store, lake=parquet)
        answer = page.sql(sql)
        assert 400 <= answer.status < 500, (kind, sql, answer.body[:300])
        assert answer.slug in ("query", "usage", "limit-reached"), (sql, answer.body)
        assert SECRET.encode() not in answer.body
        assert fingerprint(store) == before, sql
    assert page.sql("SELECT 1 AS a").json["rows"] == [[1]]


def test_what_may_run_changes_nothing(page: Served, store: Path) -> None:
    before = fingerprint(store)
    for sql in HARMLESS.strip().splitlines():
        answer = page.sql(sql)
        assert answer.status in (200, 400), (sql, answer.body[:300])
        assert SECRET.encode() not in answer.body
    assert fingerprint(store) == before


def test_settings_are_locked(page: Served) -> None:
    """Queries may look at settings; these are the ones that matter."""
    rows = page.sql(
        "SELECT name, value FROM duckdb_settings() WHERE name IN ('enable_external_access',"
        " 'lock_configuration', 'autoinstall_known_extensions', 'autoload_known_extensions')"
    ).json["rows"]
    assert {name: value.lower() for name, value in rows} == {
        "enable_external_access": "false",
        "lock_configuration": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }


def test_files_of_a_lake_are_read_and_never_written(store: Path) -> None:
    """Paths that may be read may be written, says DuckDB; so a second wall stands behind the first. Here the
    first is left out."""
    victim = store / "victim.parquet"
    shutil.copy(next(store.glob("lake/**/*.parquet")), victim)
    before = fingerprint(store)
    code = (
        "import sys, duckdb\n"
        "from stepscope.server.console import confine\n"
        "walled = confine.forbid_writing()\n"
        "con = duckdb.connect()\n"
        "refused = 0\n"
        "for sql in (\"COPY (SELECT 1) TO '{0}' (FORMAT parquet, USE_TMP_FILE false)\",\n"
        "            \"COPY (SELECT 1) TO '{0}.new' (FORMAT csv)\", \"ATTACH '{0}.db'\"):\n"
        "    try:\n"
        "        con.execute(sql.format(sys.argv[1]))\n"
        "    except duckdb.Error:\n"
        "        refused += 1\n"
        "import os, socket, subprocess\n"
        "for work in (lambda: open(sys.argv[1], 'ab'), lambda: os.truncate(sys.argv[1], 0),\n"
        "             lambda: os.unlink(sys.argv[1]), lambda: os.rename(sys.argv[1], sys.argv[1] + 'x'),\n"
        "             lambda: os.mkdir(sys.argv[1] + 'd'), lambda: os.symlink('/', sys.argv[1] + 'l'),\n"
        "             lambda: subprocess.run(['/bin/true'])):\n"
        "    try:\n"
        "        work()\n"
        "    except OSError:\n"
        "        refused += 1\n"
        "print(walled, refused)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(victim)], capture_output=True, text=True, check=True
    )
    walled, refused = done.stdout.split()
    if walled != "True":
        pytest.skip("the kernel has no Landlock")
    assert int(refused) == 10
    assert fingerprint(store) == before
