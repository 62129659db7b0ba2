"""Object stores (s3://, gs://, az://) through obstore, which takes credentials from the environment.

What a store must do for us: list, read, write, write only if absent, delete. It has no locks and no rename,
and any request may be answered twice, late or not at all. A conditional write that was cut off is therefore
never repeated blindly: what is there is looked at first.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

from stepscope.errors import StepscopeError, UsageError
from stepscope.sources import credentials

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")

SCHEMES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss")
AT_ONCE = 16
"""Requests that run at the same time."""
_RETRIES = 5
_RETRY_SECONDS = 30
_CHUNK = 8 << 20
"""Bytes of a large object that are asked for at once: what is cut off is asked for again from there."""


class Object(NamedTuple):
    """An object of a store."""

    key: str
    """Below the folder that the URL names."""
    size: int
    etag: str
    modified: datetime


class MissingObject(Exception):
    """There is no object of that key."""


def is_store(url: str) -> bool:
    """Whether a URL names an object store that obstore reads."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme in SCHEMES


def is_installed() -> bool:
    """Whether obstore is there."""
    import importlib.util

    return importlib.util.find_spec("obstore") is not None


class Store:
    """What lies under one URL. Any number of threads may use it."""

    def __init__(self, url: str, error: type[StepscopeError]) -> None:
        """error: what is raised when the store refuses or does not answer. UsageError when obstore is not
        installed, the URL is none, or the environment has no credentials for it."""
        self.url = url.rstrip("/")
        self._error = error
        self._inner, self._errors = _opened(self.url)

    def objects(self, prefix: str = "") -> list[Object]:
        """All objects whose keys begin with `prefix`, up to a slash, sorted by key. A store without any is an
        empty list."""
        import obstore

        def ask() -> list[Object]:
            found = []
            for batch in obstore.list(self._inner, prefix or None, chunk_size=1000):
                found += [
                    Object(
                        row["path"], row["size"], row["e_tag"] or row["version"] or "", row["last_modified"]
                    )
                    for row in batch
                ]
            return sorted(found)

        try:
            return self._retried(ask, prefix)
        except MissingObject:
            raise self._missing_bucket("no such bucket or container") from None

    def keys_from(self, begin: str) -> list[str]:
        """Keys that begin with a text that need not end at a slash: few, in a folder that may have many."""
        import obstore

        folder = begin.rpartition("/")[0]

        def ask() -> list[str]:
            found = []
            for batch in obstore.list(self._inner, folder or None, offset=begin[:-1], chunk_size=50):
                keys = [row["path"] for row in batch]
                found += [key for key in keys if key.startswith(begin)]
                if keys and keys[-1] > begin and not keys[-1].startswith(begin):
                    break
            return sorted(found)

        try:
            return self._retried(ask, begin)
        except MissingObject:
            raise self._missing_bucket("no such bucket or container") from None

    def head(self, key: str) -> Object:
        """What is known of one object. Gone when there is none."""
        import obstore

        row = self._retried(lambda: obstore.head(self._inner, key), key)
        return Object(key, row["size"], row["e_tag"] or row["version"] or "", row["last_modified"])

    def get(self, key: str) -> bytes:
        """All bytes of a small object. Gone when there is none."""
        import obstore

        return self._retried(lambda: bytes(obstore.get(self._inner, key).bytes()), key)

    def range(self, key: str, start: int, length: int) -> bytes:
        """Bytes of an object. Gone when there is none."""
        import obstore

        return self._retried(
            lambda: bytes(obstore.get_range(self._inner, key, start=start, length=length)), key
        )

    def copy_to(self, key: str, size: int, path: Path) -> None:
        """Writes an object to a new file, in ranges: what is cut off is asked for again from there. Gone when
        there is none; OSError when the file cannot be written."""
        with path.open("xb") as file:
            for start in range(0, size, _CHUNK):
                file.write(self.range(key, start, min(_CHUNK, size - start)))

    def put(self, key: str, data: bytes | Path) -> None:
        """Writes an object, in the place of one that is there."""
        import obstore

        self._retried(lambda: obstore.put(self._inner, key, data), key)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Writes a small object unless there is one; False when another is there. The same bytes count as
        ours: a request whose answer was lost may have written them."""
        import obstore

        for attempt in range(_RETRIES):
            try:
                obstore.put(self._inner, key, data, mode="create")
            except self._errors.AlreadyExistsError:
                with contextlib.suppress(MissingObject):
                    return self.get(key) == data
            except self._errors.BaseError as error:
                with contextlib.suppress(MissingObject):
                    return self.get(key) == data
                if attempt == _RETRIES - 1 or not _passes(error):
                    raise self._translated(error, key) from error
                time.sleep(0.1 * 2**attempt)
            else:
                return True
        raise self._translated(RuntimeError("the object comes and goes"), key)

    def delete(self, keys: Sequence[str]) -> None:
        """Removes objects; missing ones are fine."""
        import obstore

        for first in range(0, len(keys), 1000):
            some = list(keys[first : first + 1000])
            with contextlib.suppress(MissingObject):
                self._retried(lambda some=some: obstore.delete(self._inner, some), some[0])  # type: ignore[misc]

    def _retried(self, ask: Callable[[], T], key: str) -> T:
        """The answer. obstore itself repeats requests that may be; a body that was cut off it does not."""
        for attempt in range(_RETRIES):
            try:
                return ask()
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
                    raise self._missing_bucket(_first_line(error)) from None
                raise MissingObject(key) from None
            except self._errors.BaseError as error:
                if attempt == _RETRIES - 1 or not _passes(error):
                    raise self._translated(error, key) from error
                time.sleep(0.1 * 2**attempt)
        raise AssertionError("every attempt returns or raises")

    def _translated(self, error: Exception, key: str) -> StepscopeError:
        seen = _first_line(error)
        denied = isinstance(error, self._errors.PermissionDeniedError | self._errors.UnauthenticatedError)
        names = credentials.variables(self.url)
        if denied or _DENIED.search(str(error)):
            return self._error(
                "The store refuses access.",
                seen=seen,
                todo=f"set the credentials in the environment ({names}), and check what they allow",
                path=f"{self.url}/{key}",
            )
        if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
            return self._missing_bucket(seen)
        return self._error(
            "The store does not answer as it should.",
            seen=seen,
            todo=f"check the address, the network and the environment ({names}), and run the command again: "
            "nothing is half done",
            path=f"{self.url}/{key}",
        )

    def _missing_bucket(self, seen: str) -> StepscopeError:
        return self._error(
            "The bucket does not exist.",
            seen=seen,
            todo="check the spelling, and AWS_ENDPOINT_URL if it is not Amazon's; make the bucket with the "
            "provider's tool",
            path=self.url,
        )


_DENIED = re.compile(r"\b(?:401|403)\b|AccessDenied|SignatureDoesNotMatch|InvalidAccessKeyId|Unauthorized")


def _passes(error: Exception) -> bool:
    """Whether the same request may be answered the next time."""
    message = str(error)
    return (
        not _DENIED.search(message)
        and type(error).__name__ in ("GenericError", "JoinError")
        and ("NoSuchBucket" not in message)
    )


def _first_line(error: BaseException) -> str:
    """What went wrong, without the debugging text that follows."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:400]


