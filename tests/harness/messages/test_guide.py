"""The guide: for every check of the rubric a Chinese title, a section of the lecture, and local tests that exist."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from grader import checks
from grader.fingerprint import ROOT
from grader.messages import guide as guide_module
from grader.messages.guide import guide
from grader.rubric import load
from grader.verdict import Visibility

RUBRIC = load()
TESTS = Path(__file__).parents[2]


def test_the_guide_has_the_ids_of_the_rubric():
    assert list(guide().checks) == [line.id for line in RUBRIC.checks]
    assert list(guide().problems) == [problem.id for problem in RUBRIC.problems]


def test_titles_are_chinese_and_differ():
    titles = [found.zh for found in (*guide().problems.values(), *guide().checks.values())]
    assert [title for title in titles if not re.search("[\u4e00-\u9fff]", title)] == []
    assert len(set(titles)) == len(titles)


def test_sections_are_sections():
    assert all(re.fullmatch(r"[1-9]\.\d", found.section) for found in guide().checks.values())


@pytest.mark.parametrize("check", checks.identifiers())
def test_the_guide_leads_to_what_the_check_looks_at(check):
    found = guide().checks[check]
    assert f"{'class' if found.name[:1].isupper() else 'def'} {found.name}(" in (
        ROOT / "assignment" / found.file
    ).read_text(encoding="utf-8")
    trials = checks.trials(check, checks.Draw(np.random.default_rng(0)))
    targets = {trial.case.target for trial in trials}
    assert found.where in targets or targets.isdisjoint(guide_of.where for guide_of in guide().checks.values())


def public_tests(file: str) -> dict[str, set[str]]:
    """Test -> the checks that it is marked with."""
    found = {}
    for node in ast.parse((TESTS.parent / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            calls = [d for d in node.decorator_list if isinstance(d, ast.Call)]
            found[node.name] = {d.args[0].value for d in calls if ast.unparse(d.func) == "pytest.mark.points"}
    return found


def selected(expression: str, name: str) -> bool:
    """What pytest's -k does with words joined by `and`, `or`, `not`."""
    return any(
        all(word.removeprefix("not ") not in name if word.startswith("not ") else word in name for word in both)
        for both in (part.split(" and ") for part in expression.split(" or "))
    )


@pytest.mark.parametrize("line", RUBRIC.checks, ids=lambda line: line.id)
def test_the_command_runs_the_public_tests_of_its_check(line):
    if found := guide().checks[line.id].command:
        assert found in {"python -m assignment.reversal", "python -m assignment.translation --data grammar"}
        return
    command = guide().checks[line.id].tests
    if not command:
        assert line.visibility is Visibility.HIDDEN or line.pending
        return
    match = re.fullmatch(r'(tests/test_\w+\.py) -k (?:(\w+)|"([\w ]+)")', command)
    tests = public_tests(match[1])
    chosen = {name for name in tests if selected(match[2] or match[3], name)}
    assert chosen
    assert {name for name, checks in tests.items() if line.id in checks} <= chosen


def test_a_check_that_the_guide_does_not_know_keeps_its_english_title():
    assert guide().check_title("p9.new", "A title", "zh") == "A title"
    assert guide().check_title("p3.mha.scale", "A title", "en") == "A title"
    assert guide().check_title("p3.mha.scale", "A title", "zh") == "注意力分数除以头维度的平方根"
    assert guide().problem_title("p4", "Translation", "zh") == "翻译"


def test_a_guide_with_an_unknown_key_is_refused(tmp_path, monkeypatch):
    (tmp_path / "guide.yaml").write_text("problems: {}\nchecks: {p1: {zh: x, where: nn.f, section: '1.1', test: y}}\n")
    monkeypatch.setattr(guide_module, "__file__", str(tmp_path / "guide.py"))
    with pytest.raises(ValueError, match=r"guide\.yaml is not what"):
        guide.__wrapped__()
