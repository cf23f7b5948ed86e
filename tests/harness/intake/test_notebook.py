"""Notebook cells become files; nothing of a notebook is run."""

from __future__ import annotations

import json

import pytest

from grader.intake.notebook import read_notebook


@pytest.fixture
def notebook():
    def make(*cells: tuple[str, dict] | str) -> bytes:
        pairs = [(cell, {}) if isinstance(cell, str) else cell for cell in cells]
        code = [
            {"cell_type": "code", "source": text.splitlines(keepends=True), "metadata": data} for text, data in pairs
        ]
        prose = {"cell_type": "markdown", "source": "# file: nn.py", "metadata": {"tags": ["file:nn.py"]}}
        return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [prose, *code]}).encode()

    return make


@pytest.mark.parametrize(
    "cell",
    [
        ("x = 1\n", {"tags": ["graded", "file:nn.py"]}),
        ("x = 1\n", {"tags": ["file: assignment/nn.py"]}),
        ("x = 1\n", {"file": "nn.py"}),
        "# file: nn.py\nx = 1\n",
        "#file:nn.py\nx = 1\n",
        "%%writefile nn.py\nx = 1\n",
        "%%writefile -a assignment/nn.py\nx = 1\n",
        "\n%%file nn.py\nx = 1\n",
    ],
)
def test_a_cell_names_its_file_in_any_of_these_ways(notebook, cell):
    assert read_notebook("a.ipynb", notebook(cell)).files == {"nn.py": b"x = 1\n"}


def test_cells_of_one_file_are_joined_in_order_and_untagged_ones_left_out(notebook):
    cells = read_notebook(
        "a.ipynb",
        notebook(("a = 1", {"file": "nn.py"}), "import evil", "# file: b.py\nb", ("c = 3", {"file": "nn.py"})),
    )
    assert cells.files == {"nn.py": b"a = 1\n\nc = 3\n", "b.py": b"b\n"}
    assert cells.tagged


def test_commands_of_jupyter_are_left_out_and_python_that_resembles_them_is_not(notebook):
    source = (
        "%matplotlib inline\n!ls\nfiles = !ls\ntimes = %timeit -o f()\n?print\nprint??\nif gpu:\n    !nvidia-smi\n"
        "x = (a\n     % b\n  != c)\ny = '''\n% done\n'''\nz = a % b\n"
    )
    cells = read_notebook("a.ipynb", notebook((source, {"file": "nn.py"})))
    assert (
        cells.files["nn.py"].decode()
        == "if gpu:\n    pass\nx = (a\n     % b\n  != c)\ny = '''\n% done\n'''\nz = a % b\n"
    )
    assert cells.dropped == 7


def test_a_timed_cell_is_kept_and_a_cell_in_another_language_is_not(notebook):
    tag = {"file": "nn.py"}
    cells = read_notebook("a.ipynb", notebook(("%%time\nx = 1", tag), ("%%bash\nrm -rf /", tag)))
    assert cells.files["nn.py"].split() == [b"x", b"=", b"1"]


def test_future_imports_of_several_cells_are_moved_to_the_top_of_the_file(notebook):
    future = "from __future__ import annotations\n"
    cells = read_notebook("a.ipynb", notebook(f"{future}def f():\n    return 1", f"{future}def g():\n    return 2"))
    (source,) = cells.files.values()
    assert source.decode().splitlines()[0] == future.strip()
    assert source.count(b"__future__") == 1


def test_without_any_tag_all_definitions_are_one_source_and_tries_are_left_out(notebook):
    content = notebook(
        "import math\nEPS = 1e-5",
        "def helper(x):\n    return x",
        "class Linear:\n    pass\nLinear()",
        "helper(3)",
        "x = helper(2)\nprint(x)",
    )
    cells = read_notebook("a.ipynb", content)
    assert not cells.tagged
    assert cells.files == {
        "a.ipynb": b"import math\nEPS = 1e-5\n\ndef helper(x):\n    return x\n\nclass Linear:\n    pass\nLinear()\n"
    }


def test_an_untagged_notebook_stands_for_the_files_whose_contents_it_defines(tmp_path, notebook, one):
    content = notebook("def logsumexp(x, dim):\n    return x", "class MultiHeadAttention:\n    pass")
    (tmp_path / "zoe.ipynb").write_bytes(content)
    submission = one(tmp_path)
    assert submission.layout == "notebook"
    assert set(submission.files) == {"nn.py", "transformer.py"}
    assert submission.remarks == (
        "nn.py was taken from zoe.ipynb",
        "transformer.py was taken from zoe.ipynb",
        "not handed in: modules_basic.py, translation.py",
    )


def test_a_notebook_beside_the_four_files_is_only_notes(tmp_path, write, one, notebook, four):
    write(tmp_path / "zoe", {**four, "notes.ipynb": notebook(("broken", {"file": "nn.py"}))})
    assert (one(tmp_path / "zoe").files, one(tmp_path / "zoe").layout) == (four, "plain")


def test_helper_files_beside_a_notebook_are_kept(tmp_path, write, one, notebook):
    write(
        tmp_path / "class" / "zoe", {"hw3.ipynb": notebook(("import heads", {"file": "nn.py"})), "heads.py": b"x = 1\n"}
    )
    assert one(tmp_path / "class").files == {"nn.py": b"import heads\n", "heads.py": b"x = 1\n"}


def test_of_two_notebooks_the_tagged_one_is_meant_and_two_tagged_are_a_problem(tmp_path, write, one, notebook):
    tagged, tries = notebook(("x = 1", {"file": "nn.py"})), notebook("def generate(): ...")
    write(tmp_path / "class" / "zoe", {"a.ipynb": tries, "b.ipynb": tagged})
    assert one(tmp_path / "class").files == {"nn.py": b"x = 1\n"}
    write(tmp_path / "class" / "zoe", {"c.ipynb": tagged})
    assert one(tmp_path / "class").problem == "expected one notebook, found b.ipynb and c.ipynb: hand in one of them"


def test_a_notebook_without_a_file_says_how_to_name_one(tmp_path, notebook, one):
    (tmp_path / "zoe.ipynb").write_bytes(notebook("print('hello')"))
    assert one(tmp_path).problem == (
        "expected nn.py, modules_basic.py, transformer.py, translation.py in code cells that name their file "
        "(tag file:nn.py), found none in zoe.ipynb"
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no json",
        b"[]",
        b"{}",
        b'{"nbformat": 4}',
        b'{"nbformat": [4]}',
        b"[" * 100_000,
        b"\xff{}",
        b"1" * 10_000,
    ],
)
def test_what_is_no_notebook_is_ungradable(tmp_path, one, content):
    (tmp_path / "zoe.ipynb").write_bytes(content)
    assert one(tmp_path).problem == "expected a Jupyter notebook, found that zoe.ipynb cannot be read as one"


def test_an_old_format_and_a_file_outside_are_refused_or_harmless(tmp_path, one, notebook):
    (tmp_path / "zoe.ipynb").write_bytes(b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}')
    assert one(tmp_path).problem == "expected a notebook of format 4, found that zoe.ipynb is of another"
    (tmp_path / "zoe.ipynb").write_bytes(notebook(("x", {"file": "../../evil.py"}), ("y = 1", {"file": "nn.py"})))
    assert one(tmp_path).files == {"nn.py": b"y = 1\n"}
