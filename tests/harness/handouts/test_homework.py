"""hw3.ipynb: the four files in cells, and back."""

import ast

import pytest
from IPython.core.magics.osm import OSMagics
from nbformat import NotebookNode

from grader.fingerprint import ROOT
from grader.intake.layouts import notebook as layout
from grader.intake.notebook import read_notebook
from grader.intake.tree import Tree
from grader.stubs import BEGIN, END, release_stubs
from grader.submission import CANONICAL
from handouts.build import homework
from handouts.build.notebook import to_bytes

HANDOUT = "# Homework\n\n## 1. About\n\n## 2. Problem 1: a loss (20 points)\n\nWrite it.\n\n### Part\n\n## Problem 10\n"


@pytest.fixture(scope="module")
def stubs() -> dict[str, str]:
    return {name: text.decode() for name, text in release_stubs().items()}


@pytest.fixture
def empty(stubs) -> NotebookNode:
    return homework.notebook(stubs, HANDOUT)


def without_markers(name: str) -> str:
    lines = (ROOT / "solution" / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not BEGIN.match(line.rstrip("\n")) and not END.match(line.rstrip("\n")))


def filled(notebook: NotebookNode) -> NotebookNode:
    """Do what a student does: replace each definition that is to be written by one that is, cell by cell."""
    written = {
        (name, node.name): ast.get_source_segment(source, node)
        for name in CANONICAL
        for source in [without_markers(name)]
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for cell in notebook.cells:
        if cell.cell_type == "code" and homework.is_stub(cell.source):
            magic, _, stub = cell.source.partition("\n")
            (node,) = ast.parse(stub).body
            cell.source = f"{magic}\n{written[magic.rpartition('/')[2], node.name]}"
    return notebook


def test_the_cells_of_a_file_are_the_stub_to_the_byte(empty, stubs) -> None:
    for name, stub in stubs.items():
        cells = [cell.source.partition("\n") for cell in empty.cells if cell.cell_type == "code"]
        assert "".join(f"{text}\n" for magic, _, text in cells if magic.endswith(f"assignment/{name}")) == stub


def test_a_filled_notebook_is_handed_in_as_the_four_files_of_the_reference(empty) -> None:
    found = layout.find(Tree(sources={"hw3.ipynb": to_bytes(filled(empty))}))
    assert found is not None
    assert set(found.files) == set(CANONICAL)
    for name, content in found.files.items():
        assert ast.dump(ast.parse(content)) == ast.dump(ast.parse(without_markers(name)))
    assert found.remarks == ()


def test_an_empty_notebook_is_handed_in_as_the_stubs(empty, stubs) -> None:
    files = read_notebook("hw3.ipynb", to_bytes(empty)).files
    assert {name: ast.dump(ast.parse(content)) for name, content in files.items()} == {
        name: ast.dump(ast.parse(stub)) for name, stub in stubs.items()
    }


def test_running_the_cells_writes_the_files_and_a_cell_that_is_run_again_counts(
    empty, tmp_path, monkeypatch, capsys
) -> None:
    (tmp_path / "assignment").mkdir()
    monkeypatch.chdir(tmp_path)
    cells = [cell.source for cell in empty.cells if cell.source.startswith("%%writefile")]
    again = next(cell for cell in cells if "def logsumexp" in cell).replace("raise NotImplementedError", "return print")
    for cell in [*cells, *cells, again]:
        magic, _, text = cell.partition("\n")
        OSMagics(shell=None).writefile(magic.removeprefix("%%writefile "), f"{text}\n")
    capsys.readouterr()
    written = (tmp_path / "assignment" / "nn.py").read_text()
    functions = [node for node in ast.parse(written).body if getattr(node, "name", "") == "logsumexp"]
    assert len(functions) == 2
    assert isinstance(functions[-1].body[-1], ast.Return)
    assert (tmp_path / "assignment" / "translation.py").read_bytes() == release_stubs()["translation.py"]


def test_every_part_to_write_has_a_heading_and_every_file_its_tests(empty) -> None:
    headings = [cell.source for cell in empty.cells if cell.source.startswith("### Write")]
    assert headings == [
        f"### Write `{name}`"
        for name in (
            *("logsumexp", "softmax_loss"),
            *("Linear", "Embedding", "Dropout", "LayerNorm1d"),
            *("MultiHeadAttention", "FeedForward", "TransformerLayer", "DecoderLM"),
            *("loss_fn", "generate"),
        )
    ]
    tests = [cell.source.removeprefix("!{PYTEST} ") for cell in empty.cells if cell.source.startswith("!")]
    assert tests == [f"tests/test_{name}" for name in CANONICAL]
    assert all((ROOT / test).is_file() for test in tests)


def test_the_handouts_section_stands_above_its_problem_and_its_number_does_not(empty) -> None:
    texts = [cell.source for cell in empty.cells if cell.cell_type == "markdown"]
    assert "## Problem 1: a loss (20 points)\n\nWrite it.\n\n### Part" in texts
    assert "## Problem 2: `assignment/modules_basic.py`" in texts
