"""The REST calls of BigQuery that a load, a query and a notebook make, over Google's reference evaluator.

It listens on loopback. What Google's unmodified client sends is taken as it is. SQL goes to the evaluator as
it came, except that names of tables lose their project. As BigQuery, it refuses jobs whose id is known with
409. Tests may tell it to fail, or to answer slowly.
"""

import contextlib
import io
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stepscope.lake import derived_tables, reader
from tests.engines.evaluator import Field, Refused, Rows, evaluate

DATASET = "p-roject.profiles"

_KINDS = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "STRUCT": "RECORD"}
_OLD = {"INT64": "INTEGER", "FLOAT64": "FLOAT", "BOOL": "BOOLEAN"}


class Answer(Exception):
    """An error that the client gets: HTTP status, reason, text."""

    def __init__(self, status: int, reason: str, text: str) -> None:
        super().__init__(status, reason, text)
        self.status, self.reason, self.text = status, reason, text


class Server:
    """Datasets, tables and jobs of one project."""

    def __init__(self) -> None:
        self.tables: dict[str, tuple[list[Field], Rows]] = {}
        """Columns and rows by DATASET.TABLE."""
        self.datasets: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.results: dict[str, tuple[list[Field], Rows]] = {}
        self.uploads: dict[str, dict[str, Any]] = {}
        self.storage: dict[str, bytes] = {}
        """What lies at gs:// addresses."""
        self.seen: list[tuple[str, str]] = []
        """Method and path of every request."""
        self.sql: list[str] = []
        """Every statement, dry runs left out."""
        self.failing: dict[str, tuple[int, int]] = {}
        """By a part of the path: HTTP status to answer with, and how often."""
        self.delay_s = 0.0
        self.lock = threading.RLock()

    def request(self, method: str, path: str, query: dict[str, str], body: bytes, head: Any) -> Any:
        """What the client gets for a request; Answer for an error."""
        self.seen.append((method, path))
        time.sleep(self.delay_s)
        for part, (status, left) in list(self.failing.items()):
            if part in path and left > 0:
                self.failing[part] = (status, left - 1)
                raise Answer(status, "backendError", "it fails as it was told to")
        if path.startswith("/upload/"):
            return self._upload(method, query, body, head)
        told = json.loads(body) if body else {}
        parts = path.removeprefix("/bigquery/v2").strip("/").split("/")[2:]
        with self.lock:
            match (method, *parts):
                case ("POST", "datasets"):
                    return self._make_dataset(told)
                case ("GET", "datasets", name):
                    return self._dataset(name)
                case ("POST", "datasets", name, "tables"):
                    return self._make_table(name, told)
                case ("GET", "datasets", name, "tables", table):
                    return self._table(name, table)
                case ("DELETE", "datasets", name, "tables", table):
                    self.tables.pop(f"{name}.{table}", None)
                    return {}
                case ("GET", "datasets", name, "tables", table, "data"):
                    fields, rows = self._found(f"{name}.{table}")
                    return _page(fields, rows, query)
                case ("POST", "jobs"):
                    return self._job(told)
                case ("POST", "jobs", _, "cancel"):
                    return {"job": self._known(parts[1])}
                case ("GET", "jobs", name):
                    return self._known(name)
                case ("GET", "queries", name):
                    return self._results(name, query)
        raise Answer(404, "notFound", f"no such call here: {method} {path}")

    # --- datasets and tables ---

    def _make_dataset(self, told: dict[str, Any]) -> dict[str, Any]:
        name = told["datasetReference"]["datasetId"]
        if name in self.datasets:
            raise Answer(409, "duplicate", f"Already Exists: Dataset {name}")
        number = len(self.datasets)
        self.datasets[name] = {**told, "location": "EU", "creationTime": str(1_700_000_000_000 + number)}
        return self.datasets[name]

    def _dataset(self, name: str) -> dict[str, Any]:
        if name not in self.datasets:
            raise Answer(404, "notFound", f"Not found: Dataset {name}")
        return self.datasets[name]

    def _make_table(self, dataset: str, told: dict[str, Any]) -> dict[str, Any]:
        self._dataset(dataset)
        name = f"{dataset}.{told['tableReference']['tableId']}"
        if name in self.tables:
            raise Answer(409, "duplicate", f"Already Exists: Table {name}")
        self.tables[name] = ([_of_json(one) for one in told["schema"]["fields"]], [])
        return told

    def _found(self, name: str) -> tuple[list[Field], Rows]:
        if name not in self.tables:
            raise Answer(404, "notFound", f"Not found: Table {name}")
        return self.tables[name]

    def _table(self, dataset: str, table: str) -> dict[str, Any]:
        fields, rows = self._found(f"{dataset}.{table}")
        place = {"projectId": "p-roject", "datasetId": dataset, "tableId": table}
        schema = {"fields": [_to_json(one) for one in fields]}
        return {"tableReference": place, "schema": schema, "numRows": str(len(rows)), "type": "TABLE"}

    # --- jobs ---

    def _known(self, name: str) -> dict[str, Any]:
        if name not in self.jobs:
            raise Answer(404, "notFound", f"Not found: Job {name}")
        return self.jobs[name]

    def _job(self, told: dict[str, Any], uploaded: bytes | None = None) -> dict[str, Any]:
        name = told["jobReference"].get("jobId") or f"job{len(self.jobs)}"
        if name in self.jobs:
            raise Answer(409, "duplicate", f"Already Exists: Job {name}")
        bound = told["configuration"]
        statistics: dict[str, Any] = {}
        job = {
            "jobReference": {"projectId": "p-roject", "jobId": name, "location": "EU"},
            "configuration": bound, "statistics": statistics, "status": {"state": "DONE"}, "id": name,
        }  # fmt: skip
        dry = bound.get("dryRun", False)
        try:
            if "load" in bound:
                statistics["load"] = {"outputRows": str(self._load(bound["load"], uploaded))}
            else:
                statistics |= self._query(name, bound["query"], dry)
        except Answer as error:
            if dry:
                raise
            told_error = {"reason": error.reason, "message": error.text}
            job["status"] = {"state": "DONE", "errorResult": told_error, "errors": [told_error]}
        if not dry:
            self.jobs[name] = job
        return job

    def _load(self, bound: dict[str, Any], uploaded: bytes | None) -> int:
        place = bound["destinationTable"]
        name = f"{place['datasetId']}.{place['tableId']}"
        blobs = [uploaded] if uploaded is not None else []
        for uri in bound.get("sourceUris", ()):
            if uri not in self.storage:
                raise Answer(404, "notFound", f"Not found: URI {uri}")
            blobs.append(self.storage[uri])
        schema = [_of_json(one) for one in bound.get("schema", {}).get("fields", ())]
        hive = bound.get("hivePartitioningOptions")
        rows: list[dict[str, Any]] = []
        for number, blob in enumerate(blobs):
            if bound["sourceFormat"] == "PARQUET":
                table = pq.read_table(io.BytesIO(blob), partitioning=None)
                if schema and [one.name for one in schema] != table.column_names:
                    raise Answer(400, "invalid", f"columns {table.column_names} are not those of the schema")
                found = table.to_pylist()
            else:
                found = [json.loads(line) for line in blob.splitlines() if line.strip()]
            if hive:
                uri = bound["sourceUris"][number]
                if not uri.startswith(hive["sourceUriPrefix"]):
                    raise Answer(400, "invalid", f"{uri} is not under {hive['sourceUriPrefix']}")
                keys = dict(re.findall(r"/([a-z]+)=([^/]+)(?=/)", uri.removeprefix(hive["sourceUriPrefix"])))
                found = [{**row, **keys} for row in found]
                schema += [Field(key, "STRING") for key in keys if key not in {one.name for one in schema}]
            rows += found
        if bound.get("autodetect"):
            schema = _detected(rows)
        there = self.tables.get(name)
        if there is None:
            self.tables[name] = there = (list(schema), [])
        known = {one.name for one in there[0]}
        for field in schema:
            if field.name not in known:
                if "ALLOW_FIELD_ADDITION" not in bound.get("schemaUpdateOptions", ()):
                    raise Answer(400, "invalid", f"Provided Schema does not match: {field.name}")
                there[0].append(field)
                there[1][:] = [(*row, None) for row in there[1]]
        there[1].extend(tuple(row.get(field.name) for field in there[0]) for row in rows)
        return len(rows)

    def _query(self, name: str, bound: dict[str, Any], dry: bool) -> dict[str, Any]:
        sql = bound["query"]
        default = bound.get("defaultDataset", {}).get("datasetId")
        plain = re.sub(r"`?p-roject`?\.`?(\w+)`?\.`?(\w+)`?", lambda m: f"`{m[1]}.{m[2]}`", sql)
        for key in self.tables:
            plain = re.sub(rf"(?<![`\w.]){re.escape(key)}(?![`\w])", f"`{key}`", plain)
        own = {
            key.split(".", 1)[1]: table for key, table in self.tables.items() if key.startswith(f"{default}.")
        }
        every = {**own, **self.tables}
        values = {one["name"]: one["parameterValue"]["value"] for one in bound.get("queryParameters", ())}
        statistics: dict[str, Any] = {"totalBytesProcessed": "0", "query": {"statementType": "SELECT"}}
        if deleting := re.fullmatch(r"DELETE FROM `(\w+\.\w+)` WHERE run_id = @run_id", plain):
            fields, rows = self._found(deleting[1])
            at = [one.name for one in fields].index("run_id")
            if not dry:
                rows[:] = [row for row in rows if row[at] != values["run_id"]]
            self.results[name] = ([], [])
            statistics["query"] = {"statementType": "DELETE"}
            return statistics
        tables = {
            key: every[key] for key in every if re.search(rf"(?<![\w.]){re.escape(key)}(?![\w])", plain)
        }
        read = sum(8 * len(fields) * len(rows) for fields, rows in tables.values())
        statistics["totalBytesProcessed"] = statistics["query"]["totalBytesProcessed"] = str(read)
        most = bound.get("maximumBytesBilled")
        if most is not None and read > int(most) and not dry:
            raise Answer(400, "bytesBilledLimitExceeded", f"Query exceeded limit for bytes billed: {most}")
        try:
            found = evaluate(plain, tables, values, only_analyze=dry)
        except Refused as error:
            raise Answer(400, "invalidQuery", str(error)) from error
        statistics["query"]["schema"] = {"fields": [_to_json(one) for one in found[0]]}
        if not dry:
            self.sql.append(sql)
            self.results[name] = found
            place = bound.get("destinationTable") or {"datasetId": "_anonymous", "tableId": name}
            key = f"{place['datasetId']}.{place['tableId']}"
            truncates = bound.get("writeDisposition") == "WRITE_TRUNCATE"
            if key in self.tables and not truncates and self.tables[key][1]:
                raise Answer(409, "duplicate", f"Already Exists: Table {key}")
            self.tables[key] = found
            bound["destinationTable"] = {"projectId": "p-roject", **place}
        return statistics

    def _results(self, name: str, query: dict[str, str]) -> dict[str, Any]:
        job = self._known(name)
        if (failed := job["status"].get("errorResult")) is not None:
            raise Answer(400, failed["reason"], failed["message"])
        fields, rows = self.results[name]
        return {
            "jobReference": job["jobReference"], "jobComplete": True, "totalRows": str(len(rows)),
            "schema": {"fields": [_to_json(one) for one in fields]}, "totalBytesProcessed": "0",
            **({} if query.get("maxResults") == "0" else _page(fields, rows, query)),
        }  # fmt: skip

    # --- uploads ---

    def _upload(self, method: str, query: dict[str, str], body: bytes, head: Any) -> Any:
        if query.get("uploadType") == "multipart":
            text = b"Content-Type: " + head["content-type"].encode() + b"\r\n\r\n" + body
            first, second = BytesParser().parsebytes(text).get_payload()  # type: ignore[misc]
            told = json.loads(first.get_payload(decode=True))  # type: ignore[union-attr]
            with self.lock:
                return self._job(told, second.get_payload(decode=True))  # type: ignore[union-attr]
        if method == "POST":
            key = f"upload{len(self.uploads)}"
            self.uploads[key] = {"told": json.loads(body), "bytes": b""}
            return {"_location": f"/upload/bigquery/v2/?upload_id={key}"}
        upload = self.uploads[query["upload_id"]]
        upload["bytes"] += body
        total = head["content-range"].rsplit("/", 1)[1]
        if total == "*" or len(upload["bytes"]) < int(total):
            return {"_resume": len(upload["bytes"])}
        with self.lock:
            return self._job(upload["told"], upload["bytes"])


