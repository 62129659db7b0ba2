"""Jobs of BigQuery that run once: a job with a known name was started before, here or elsewhere."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from stepscope.engines import bigquery

_ATTEMPTS = 5
"""How often a failed job is started again: each attempt needs another name."""


Job = tuple[str, Callable[[str], Any]]
"""The end of a job's name, and what starts it under the whole name."""


class Dataset(NamedTuple):
    """An existing dataset, and the prefix of names of jobs in it."""

    client: Any
    path: str
    location: str
    prefix: str

    def load(self, job_id: str, config: Any) -> dict[str, Any]:
        """Parameters of a job that loads rows. config: Google's LoadJobConfig."""
        return {
            "job_config": config,
            "job_id": job_id,
            "location": self.location,
            "timeout": bigquery.REQUEST_S,
        }

    def run(self, jobs: Sequence[Job]) -> None:
        """Runs jobs in parallel, each once, and again those that the service failed to run. Errors are those
        of Google's client."""
        running = [(name, start, self._started(name, start, 1)) for name, start in jobs]
        for name, start, first in running:
            job = first
            for attempt in range(2, _ATTEMPTS + 1):
                if _ended_well(job):
                    break
                job = self._started(name, start, attempt)
            job.result(timeout=bigquery.JOB_S)

    def _started(self, name: str, start: Callable[[str], Any], attempt: int) -> Any:
        exceptions: Any = importlib.import_module("google.api_core.exceptions")
        job_id = f"{self.prefix}-{name}-{attempt}"
        try:
            return start(job_id)
        except exceptions.Conflict:
            return self.client.get_job(job_id, location=self.location, **bigquery.limits())


def _ended_well(job: Any) -> bool:
    """Waits for a job; False when it failed, perhaps long ago."""
    exceptions: Any = importlib.import_module("google.api_core.exceptions")
    try:
        job.result(timeout=bigquery.JOB_S)
    except (exceptions.ServerError, exceptions.TooManyRequests):
        return False
    return True
