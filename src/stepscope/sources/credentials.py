"""Credentials for object stores: whether the environment holds any.

Without any, obstore asks the metadata server of a cloud's machine (169.254.169.254) who it is. Elsewhere that
is a request that nobody asked for, which any host may answer. So we ask only where the environment names one.
"""

import os
from pathlib import Path
from typing import NamedTuple

from stepscope.errors import UsageError

_YES = ("1", "true", "on", "yes", "y")


class _Provider(NamedTuple):
    """What obstore takes credentials from."""

    usual: str
    """The usual variables, for messages."""
    sets: tuple[tuple[str, ...], ...]
    """Variables that do together."""
    switches: tuple[str, ...]
    """Variables that do when they say yes: others say where the credentials are, or that none are needed."""
    metadata: tuple[str, ...]
    """Variables that name the metadata server."""
    example: str
    """How to name the provider's own."""


_PROVIDERS = {
    "s3": _Provider(
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, and AWS_ENDPOINT_URL for another provider",
        (
            ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
        ),
        ("AWS_SKIP_SIGNATURE",),
        ("AWS_METADATA_ENDPOINT",),
        "AWS_METADATA_ENDPOINT=http://169.254.169.254",
    ),
    "gs": _Provider(
        "GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
        (
            ("GOOGLE_SERVICE_ACCOUNT",),
            ("GOOGLE_SERVICE_ACCOUNT_PATH",),
            ("GOOGLE_SERVICE_ACCOUNT_KEY",),
            ("GOOGLE_APPLICATION_CREDENTIALS",),
            ("GOOGLE_BEARER_TOKEN",),
        ),
        ("GOOGLE_SKIP_SIGNATURE",),
        ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"),
        "GCE_METADATA_HOST=metadata.google.internal",
    ),
    "az": _Provider(
        "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY",
        (
            ("AZURE_STORAGE_ACCOUNT_KEY",),
            ("AZURE_STORAGE_ACCESS_KEY",),
            ("AZURE_STORAGE_MASTER_KEY",),
            ("AZURE_STORAGE_SAS_KEY",),
            ("AZURE_STORAGE_SAS_TOKEN",),
            ("AZURE_STORAGE_TOKEN",),
            ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"),
            ("AZURE_STORAGE_CLIENT_ID", "AZURE_STORAGE_CLIENT_SECRET", "AZURE_STORAGE_TENANT_ID"),
            ("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TENANT_ID"),
        ),
        ("AZURE_SKIP_SIGNATURE", "AZURE_USE_AZURE_CLI", "AZURE_STORAGE_USE_EMULATOR"),
        ("AZURE_MSI_ENDPOINT", "AZURE_IDENTITY_ENDPOINT", "IDENTITY_ENDPOINT"),
        "AZURE_MSI_ENDPOINT=http://169.254.169.254/metadata/identity/oauth2/token",
    ),
}


def _provider(url: str) -> _Provider:
    """Who keeps what a URL of a store names."""
    return _PROVIDERS.get(url[:2], _PROVIDERS["az"])


def variables(url: str) -> str:
    """The variables that credentials for a URL are usually in."""
    return _provider(url).usual


def check(url: str) -> None:
    """UsageError when the environment has no credentials for a URL, and names no server that gives them."""
    provider = _provider(url)
    held = os.environ.get
    if (
        any(all(map(held, names)) for names in provider.sets)
        or any(held(name, "").lower() in _YES for name in provider.switches)
        or any(map(held, provider.metadata))
        or (url.startswith("gs") and _logged_in())
    ):
        return
    lacking = ", ".join(sorted({name for names in provider.sets for name in names}))
    raise UsageError(
        "The environment holds no credentials for the store.",
        seen=f"{lacking}: not set, or not all that belong together",
        todo=f"set {provider.usual}; {provider.switches[0]}=true for a public bucket; or {provider.example} "
        "on a machine of the provider that may read the store: no metadata server is asked unless the "
        "environment names it",
        path=url,
    )


def _logged_in() -> bool:
    """Whether `gcloud auth application-default login` left its file, where obstore looks for it."""
    folder = Path("gcloud", "application_default_credentials.json")
    above = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("HOME")
    return bool(above) and (Path(above or "") / ("" if os.name == "nt" else ".config") / folder).is_file()