def _of_json(told: dict[str, Any]) -> Field:
    inner = tuple(_of_json(one) for one in told.get("fields", ()))
    kind = told["type"].upper()
    return Field(told["name"], _KINDS.get(kind, kind), told.get("mode") == "REPEATED", inner)


def _to_json(field: Field) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": field.name, "type": _OLD.get(field.type, field.type),
        "mode": "REPEATED" if field.repeated else "NULLABLE",
    }  # fmt: skip
    return {**told, "fields": [_to_json(one) for one in field.fields]} if field.fields else told


def _cell(field: Field, value: Any) -> Any:
    if field.repeated:
        one = field._replace(repeated=False)
        return [{"v": _cell(one, item)} for item in value or ()]
    if value is None:
        return None
    if field.type == "RECORD":
        return {"f": [{"v": _cell(own, value.get(own.name))} for own in field.fields]}
    if field.type == "BOOL":
        return "true" if value else "false"
    return repr(value) if field.type == "FLOAT64" else str(value)


def _page(fields: list[Field], rows: Rows, query: dict[str, str]) -> dict[str, Any]:
    start = int(query.get("pageToken") or query.get("startIndex") or 0)
    size = min(int(query.get("maxResults") or 5_000), 5_000)
    told = [
        {"f": [{"v": _cell(f, v)} for f, v in zip(fields, row, strict=True)]}
        for row in rows[start : start + size]
    ]
    more = {"pageToken": str(start + size)} if start + size < len(rows) else {}
    return {"rows": told, "totalRows": str(len(rows)), **more}


