"""`junit.xml`: every check as a test case, for GitLab and others that show JUnit. It says what the feedback says."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from grader.report.feedback import Style, page
from grader.report.gradebook import Row
from grader.report.page import Finding
from grader.report.page_plain import as_plain
from grader.report.text import clean
from grader.report.voice import Voice, is_carried, is_explained
from grader.verdict import CheckReport, ProblemReport, Report, Status, Verdict

JUNIT = "junit.xml"


def dump_junit(rows: Sequence[Row], style: Style) -> bytes:
    """The file in UTF-8: a suite a submission, a case a check; no times, so the same reports give the same bytes.

    A check that lost points on its own account is a failure, or an error where the code stopped; what was not tried,
    not written or not assessed, or is paid for elsewhere, is skipped. What went wrong with a submission as a whole is a
    case of its own.
    """
    root = ET.Element("testsuites")
    for row in sorted(rows, key=lambda row: row.submission.id):
        suite = ET.SubElement(root, "testsuite", name=clean(row.submission.id))
        if row.report is None or row.report.status is Status.UNGRADABLE:
            _whole(suite, row.report, style)
        else:
            _checks(suite, row.report, style)
        for outcome, count in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
            suite.set(outcome, str(len(list(suite.iter(count)))))
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _whole(suite: ET.Element, report: Report | None, style: Style) -> None:
    case = ET.SubElement(suite, "testcase", classname="submission", name="The submission can be graded")
    if report is None:
        ET.SubElement(case, "error", message="the grader failed; this is no fault of the submission's")
    else:
        ET.SubElement(case, "failure", message=clean(Voice(style).told(report.message)))


def _checks(suite: ET.Element, report: Report, style: Style) -> None:
    voice = Voice(style)
    found = {block.anchor: as_plain(block.blocks) for block in page(report, style).blocks if isinstance(block, Finding)}
    for problem in report.problems:
        for check in problem.checks:
            case = ET.SubElement(
                suite, "testcase", classname=clean(_title(problem, voice)), name=clean(voice.title(check))
            )
            _outcome(case, check, voice, found.get(check.id, ""))


def _title(problem: ProblemReport, voice: Voice) -> str:
    return f"{problem.id[1:]}. {voice.problem_title(problem)}"


def _outcome(case: ET.Element, check: CheckReport, voice: Voice, told: str) -> None:
    said = voice.say(f"verdict_{check.verdict.value}")
    if is_explained(check):
        kind = "failure" if check.verdict is Verdict.FAILED else "error"
        ET.SubElement(case, kind, message=clean(f"{said}, {voice.lost(check)}")).text = clean(told) or None
    elif is_carried(check):
        ET.SubElement(case, "skipped", message=clean(voice.say("verdict_carried")))
    elif check.verdict is not Verdict.PASSED:
        ET.SubElement(case, "skipped", message=clean(voice.say("unwritten") if check.unwritten else said))