def _opened(url: str) -> tuple[ObjectStore, Any]:
    try:
        import obstore.exceptions
        from obstore.store import from_url
    except ImportError:
        raise UsageError(
            f"{url} is in an object store, and what reads stores is not installed.",
            seen="the package obstore is not installed",
            todo="pip install 'stepscope[stores]', or copy the files here first",
            path=url,
        ) from None
    credentials.check(url)
    plain = any(
        os.environ.get(name, "").startswith("http://")
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT", "GOOGLE_BASE_URL")
    )
    scheme, _, rest = url.partition("://")
    try:
        inner = from_url(
            f"{'s3' if scheme == 's3a' else scheme}://{quote(rest, safe='/@:.-_~=+')}",
            client_options={"allow_http": True} if plain else {"timeout": timedelta(seconds=120)},
            retry_config={
                "max_retries": _RETRIES,
                "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
                "backoff": {
                    "init_backoff": timedelta(milliseconds=100),
                    "max_backoff": timedelta(seconds=5),
                    "base": 2,
                },
            },
        )
    except BaseException as error:
        # A panic of obstore's core about an odd setting is a BaseException.
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
            raise
        raise UsageError(
            "The store cannot be opened.",
            seen=_first_line(error),
            todo=f"check the URL and the environment ({credentials.variables(url)})",
            path=url,
        ) from None
    return inner, obstore.exceptions


@lru_cache(maxsize=8)
def store(url: str, error: type[StepscopeError]) -> Store:
    """The store of a URL, opened once. Errors as with Store()."""
    return Store(url, error)


def parallel(work: Callable[[T], object], many: Sequence[T]) -> Iterator[None]:
    """Runs requests side by side, and raises the first error when all are through."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(AT_ONCE, len(many)) or 1) as pool:
        done = [pool.submit(work, item) for item in many]
    for future in done:
        future.result()
        yield
