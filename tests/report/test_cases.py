"""The rows of a finding, as people see them."""

import pytest

from stepscope.report.parts import Column, ReportFinding, Table


@pytest.mark.parametrize(
    ("severities", "shown"),
    [
        (("high", "high"), ["Wait"]),
        (("high", "low"), ["Severity", "Wait"]),
        (("low", "low"), ["Severity", "Wait"]),
    ],
)
def test_a_severity_that_the_finding_has_is_not_said_again(
    severities: tuple[str, ...], shown: list[str]
) -> None:
    columns = (Column("severity", "text", "Severity"), Column("wait_ps", "ps", "Wait"))
    evidence = Table(columns, tuple((severity, 5) for severity in severities), 7)
    finding = ReportFinding("slug", "high", "Title", "Impact.", "Action.", evidence, "")
    assert [column.title for column in finding.cases.columns] == shown
    assert [row[-1] for row in finding.cases.rows] == [5, 5]
    assert finding.cases.total == 7
