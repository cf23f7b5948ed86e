"""The public tests as a student meets them: on stubs, on half-filled files, on the reference."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader import rubric
from grader.messages.guide import guide
from grader.stubs import BEGIN, END, release_stubs, stub_text
from grader.verdict import Visibility

ROOT = Path(__file__).resolve().parents[3]
UNWRITTEN = "is not written yet"


@pytest.fixture(scope="module")
def on_stubs(new_student):
    return new_student().run()


@pytest.fixture(scope="module")
def on_reference(new_student):
    student = new_student()
    student.fill()
    return student.run()


@pytest.fixture(scope="module")
def table():
    """The public table of points, as a module."""
    spec = importlib.util.spec_from_file_location("public_points", ROOT / "tests" / "points.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def public_lines():
    """The checks that a student can test; what trains for a while has a command of its own instead."""
    public = [line for line in rubric.load().checks if line.visibility is Visibility.PUBLIC and not line.pending]
    return [line for line in public if not guide().checks[line.id].command]


def all_but(part, source):
    """The text of a file in which only this part is still a stub."""
    kept, inside = [], ""
    for line in source.splitlines():
        begin = BEGIN.match(line)
        inside = begin["part"] if begin else inside
        if inside == part or not (begin or END.match(line)):
            kept.append(line)
    return stub_text("\n".join(kept), part)


def test_on_stubs_every_test_fails_in_one_line_that_names_what_to_write(on_stubs):
    assert on_stubs.status == 1
    assert {outcome for _, outcome, _ in on_stubs.tests} == {"failure"}
    assert all(message.endswith(UNWRITTEN) and "\n" not in message for message in on_stubs.messages("failure"))
    assert "Error" not in on_stubs.screen
    assert len(on_stubs.screen.splitlines()) < 40


def test_on_the_reference_every_test_passes_and_all_public_points_are_reached(on_reference):
    assert on_reference.status == 0, on_reference.screen
    assert on_reference.checks("passed") == {check for check, _, _ in on_reference.tests}
    available = sum(line.points for line in public_lines())
    assert f"{available:g} / {available:g}" in on_reference.screen


def test_every_public_check_that_is_not_pending_has_a_test_and_its_points(on_reference, table):
    expected = {line.id: line.points for line in public_lines()}
    assert on_reference.checks("passed") == expected.keys()
    assert {check: entry.points for check, entry in table.CHECKS.items()} == expected


def test_the_table_names_the_problems_as_the_rubric_does(table):
    titles = {problem.id: problem.title for problem in rubric.load().problems}
    assert titles == table.PROBLEMS


def test_every_subject_in_the_table_has_stubs_and_every_stub_a_subject(table):
    stubs = "".join(stub.decode() for stub in release_stubs().values())
    parts = set(re.findall(r"Problem \d: (\w+)[\w.]* is not written yet", stubs))
    assert {entry.subject for entry in table.CHECKS.values()} == parts


def test_a_run_of_a_few_tests_counts_only_these(table):
    board = table.Scoreboard()
    board.add("p1.lse.value", "passed")
    board.add("p1.lse.stable", "passed")
    board.add("p1.lse.stable", "failed")
    board.add("p1.loss.value", "unwritten", "Problem 1: softmax_loss")
    assert board.lines()[1].split() == ["Problem", "1:", "Softmax", "loss", "2", "/", "4", "4", "/", "12"]
    assert board.lines()[-1].split() == ["Problem", "1:", "softmax_loss", "1", "test"]


@pytest.mark.parametrize(("name", "problem"), [("nn", "p1."), ("modules_basic", "p2.")])
def test_a_problem_filled_alone_passes_its_own_tests(student, name, problem):
    student.fill(name)
    found = student.run()
    assert {check for check, _, _ in found.tests if check.startswith(problem)} == found.checks("passed")
    assert not any(check.startswith(problem) for check in found.checks("failure"))


def test_what_builds_on_a_stub_waits_for_it(student):
    student.fill("nn", "transformer", "translation")
    found = student.run()
    assert {check[:3] for check in found.checks("passed")} == {"p1.", "p4."}
    assert {check[:3] for check in found.checks("failure")} == {"p2."}
    assert {check[:3] for check in found.checks("skipped")} == {"p3."}
    assert "waiting for Problem 2: Linear.__init__" in found.messages("skipped")
    assert "Waiting for:" in found.screen


@pytest.mark.parametrize(
    ("name", "text", "error", "passing"),
    [
        ("nn", "def logsumexp(input, dim:\n", "SyntaxError", set()),
        ("transformer", "import math\nx = undefined\n", "NameError", {"p1.", "p2.", "p4."}),
    ],
)
def test_a_file_that_cannot_be_imported_is_shown_once_and_named_below_the_table(student, name, text, error, passing):
    student.fill()
    student.write(name, text)
    found = student.run()
    assert (found.status, found.checks("skipped")) == (1, set())
    assert {check[:3] for check in found.checks("passed")} == passing
    assert found.screen.count(f"{error}: ") == 1
    place = rf"assignment/{name}\.py, line {len(text.splitlines())}: {error}"
    below = re.search(rf"Cannot be imported:\n  {place} +(\d+) tests\n", found.screen)
    stopped = sum(outcome == "failure" for _, outcome, _ in found.tests)
    assert (int(below[1]), stopped > 20) == (stopped, True)
    assert len(found.screen.splitlines()) < 40


def test_only_tests_of_the_unwritten_part_itself_fail(student):
    student.fill()
    source = (ROOT / "solution" / "transformer.py").read_text(encoding="utf-8")
    student.write("transformer", all_but("Problem 3: FeedForward.forward", source))
    found = student.run("tests/test_transformer.py")
    assert found.checks("failure") == {"p3.ffn"}
    assert found.checks("skipped") == {"p3.layer", "p3.lm.forward", "p3.lm.limit"}
    assert found.messages("skipped") == {"waiting for Problem 3: FeedForward.forward"}
    assert found.status == 1


def test_the_variable_names_another_package(student):
    (student.folder / "other").mkdir()
    (student.folder / "other" / "nn.py").write_bytes((ROOT / "solution" / "nn.py").read_bytes())
    found = student.run("tests/test_nn.py", HW3_PACKAGE="other")
    assert found.status == 0, found.screen


def test_tests_that_were_left_out_by_name_are_not_counted(student):
    student.fill("nn")
    found = student.run("tests/test_nn.py", "-k", "gradient_of_softmax_loss")
    assert (found.status, found.checks("passed")) == (0, {"p1.loss.grad"})
    assert "Problem 1: Softmax loss                    2 / 2       3 / 3" in found.screen
    assert "Traceback" not in found.screen + found.errors


def test_the_table_is_added_to_a_file_as_markdown(student):
    student.fill("nn")
    (student.folder / "summary.md").write_text("before\n")
    student.run("tests/test_nn.py", "tests/test_modules_basic.py", "--points-summary", "summary.md")
    lines = (student.folder / "summary.md").read_text().splitlines()
    assert lines[:3] == ["before", "| | tests | points | waiting |", "| --- | ---: | ---: | ---: |"]
    assert lines[3] == "| Problem 1: Softmax loss | 27 / 27 | 18 / 18 |  |"
    assert re.fullmatch(r"\| Problem 2: Basic modules \| 0 / \d+ \| 0 / 10 \|  \|", lines[4])
    assert re.fullmatch(r"\| \*\*All\*\* \| 27 / \d+ \| 18 / 28 \|  \|", lines[5])


def test_no_table_is_shown_when_no_public_test_ran():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/harness/test_compare.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    assert "points" not in done.stdout


def test_the_screen_is_at_most_80_columns_wide(on_stubs, on_reference):
    for line in (on_stubs.screen + on_reference.screen).splitlines():
        assert len(line) <= 80