def _detected(rows: list[dict[str, Any]]) -> list[Field]:
    """Columns of JSON rows, as autodetection finds them: types by what the values are, records inside."""
    found: dict[str, Field] = {}
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    for name, every in values.items():
        repeated = any(isinstance(value, list) for value in every)
        items = [item for value in every for item in (value if isinstance(value, list) else [value])]
        items = [item for item in items if item is not None]
        if items and all(isinstance(item, dict) for item in items):
            found[name] = Field(name, "RECORD", repeated, tuple(_detected(items)))
        elif items and all(isinstance(item, bool) for item in items):
            found[name] = Field(name, "BOOL", repeated)
        elif items and all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            found[name] = Field(name, "INT64", repeated)
        elif items and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items):
            found[name] = Field(name, "FLOAT64", repeated)
        else:
            found[name] = Field(name, "STRING", repeated)
    return list(found.values())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read what was asked from Server.seen."""

    def _serve(self) -> None:
        where = urllib.parse.urlsplit(self.path)
        query = {key: values[-1] for key, values in urllib.parse.parse_qs(where.query).items()}
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, told, more = 200, {}, {}
        try:
            told = self.state.request(self.command, where.path, query, body, self.headers) or {}
            if "_location" in told:
                host = self.headers["host"]
                more, told = {"Location": f"http://{host}{told['_location']}"}, {}
            elif "_resume" in told:
                status, more, told = 308, {"Range": f"bytes=0-{told['_resume'] - 1}"}, {}
        except Answer as error:
            status = error.status
            reasons = [{"reason": error.reason, "message": error.text, "domain": "global"}]
            told = {"error": {"code": error.status, "message": error.text, "errors": reasons}}
        data = json.dumps(told).encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            for key, value in {"Content-Type": "application/json", **more}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve


@contextlib.contextmanager
def serving() -> Iterator[tuple[Server, str]]:
    """A server, and its address."""
    state = Server()
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield state, f"http://127.0.0.1:{http.server_address[1]}"
        finally:
            http.shutdown()
            thread.join()


def runs(lake: Path) -> dict[str, str]:
    """The runs of a lake, as the engine is given them."""
    manifests = reader.open_lake(lake).manifests
    return {run: derived_tables.digest(own) for run, own in derived_tables.group_by_run(manifests).items()}


def arrow(fields: list[Field], rows: Rows) -> pa.Table:
    """A table as pyarrow has it, for comparisons."""
    return pa.Table.from_pylist([dict(zip([f.name for f in fields], row, strict=True)) for row in rows])
