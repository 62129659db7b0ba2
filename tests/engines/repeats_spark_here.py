"""A lake asked with Spark on this machine: the whole library, cell by cell, and the report, to the letter.

One test, since a session and its tables cost as much as half of the library.
"""

import importlib.util
import os
from pathlib import Path

import pytest

import stepscope
from stepscope.engines.spark import Spark
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.engines import cluster
from tests.engines.agreeing import SAMPLES, asked, differences, same_sentences
from tests.tiers import cases

pytestmark = [
    pytest.mark.skipif(
        cluster.java() is None or importlib.util.find_spec("pyspark") is None,
        reason="Spark needs Java and pyspark, and this machine lacks "
        + ("Java" if cluster.java() is None else "pyspark"),
    ),
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets to the Java process
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_the_whole_library_and_the_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same order of rows, too, where a file of the library has one."""
    monkeypatch.setitem(os.environ, "SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setitem(os.environ, "PYSPARK_SUBMIT_ARGS", _few_threads(tmp_path))
    lake = tmp_path / "a {lake}" / "lake"  # braces are patterns to Hadoop
    stepscope.ingest([corpus.SAMPLES / name for name in SAMPLES], lake)
    with open_trace(lake) as duckdb, open_trace(lake, engine=lambda: Spark(remote="local[1]")) as spark:
        different, cells = differences(duckdb, spark, asked())
        assert different == {}
        assert cells > cases(8_000, 50_000)
        assert same_sentences(duckdb, spark)


def _few_threads(folder: Path) -> str:
    """Settings of the Java process, which shares two cores with the rest of the suite."""
    settings = {
        "spark.local.dir": folder / "spark",
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    }
    return " ".join(f"--conf {key}={value}" for key, value in settings.items()) + " pyspark-shell"
