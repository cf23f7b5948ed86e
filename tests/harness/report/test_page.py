"""Pages: markup comes from our own messages only, and both renderers show all other text as it is."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.report import page_html
from grader.report.page import (
    Code,
    Finding,
    Heading,
    Hint,
    Ink,
    Items,
    Page,
    Results,
    Row,
    Rung,
    Span,
    Text,
    Tone,
    line,
    plain,
    sentence,
)
from grader.report.page_html import as_html
from grader.report.page_markdown import as_markdown

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Notes what a browser would see: open tags, attributes, text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.attributes, self.tags, self.text = [], [], [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def everything(text: str) -> Page:
    """Every kind of block, with this text wherever text may stand."""
    words = (Span(text), Span(text, Ink.STRONG), Span(text, Ink.CODE))
    rungs = (Rung(words, words), Rung(words, words, text))
    row = Row(text, hidden=True, tone=Tone.BAD, result=text, points=text, anchor=text)
    inner = (Text(words, lead=True), Items((words,)), Code(text), Hint(rungs))
    blocks = (
        Heading(1, words, (1, 2, 3)),
        Results((text, text, text), (row,)),
        Finding(text, hidden=True, lost=text, blocks=inner, anchor=text),
    )
    return Page("en", text, blocks)


def test_markup_is_read_in_the_message_and_not_in_what_is_filled_in():
    assert line("a **b {x}** `{y}` c", x="**k**", y="`q`") == (
        Span("a "), Span("b **k**", Ink.STRONG), Span(" "), Span("`q`", Ink.CODE), Span(" c")
    )  # fmt: skip


def test_a_line_can_be_filled_into_a_line():
    assert line("see {x}.", x=(Span("f", Ink.CODE),)) == (Span("see "), Span("f", Ink.CODE), Span("."))


def test_a_missing_value_is_an_error():
    with pytest.raises(KeyError):
        line("a {x}")


def test_a_sentence_has_a_capital_unless_it_begins_with_code():
    assert sentence(plain("the output")) == plain("The output")
    assert sentence((Span("x", Ink.CODE),)) == (Span("x", Ink.CODE),)


@given(st.text(st.characters(), min_size=1, max_size=60))
def test_no_text_becomes_markup_in_html(text):
    bare, filled = Reader(as_html(everything("x"))), Reader(as_html(everything(text)))
    assert filled.open == []
    assert filled.tags == bare.tags
    assert [name for name, _ in filled.attributes] == [name for name, _ in bare.attributes]


def test_html_shows_text_as_it_is():
    assert "<b>&amp; \"quoted\" 'too'" in Reader(as_html(everything("<b>&amp; \"quoted\" 'too'"))).text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_html_loads_nothing(language):
    html = as_html(Page(language, "t", everything("http://example.org/x.png").blocks))
    attributes = Reader(html).attributes
    assert all(value.startswith("#") for name, value in attributes if name == "href")
    assert not {name for name, _ in attributes} & {"src", "srcset", "data", "action", "onload", "onclick", "poster"}
    style = html.split("<style>")[1].split("</style>")[0]
    assert not any(word in style for word in ("url(", "@import", "http", "expression(", "</"))
    assert ("http-equiv", "Content-Security-Policy") in attributes
    assert ("content", page_html.POLICY) in attributes
    assert "default-src 'none'" in page_html.POLICY


def test_later_rungs_are_folded_in_html_and_open_in_print():
    html = as_html(everything("x"))
    assert html.count("<details>") == 1
    assert "details::details-content { content-visibility: visible" in html.split("@media print")[1]


def test_a_bar_shows_what_is_earned_and_what_is_pending():
    bar = 'class="earned" style="width:33.3%"></div><div class="pending" style="width:66.7%"'
    assert bar in as_html(everything("x"))
    empty = Page("en", "t", (Heading(1, plain("h"), (0, 0, 0)),))
    assert 'class="earned" style="width:0.0%"' in as_html(empty)


def test_blanks_between_spans_stay_in_markdown():
    words = (Span("a "), Span("b", Ink.STRONG), Span(" "), Span("c d", Ink.CODE), Span(", e"))
    assert as_markdown(Page("en", "", (Text(words),))) == "a **b** `c d`, e\n"


def test_bold_ends_before_chinese_punctuation_where_commonmark_would_miss_the_end():
    words = line("**从这里开始\uff1a**{x}", x="标题")
    assert as_markdown(Page("zh", "", (Text(words),))) == "**从这里开始**\uff1a标题\n"


def test_a_backtick_cannot_end_a_code_span_in_markdown():
    assert as_markdown(Page("en", "", (Text((Span("a`b", Ink.CODE),)),))) == "`a'b`\n"


def test_markdown_headings_and_tables_hold_on_one_line():
    text = as_markdown(everything("a\n| b |\n# c"))
    assert not [row for row in text.splitlines() if row.startswith("# c")]
    assert all(row.count(" | ") == 2 for row in text.splitlines() if row.startswith("| a"))
