"""The students' files: made from the solution, without the solution."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from assignment.framework import tensor
from grader import stubs
from grader.errors import UsageError
from grader.submission import CANONICAL

ROOT = Path(stubs.__file__).parent.parent

GOOD = """\
def f(x):
    # BEGIN SOLUTION: Problem 9: f
    return x + 1
    # END SOLUTION


def g(x):
    return x
"""


def test_a_region_becomes_one_raise_and_the_rest_stays():
    assert stubs.stub_text(GOOD, "f.py") == (
        'def f(x):\n    raise NotImplementedError("Problem 9: f is not written yet")\n\n\ndef g(x):\n    return x\n'
    )


@pytest.mark.parametrize(
    ("source", "where", "what"),
    [
        (GOOD.replace("    # END SOLUTION\n", ""), "f.py:6", "line 2 is open here"),
        (GOOD.partition("    # END")[0], "f.py:2", "never ends"),
        (GOOD.replace("    # BEGIN SOLUTION: Problem 9: f\n", ""), "f.py:3", "never began"),
        (GOOD.replace("    return x + 1", "    # BEGIN SOLUTION: Problem 9: f"), "f.py:3", "inside"),
        (GOOD.replace("SOLUTION: Problem 9: f", "SOLUTION:"), "f.py:2", "no marker"),
        (GOOD.replace("SOLUTION: Problem 9: f", "SOLUTION"), "f.py:2", "no marker"),
        (GOOD.replace("# END SOLUTION", "# END SOLUTION of f"), "f.py:4", "no marker"),
        (GOOD.replace("# END SOLUTION", "#END SOLUTION"), "f.py:4", "no marker"),
        (GOOD.replace("# BEGIN", "# begin"), "f.py:2", "no marker"),
        (GOOD.replace("    return x + 1", "    return x + 1  # END SOLUTION"), "f.py:3", "no marker"),
        (GOOD.replace("    # END SOLUTION", "  # END SOLUTION"), "f.py:4", "align"),
        (GOOD.replace("    return x + 1", "y = 2"), "f.py:3", "further left"),
        (GOOD.replace("Problem 9: f", 'Problem 9: "f"'), "f.py:2", "no marker"),
        ("x = 1\n", "f.py", "nothing is marked"),
    ],
)
def test_a_malformed_marker_is_refused_with_its_place(source, where, what):
    with pytest.raises(UsageError, match=rf"^{where}: .*{what}"):
        stubs.stub_text(source, "f.py")


def test_the_release_has_the_four_files_in_utf_8():
    assert tuple(stubs.release_stubs()) == CANONICAL
    for name, text in stubs.release_stubs().items():
        compile(text.decode("utf-8"), name, "exec")


def test_the_committed_files_are_what_the_solution_gives():
    outcome = subprocess.run(
        [sys.executable, "-m", "grader.stubs", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A copy of the two folders, for writing into."""
    for folder in ("solution", "assignment"):
        (tmp_path / folder).mkdir()
        for name in CANONICAL:
            (tmp_path / folder / name).write_bytes((ROOT / folder / name).read_bytes())
    monkeypatch.setattr(stubs, "ROOT", tmp_path)
    stubs.release_stubs.cache_clear()
    yield tmp_path
    stubs.release_stubs.cache_clear()


def test_check_names_a_stale_and_a_missing_file_and_changes_nothing(house, capsys):
    (house / "assignment" / "nn.py").write_text("stale\n")
    (house / "assignment" / "translation.py").unlink()
    assert stubs.main(["--check"]) == 1
    errors = capsys.readouterr().err
    assert "assignment/nn.py" in errors
    assert "assignment/translation.py" in errors
    assert "transformer" not in errors
    assert (house / "assignment" / "nn.py").read_text() == "stale\n"


def test_without_check_the_files_are_written(house):
    (house / "assignment" / "nn.py").write_text("stale\n")
    assert stubs.main([]) == 0
    assert stubs.main(["--check"]) == 0


def test_a_broken_solution_is_named_and_writes_nothing(house, capsys):
    with (house / "solution" / "nn.py").open("a") as file:
        file.write("# END SOLUTION\n")
    before = (house / "assignment" / "nn.py").read_bytes()
    assert stubs.main([]) == 2
    assert "solution/nn.py:" in capsys.readouterr().err
    assert (house / "assignment" / "nn.py").read_bytes() == before


@pytest.mark.parametrize("name", CANONICAL)
def test_a_stub_keeps_every_name_signature_and_docstring(name):
    assert outline((ROOT / "assignment" / name).read_text()) == outline((ROOT / "solution" / name).read_text())


def outline(source):
    """Every function and class, with its parameters and docstring, in order."""
    return [
        (node.name, ast.get_docstring(node), ast.dump(node.args) if isinstance(node, ast.FunctionDef) else None)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


@pytest.mark.parametrize("name", CANONICAL)
def test_no_line_of_a_region_is_in_the_stub(name):
    stub = set((ROOT / "assignment" / name).read_text().splitlines())
    secret, inside = [], False
    for line in (ROOT / "solution" / name).read_text().splitlines():
        if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            inside = "BEGIN" in line
            assert line not in stub
        elif inside and line.strip():
            secret.append(line)
    assert secret
    assert stub.isdisjoint(secret)


@pytest.mark.parametrize("name", CANONICAL)
def test_the_message_of_every_raise_names_the_place_where_it_stands(name):
    tree = ast.parse((ROOT / "assignment" / name).read_text())
    problem = CANONICAL.index(name) + 1
    places = [
        f"{scope.name}.{node.name}" if isinstance(scope, ast.ClassDef) else node.name
        for scope in ast.walk(tree)
        if isinstance(scope, ast.Module | ast.ClassDef)
        for node in scope.body
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Raise)
    ]
    messages = [
        node.exc.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.args[0], ast.Constant)
    ]
    assert sorted(messages) == sorted(f"Problem {problem}: {place} is not written yet" for place in places)


def test_a_stub_says_which_part_is_missing():
    transformer = importlib.import_module("assignment.transformer")
    with pytest.raises(NotImplementedError, match=r"^Problem 3: MultiHeadAttention\.__init__ is not written yet$"):
        transformer.MultiHeadAttention(8, 2)


def test_what_is_given_works_in_the_stub():
    nn = importlib.import_module("assignment.nn")
    x = tensor([[0.0, 1.0, 1.0]])
    assert nn.argmax(x, 1).to_numpy().tolist() == [[0, 1, 1]]
    assert nn.max(x, -1).to_numpy().tolist() == [[1]]
    assert nn.one_hot(tensor([2]), 3).to_numpy().tolist() == [[0, 0, 1]]
    assert nn.softmax(x, -1).to_numpy().sum() == pytest.approx(1)
    with pytest.raises(NotImplementedError, match="logsumexp"):
        nn.logsoftmax(x, 1)
