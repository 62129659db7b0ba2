"""Without credentials a store is not opened, and no metadata server is asked; a named one is."""

import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.errors import UnreadableSource, UsageError
from stepscope.sources import credentials
from stepscope.sources.stores import Store

SCHEMES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss")
ENOUGH = (
    ("s3", "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY"),
    ("s3a", "AWS_WEB_IDENTITY_TOKEN_FILE AWS_ROLE_ARN"),
    ("s3", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
    ("s3", "AWS_SKIP_SIGNATURE"),
    ("s3", "AWS_METADATA_ENDPOINT"),
    ("gs", "GOOGLE_APPLICATION_CREDENTIALS"),
    ("gs", "GOOGLE_SKIP_SIGNATURE"),
    ("gs", "GCE_METADATA_HOST"),
    ("az", "AZURE_STORAGE_SAS_TOKEN"),
    ("abfss", "AZURE_CLIENT_ID AZURE_CLIENT_SECRET AZURE_TENANT_ID"),
    ("azure", "AZURE_MSI_ENDPOINT"),
)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in tuple(os.environ):
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_", "GCE_", "IDENTITY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path / ".config"))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_credentials_is_an_error_before_any_request(scheme: str) -> None:
    pytest.importorskip("obstore", reason="what reads object stores is not installed")
    with pytest.raises(UsageError, match="no credentials") as caught:
        Store(f"{scheme}://bucket/logs", UnreadableSource)
    assert "=true for a public bucket" in caught.value.todo


@pytest.mark.parametrize(("scheme", "names"), ENOUGH)
def test_what_is_enough_and_half_of_it_is_not(
    scheme: str, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in names.split():
        with pytest.raises(UsageError):
            credentials.check(f"{scheme}://bucket")
        monkeypatch.setenv(name, "true")
    credentials.check(f"{scheme}://bucket")


def test_a_switch_that_says_no_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "false")
    with pytest.raises(UsageError):
        credentials.check("gs://bucket")


def test_the_file_of_a_login_is_enough(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "gcloud" / "application_default_credentials.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    credentials.check("gs://bucket")
    with pytest.raises(UsageError):
        credentials.check("s3://bucket")


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A metadata server that refuses, and what it was asked."""
    asked: list[str] = []

    class Refuses(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(403)

        do_PUT = do_GET

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"127.0.0.1:{made.server_port}", asked
        made.shutdown()
        thread.join()


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_a_metadata_server_that_is_named_is_asked(
    scheme: str, server: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore", reason="what reads object stores is not installed")
    address, asked = server
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"http://{address}")
    monkeypatch.setenv("GCE_METADATA_HOST", address)
    monkeypatch.setenv("GCE_METADATA_IP", address)
    monkeypatch.setenv("AZURE_MSI_ENDPOINT", f"http://{address}/token")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    with pytest.raises(UnreadableSource, match="refuses access"):
        Store(f"{scheme}://bucket/logs", UnreadableSource).objects()
    assert asked
