"""The handout's text as a PDF."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from handouts.build import __main__ as program
from handouts.build import document
from handouts.build.errors import BuildError
from handouts.build.packages import typst
from handouts.build.stamp import stamp_in

NEEDED = ("pypandoc", "typst", "mplfonts")
converts = pytest.mark.skipif(
    any(find_spec(module) is None for module in NEEDED), reason="needs Pandoc, Typst and fonts of the extra handouts"
)
TEXT = """\
# 作业三 "Transformer"

对 $z$ 令 $$\\operatorname{logsumexp}(z) = \\log \\sum_c \\exp z_c$$

| 检查 | 分数 |
|---|--:|
| `p1.logsumexp.values` | 3 |

**要点** *注意* [实验](labs/01.html)。

```python
loss = 1  # 中文注释
```
"""


@pytest.fixture
def text(project: Path) -> Path:
    path = project / "handouts" / "hw3.zh.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


@converts
def test_a_text_becomes_a_pdf_with_the_same_bytes_each_time(text: Path, project: Path, capsys) -> None:
    assert program.main(["--only", "hw3.zh.pdf"], project) == 0
    pdf = text.with_suffix(".pdf").read_bytes()
    assert pdf.startswith(b"%PDF-1.")
    assert document.pdf(text.read_bytes(), "zh", project) == pdf
    assert "wrote handouts/hw3.zh.pdf" in capsys.readouterr().out
    assert program.main(["--check", "--only", "hw3.zh.pdf"], project) == 0
    text.write_text(f"{TEXT}\nMore.\n", encoding="utf-8")
    assert program.main(["--check", "--only", "hw3.zh.pdf"], project) == 1
    assert "hw3.zh.pdf is stale (its text or layout)" in capsys.readouterr().err


@converts
def test_what_typst_only_warns_of_is_refused() -> None:
    with pytest.raises(BuildError, match="unknown font family: no such font"):
        typst('#set text(font: "No Such Font")\nText', format="pdf")
    with pytest.raises(BuildError, match="unknown variable: missing"):
        typst("#missing", format="pdf")


@converts
def test_tables_are_as_wide_as_their_text_and_links_to_files_and_operators_are_set_well(text: Path) -> None:
    source = document.to_typst(text.read_bytes(), "zh", "made-of")
    assert "columns: 2" in source
    assert 'op("logsumexp")\\( z \\)' in source
    assert 'title: "作业三 Transformer"' in source


def test_the_stamp_changes_with_the_text_and_the_converters(text: Path, project: Path) -> None:
    before = document.stamp(text.read_bytes(), project)
    assert document.stamp(b"# Other", project) != before
    pinned = project / "constraints.txt"
    pinned.write_text(pinned.read_text().replace("typst==", "typst==9."))
    assert document.stamp(text.read_bytes(), project) != before
    assert stamp_in(f"<meta {before}>".encode()) == before
    assert stamp_in(b"%PDF") == ""
