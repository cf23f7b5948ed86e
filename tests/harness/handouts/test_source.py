"""A lab's source and the rule of two languages."""

from pathlib import Path

import pytest

from handouts.build.errors import BuildError
from handouts.build.source import read_lab

EN = '# %% [markdown] lang="en"\n# # Title\n# $$a_1$$\n\n'
ZH = '# %% [markdown] lang="zh"\n# # 题目\n# $$a_1$$\n\n'
CODE = "# %%\nprint(1)\n\n"


@pytest.fixture
def read(tmp_path: Path):
    def read(text: str):
        path = tmp_path / "01_lab.py"
        path.write_text(text, encoding="utf-8")
        return read_lab(path)

    return read


def test_cells_come_with_their_language_tags_and_lines(read) -> None:
    lab = read(EN + ZH + '# %% tags=["volatile"]\nprint(1)\n')
    assert [(cell.line, cell.lang, cell.tags) for cell in lab.cells] == [
        (1, "en", ()),
        (5, "zh", ()),
        (9, "", ("volatile",)),
    ]
    assert [cell.first_line for cell in lab.cells] == ["# Title", "# 题目", "print(1)"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (EN + CODE + ZH, ":1: an English text without its Chinese one right after it"),
        (EN, ":1: an English text without its Chinese one right after it"),
        (CODE + ZH, ":4: a Chinese text without its English one right before it"),
        (EN + ZH + ZH, ":9: a Chinese text without its English one right before it"),
        (EN + EN + ZH, ":1: an English text without its Chinese one right after it"),
        ("# %% [markdown]\n# text\n", ":1: a text cell says its language"),
        ('# %% [markdown] lang="de"\n# text\n', ":1: a text cell says its language"),
        ('# %% lang="en"\nprint(1)\n', ":1: code stands in both languages, but this cell has lang='en'"),
        ('"""A docstring."""\n' + CODE, ":1: expected a cell's marker"),
        ("print(1)\n", ":1: expected a cell's marker"),
        ("# %% [raw]\n# text\n", ":1: expected a code or a [markdown] cell, found raw"),
        (EN + ZH.replace("a_1", "a_2"), ":5: its displayed formulas are ['a_2'], those of the English text ['a_1']"),
        (EN + ZH.replace("# # 题目", "# ## 题目"), ":5: its headings are ['##'], those of the English text ['#']"),
    ],
)
def test_what_breaks_the_rule_is_refused_with_its_line(read, text: str, refusal: str) -> None:
    with pytest.raises(BuildError) as refused:
        read(text)
    assert f"01_lab.py{refusal}" in str(refused.value)


def test_formulas_may_differ_in_blanks_words_and_the_punctuation_behind_them(read) -> None:
    english = EN.replace("a_1", r"a_1 = b \text{ if } c,")
    chinese = ZH.replace("a_1", r"a_1=b \text{若} c" "\N{FULLWIDTH COMMA}")
    assert len(read(english + chinese).cells) == 2


def test_a_comment_in_code_is_no_heading(read) -> None:
    fence = "# ```\n# # not a heading\n# ```\n"
    assert len(read(EN.rstrip() + "\n" + fence + "\n" + ZH).cells) == 2
