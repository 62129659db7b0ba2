"""A Spark cluster for tests: one master, two workers and a Connect server, all processes of this machine.

They come from the package of PyPI, listen on loopback only, and are started and ended by the tests.
"""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

WAIT_S = 240.0
"""How long the cluster may take to come up on a machine that is busy."""


def _die_with_parent() -> None:
    """Has the kernel end a process along with the tests, however these end."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def java() -> str | None:
    """Java, which Spark needs; None where the machine has none."""
    return shutil.which("java")


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on, below those that systems hand out by themselves: Spark's own
    processes ask for such before the server is up that is to have the port."""
    with contextlib.ExitStack() as stack:
        found: list[int] = []
        while len(found) < count:
            port = random.randrange(15_000, 32_000)
            one = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                one.bind(("127.0.0.1", port))
                found.append(port)
        return found


def listens(port: int) -> bool:
    """Whether something answers at a port."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


class Cluster:
    """The processes, and where to reach them. close() ends them all."""

    def __init__(self, home: Path) -> None:
        self.home = home
        master, connect = free_ports(2)
        self.remote = f"sc://127.0.0.1:{connect}"
        at = f"spark://127.0.0.1:{master}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        try:
            self._start(
                "master", "org.apache.spark.deploy.master.Master",
                *("--host", "127.0.0.1", "--port", f"{master}", "--webui-port", "0"),
            )  # fmt: skip
            self._wait(master)
            self._master = at
            for _ in range(2):
                self.add_worker()
            settings = {
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.connect.grpc.binding.address": "127.0.0.1",
                "spark.connect.grpc.binding.port": str(connect),
                "spark.executor.cores": "1",
                "spark.executor.memory": "1g",
                "spark.cores.max": "2",
                "spark.ui.enabled": "false",
                "spark.sql.warehouse.dir": str(home / "warehouse"),
                "spark.local.dir": str(home / "local"),
                # A lost worker is noticed at once, as its connection breaks; tasks are tried again.
                "spark.task.maxFailures": "8",
            }
            told = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
            self._start(
                "connect", "org.apache.spark.deploy.SparkSubmit", "--master", at, *told,
                *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
                memory="1g",  # its class counts as a daemon: --driver-memory says nothing
            )  # fmt: skip
            self._wait(connect)
        except BaseException:
            self.close()
            raise

    def add_worker(self) -> None:
        """Starts a worker of one core. From the main thread: the worker ends along with the thread."""
        number = len(self.workers)
        worker = self._start(
            f"worker{number}", "org.apache.spark.deploy.worker.Worker",
            *("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"),
            *("--work-dir", str(self.home / f"work{number}"), self._master),
        )  # fmt: skip
        self.workers.append(worker)

    def _start(self, name: str, *words: str, memory: str = "256m") -> subprocess.Popen[bytes]:
        import pyspark

        place = self.home / name
        place.mkdir(parents=True)
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK"))},
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.home / "local"),
        }
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(
                [str(Path(pyspark.__path__[0], "bin", "spark-class")), *words],
                cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=_die_with_parent,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def _wait(self, port: int) -> None:
        until = time.monotonic() + WAIT_S
        while not listens(port):
            dead = [one for one in self._processes if one.poll() is not None]
            if dead or time.monotonic() > until:
                logs = "\n".join(path.read_text()[-2000:] for path in sorted(self.home.glob("*/log")))
                raise RuntimeError(f"the Spark cluster did not come up:\n{logs}")
            time.sleep(0.2)

    def executors(self, worker: int) -> list[int]:
        """Process ids of the executors of a worker: its children."""
        task = Path(f"/proc/{self.workers[worker].pid}/task")
        return [int(pid) for children in task.glob("*/children") for pid in children.read_text().split()]

    def kill(self, worker: int) -> list[int]:
        """Ends a worker and its executors as a power cut would; the executors' process ids."""
        executors = self.executors(worker)
        self.workers[worker].send_signal(signal.SIGKILL)
        for pid in executors:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.workers[worker].wait()
        return executors

    def close(self) -> None:
        """Ends every process, the executors included."""
        left = [pid for number in range(len(self.workers)) for pid in self.executors(number)]
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def cluster(home: Path) -> Iterator[Cluster]:
    """A cluster that lives as long as the block."""
    found = Cluster(home)
    try:
        yield found
    finally:
        found.close()
