"""A lab as a page without its code."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output

from handouts.build import page
from handouts.build.notebook import code_cell, notebook_of, text_cell
from handouts.build.stamp import stamp_in

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg=="
converts = pytest.mark.skipif(find_spec("pypandoc") is None, reason="needs pypandoc_binary of the extra handouts")


@pytest.fixture
def notebook() -> NotebookNode:
    printed = new_output("stream", name="stdout", text="a < b & ```\nloss  0.5\n")
    figure = new_output("display_data", {"image/png": PNG})
    value = new_output("execute_result", {"text/plain": "[1, 2]"}, execution_count=2)
    return notebook_of(
        [
            text_cell("# Soft look-up\n\n$$\\sqrt{d}$$"),
            code_cell("secret = 1", outputs=[printed, figure, value]),
            code_cell("secret = 2"),
        ]
    )


@pytest.fixture
def made(notebook: NotebookNode, project: Path) -> str:
    return page.page(notebook, "zh", project).decode()


@converts
def test_the_page_has_text_formulas_outputs_and_figures_and_no_code(made: str) -> None:
    assert '<html lang="zh-Hans">' in made
    assert "<title>Soft look-up</title>" in made
    assert "<msqrt><mi>d</mi></msqrt>" in made
    assert "a &lt; b &amp; ```\nloss  0.5</code>" in made
    assert f'src="data:image/png;base64,{PNG}" alt="图 1"' in made
    assert "[1, 2]" in made
    assert "secret" not in made
    assert "--paper: #ffffff;" in made  # the style, from page.css


@converts
def test_the_page_loads_nothing(made: str) -> None:
    assert re.findall(r'(?:src|href)="(?!data:)|<script|@import|url\(', made) == []


@converts
def test_the_page_is_the_same_each_time_and_says_what_it_is_made_of(
    made: str, notebook: NotebookNode, project: Path
) -> None:
    assert page.page(notebook, "zh", project).decode() == made
    assert stamp_in(made.encode()) == page.stamp(notebook, project)


def test_its_stamp_changes_with_text_outputs_and_converter_but_not_with_pixels(
    notebook: NotebookNode, project: Path
) -> None:
    before = page.stamp(notebook, project)
    notebook.cells[1].outputs[1].data["image/png"] = "iVBORw0KGgo="
    assert page.stamp(notebook, project) == before
    notebook.cells[1].outputs[0].text = "other"
    changed = page.stamp(notebook, project)
    pinned = project / "constraints.txt"
    pinned.write_text(pinned.read_text().replace("pypandoc_binary==", "pypandoc_binary==9."))
    assert len({before, changed, page.stamp(notebook, project)}) == 3
