"""The command: what it makes of a small project, and what it says is stale."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from handouts.build import __main__ as program
from handouts.build import command
from handouts.build.errors import BuildError, UsageError
from handouts.build.execution import run_labs, tidy
from handouts.build.notebook import flowing
from handouts.build.source import read_lab

PNG = "iVBORw0KGgo="
RUN = "run: python -m handouts.build --only 01_squares"


def outputs(printed: str = "256\n", png: str = PNG, clock: str = "1\n"):
    """What the four cells of the small lab show."""
    return (
        (new_output("stream", name="stdout", text=printed),),
        (new_output("stream", name="stdout", text=clock),),
        (new_output("display_data", {"image/png": png}),),
        (),
    )


@pytest.fixture
def shows(monkeypatch: pytest.MonkeyPatch):
    """Says what the labs show, instead of running them, and makes pages, of the small lab too, without Pandoc."""

    def says(*cells) -> None:
        monkeypatch.setattr(command, "run_labs", lambda labs, *_, **__: [cells or outputs()] * len(labs))

    says()
    monkeypatch.setattr(command, "CLOSED_LABS", ("01_squares",))
    monkeypatch.setattr(
        command.page, "page", lambda notebook, lang, root: f"{lang} {command.page.stamp(notebook, root)}".encode()
    )
    return says


@pytest.fixture
def built(project: Path, shows) -> Path:  # noqa: ARG001  # it stands in for running
    assert program.main([], project) == 0
    return project


def test_a_lab_is_run_once_and_what_changes_from_run_to_run_is_left_out(project: Path, capsys) -> None:
    lab = read_lab(project / "handouts" / "labs" / "01_squares.py")
    ((first, clock, figure, last),) = run_labs([lab], project, jobs=1)
    assert [output.text for output in first] == ["256 1 0\ndata.txt\n"]
    assert clock[0].text.strip().isdigit()
    assert [list(output.data) for output in figure] == [["image/png"]]
    assert [(output.data["text/plain"], output.execution_count) for output in last] == [("4", 4)]
    assert "01_squares.py:9: left out what it wrote to standard error: a warning" in capsys.readouterr().err


def test_a_cell_that_raises_is_named_with_its_line_and_nothing_is_written(project: Path, capsys) -> None:
    source = project / "handouts" / "labs" / "02_wrong.py"
    source.write_text("# %%\nx = 1\nassert x == 2, 'x is not 2'\n", encoding="utf-8")
    assert program.main(["--only", "02_wrong"], project) == 1
    assert (
        "handouts/labs/02_wrong.py:3: the cell that begins with `x = 1` raised AssertionError: x is not 2"
        in capsys.readouterr().err
    )
    assert not (project / "handouts" / "labs" / "built").exists()


def test_an_address_in_an_output_is_refused(project: Path) -> None:
    lab = read_lab(project / "handouts" / "labs" / "01_squares.py")
    with pytest.raises(BuildError, match=r"01_squares.py:9: shows <Tensor object at 0x7f00>, which is another one"):
        tidy(lab, lab.code[0], [new_output("stream", name="stdout", text="<Tensor object at 0x7f00>")], 1, project)


def test_a_table_too_wide_for_a_page_is_told_of_and_a_long_sentence_is_not(project: Path, capsys) -> None:
    lab = read_lab(project / "handouts" / "labs" / "01_squares.py")
    for text in (f"a\n{84 * '-'}\n1\n", f"{85 * 'x'}\n"):
        tidy(lab, lab.code[0], [new_output("stream", name="stdout", text=text)], 1, project)
    assert capsys.readouterr().err == ""
    tidy(lab, lab.code[0], [new_output("stream", name="stdout", text=f"a\n{40 * '-'}  {43 * '-'}\n1\n")], 1, project)
    assert "01_squares.py:9: prints a table of 85 characters a line; 84 fit on a page" in capsys.readouterr().err


def test_each_language_gets_its_text_and_the_same_code_and_outputs(built: Path) -> None:
    folder = built / "handouts" / "labs" / "built"
    english, chinese = (nbformat.read(folder / f"01_squares.{lang}.ipynb", as_version=4) for lang in ("en", "zh"))
    assert english.cells[0].source == "# Squares\n$$y = x^2$$"
    assert chinese.cells[0].source == "# 平方\n$$y = x^2$$"
    assert english.cells[1:] == chinese.cells[1:]
    assert [cell.execution_count for cell in english.cells[1:]] == [1, 2, 3, 4]
    nbformat.validate(english)
    assert english.nbformat_minor == 5


def test_a_chinese_paragraph_is_one_line_and_nothing_else_changes() -> None:
    assert flowing("第一行\n第二行\nand English\n第三行") == "第一行第二行\nand English\n第三行"
    kept = "# 题目\n正文\n\n- 一\n- 二\n\n| 甲 |\n|---|\n| 乙 |\n\n```\n一\n二\n```\nWrapped\nEnglish"
    assert flowing(kept) == kept
    assert flowing("- 列表项\n  “续行”\n- 又一项") == "- 列表项“续行”\n- 又一项"


def test_equal_cells_have_ids_of_their_own(project: Path, shows) -> None:
    source = project / "handouts" / "labs" / "01_squares.py"
    source.write_text("# %%\nx = 1\n\n# %%\nx = 1\n", encoding="utf-8")
    shows((), ())
    assert program.main([], project) == 0
    (notebook, _) = sorted((project / "handouts" / "labs" / "built").glob("*.ipynb"))
    ids = [cell["id"] for cell in json.loads(notebook.read_text())["cells"]]
    assert ids[1] == f"{ids[0]}-2"


def test_what_was_built_is_up_to_date_and_is_not_written_again(built: Path, capsys) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*")}
    assert program.main(["--check"], built) == 0
    assert program.main([], built) == 0
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*")} == before
    assert capsys.readouterr().out.splitlines()[-1] == "5 of 5 files were up to date"


def stale(project: Path, capsys) -> list[str]:
    """The lines of --check about what is stale, which must be there exactly if its status is 1."""
    capsys.readouterr()
    status = program.main(["--check"], project)
    lines = [line for line in capsys.readouterr().err.splitlines() if "python -m handouts.build" in line]
    assert status == (1 if lines else 0)
    return lines


def test_another_output_is_stale_and_building_again_mends_it(built: Path, shows, capsys) -> None:
    shows(*outputs(printed="257\n"))
    lines = stale(built, capsys)
    assert len(lines) == 4
    name = "handouts/labs/built/01_squares.en.ipynb"
    assert lines[0] == f"{name} is stale (the output of cell 2, which begins with `import os`); {RUN}"
    assert program.main([], built) == 0
    assert stale(built, capsys) == []


def test_another_text_is_stale_in_its_language_only(built: Path, capsys) -> None:
    source = built / "handouts" / "labs" / "01_squares.py"
    source.write_text(source.read_text().replace("# # Squares", "# # Cubes"), encoding="utf-8")
    assert [line.partition(" ")[0].rpartition("/")[2] for line in stale(built, capsys)] == [
        "01_squares.en.ipynb",
        "01_squares.en.html",
    ]


def test_what_a_volatile_cell_shows_does_not_count(built: Path, shows, capsys) -> None:
    shows(*outputs(clock="2\n"))
    assert stale(built, capsys) == []


def test_other_pixels_are_not_stale_but_are_kept_when_one_builds(built: Path, shows, capsys) -> None:
    other = "iVBORw0KGg8="
    shows(*outputs(png=other))
    assert stale(built, capsys) == []
    assert program.main([], built) == 0
    assert other in (built / "handouts" / "labs" / "built" / "01_squares.zh.ipynb").read_text()


def test_a_figure_less_is_stale(built: Path, shows, capsys) -> None:
    shows(*outputs()[:2], (), ())
    assert "the output of cell 4, which begins with `import base64`" in stale(built, capsys)[0]


@pytest.mark.parametrize("content", [None, b"", b"<<<<<<< HEAD\n{}", b'{"nbformat": 4}'])
def test_a_notebook_that_is_missing_or_damaged_is_stale(built: Path, capsys, content: bytes | None) -> None:
    path = built / "handouts" / "labs" / "built" / "01_squares.en.ipynb"
    path.unlink() if content is None else path.write_bytes(content)
    assert stale(built, capsys)[0].startswith("handouts/labs/built/01_squares.en.ipynb is stale (all of it)")


def test_what_has_no_source_any_more_is_stale_and_removed(built: Path, capsys) -> None:
    old = built / "handouts" / "labs" / "built" / "09_gone.en.ipynb"
    old.write_text("{}")
    assert stale(built, capsys) == [
        "handouts/labs/built/09_gone.en.ipynb has no source any more; run: python -m handouts.build"
    ]
    assert program.main([], built) == 0
    assert not old.exists()


def test_only_what_was_asked_for_is_looked_at(built: Path, shows) -> None:
    shows(*outputs(printed="257\n"))
    assert program.main(["--check", "--only", "hw3*"], built) == 0
    assert program.main(["--check", "--only", "01*"], built) == 1
    assert program.main(["--check", "--only", "01*", "--only", "hw3*"], built) == 1


def test_an_unknown_name_is_wrong_usage(project: Path, capsys) -> None:
    assert program.main(["--only", "08_none"], project) == 2
    assert capsys.readouterr().err == (
        "--only 08_none: there is no such handout; there are 01_squares, hw3.ipynb, hw3.en.pdf, hw3.zh.pdf\n"
    )


def test_a_missing_package_is_wrong_usage_and_says_what_to_install(project: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(program, "NEEDED", ("no_such_package",))
    assert program.main([], project) == 2
    assert capsys.readouterr().err == (
        "no_such_package not installed; run: pip install -c constraints.txt -e '.[handouts]'\n"
    )


def test_the_text_that_is_not_there_has_no_pdf(project: Path, capsys) -> None:
    assert program.main(["--only", "hw3.*"], project) == 0
    assert "handouts/hw3.en.md is not there, so there is no hw3.en.pdf" in capsys.readouterr().err.splitlines()


def test_a_checked_project_needs_neither_pandoc_nor_typst(built: Path, monkeypatch, capsys) -> None:
    def missing(*_: object) -> None:
        raise UsageError

    monkeypatch.setattr(command.page, "page", missing)
    assert stale(built, capsys) == []
