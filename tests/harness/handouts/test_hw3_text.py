"""The homework's text, in both languages: the points, names, files, commands and numbers in it are the real ones."""

import inspect
import re
from importlib.util import find_spec

import pytest
import yaml

from assignment import framework
from grader import rubric, score
from grader.checks import registry
from grader.checks.learning import ALL_AT, NONE_AT
from grader.fingerprint import ROOT
from grader.leaks import leaks_of_text, telling_lines
from grader.messages.guide import guide
from grader.submission import CANONICAL
from grader.verdict import Visibility
from solution import modules_basic, nn, transformer, translation

LANGUAGES = ("en", "zh")
RUBRIC = rubric.load()
HIDDEN = Visibility.HIDDEN
TEXTS = {lang: (ROOT / "handouts" / f"hw3.{lang}.md").read_text("utf-8") for lang in LANGUAGES}
POINTS = re.compile(r"^\| (?P<title>[^|]+?)(?P<hidden> ◦)? \| (?P<points>\d+) \|$", re.MULTILINE)
PROBLEM = re.compile(r"^## Problem (?P<number>\d).*?(?P<points>\d\d) (?:points|分)", re.MULTILINE)
WRITTEN = (
    nn.logsumexp,
    nn.softmax_loss,
    modules_basic.Linear,
    modules_basic.Embedding,
    modules_basic.Dropout,
    modules_basic.LayerNorm1d,
    transformer.MultiHeadAttention,
    transformer.FeedForward,
    transformer.TransformerLayer,
    transformer.DecoderLM,
    translation.loss_fn,
    translation.generate,
)


def signature(written):
    """What stands in the text for it: its name and parameters, without annotations."""
    parameters = inspect.signature(written).parameters.values()
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return f"{written.__name__}{inspect.Signature(bare)}"


def spaced(text):
    """The text with one space where there is any white space, and without the marks of a quotation."""
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


def blocks(text, kind):
    """The fenced blocks of one kind."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [content for language, content in fenced if language == kind]


def commands(text):
    """The command lines, without what is said of them."""
    lines = "".join(blocks(text, "sh")).splitlines()
    return [line.partition("#")[0].strip() for line in lines] + re.findall(r"`(python -m [^`]+)`", text)


def formulas(text):
    """All formulas, without the words in them, which stand in the text's language."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\$\$.+?\$\$|\$[^$\n]+?\$", outside, re.DOTALL)
    return sorted(re.sub(r"\\qquad\\text\{.*", "", formula.strip("$. ")) for formula in found)


def title(line, lang):
    return guide().check_title(line.id, score.LONG_TITLES.get(line.id) or registry.title(line.id), lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_check_stands_in_it_with_its_points_and_whether_it_is_hidden(lang):
    found = [(row["title"], row["points"], bool(row["hidden"])) for row in POINTS.finditer(TEXTS[lang])]
    expected = [(title(line, lang), f"{line.points:g}", line.visibility is HIDDEN) for line in RUBRIC.checks]
    assert found == expected


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_problem_has_the_points_of_its_checks_in_its_heading_and_in_the_first_table(lang):
    sums = {p.id[1:]: f"{sum(line.points for line in p.checks):g}" for p in RUBRIC.problems}
    assert {head["number"]: head["points"] for head in PROBLEM.finditer(TEXTS[lang])} == sums
    table = re.findall(r"^\| (\d) \| `assignment/(\w+\.py)` \| .* \| (\d+) \|$", TEXTS[lang], re.MULTILINE)
    assert [(number, points) for number, _, points in table] == list(sums.items())
    assert tuple(file for _, file, _ in table) == CANONICAL


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("written", WRITTEN, ids=lambda written: written.__name__)
def test_what_is_to_be_written_is_named_with_all_its_arguments(written, lang):
    assert signature(written) in [spaced(part) for part in signatures(TEXTS[lang])]
    assert f"`{written.__name__}`" in TEXTS[lang]


def signatures(text):
    """Each signature in the blocks of code, which may go over two lines."""
    return [part for block in blocks(text, "python") for part in re.split(r"\n(?=\S)", block.strip())]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_part_of_the_language_model_is_named(lang):
    model = transformer.DecoderLM(n_vocab=3, n_embd=4, n_head=2, n_positions=2, n_layer=1)
    parts = {path.rpartition(".")[2] for path, _ in model.named_modules()} - {""}
    methods = {name for name in vars(transformer.MultiHeadAttention) if not name.startswith("_")}
    assert all(f"`{name}" in TEXTS[lang] for name in parts | methods)
    assert "t_layer_1.attention.q_projection.weights" in dict(model.named_parameters())
    assert "`t_layer_1.attention.q_projection.weights`" in TEXTS[lang]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_file_and_module_that_it_names_is_there(lang):
    text = TEXTS[lang]
    named = re.findall(r"\b((?:assignment|tests)/[\w./]*)", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
    modules = set(re.findall(r"python -m ([\w.]+)", text))
    assert {"assignment.reversal", "assignment.translation", "assignment.submit"} <= modules
    assert [module for module in modules if find_spec(module) is None] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_tests_that_a_command_selects_are_there(lang, request):
    options = request.config.rootpath.joinpath("tests", "conftest.py").read_text("utf-8")
    for option in set(re.findall(r"--\w+", " ".join(line for line in commands(TEXTS[lang]) if "pytest" in line))):
        assert f'"{option}"' in options
    public = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    for word in re.findall(r"-k (\w+)", TEXTS[lang]):
        assert re.search(rf"^def test_\w*{word}", public, re.MULTILINE)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_the_framework_is_said_to_have_it_has(lang):
    rows = re.findall(r"^\|.*\| `([a-z].*?)`.*\|$", TEXTS[lang].partition("## Problem 1")[0], re.MULTILINE)
    methods = set(re.findall(r"x\.(\w+)\(", " ".join(rows)))
    assert {"exp", "sum", "view", "detach"} <= methods
    assert [name for name in methods if not hasattr(framework.Tensor, name)] == []
    makers = next(row for row in rows if row.startswith("tensor ")).split()
    assert len(makers) == 6
    assert [name for name in makers if not hasattr(framework, name)] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_limits_tolerances_and_shares_are_those_of_the_grader(lang):
    text, limits = TEXTS[lang], RUBRIC.limits
    float64, relative = RUBRIC.tolerances["float64"], RUBRIC.translation.relative
    pending = sum(line.points for line in RUBRIC.checks if line.pending)
    expected = [
        f"{limits.memory_mib} MiB",
        f"{float(NONE_AT):.0%}".replace("%", " %"),
        f"{float(ALL_AT):.0%}".replace("%", " %"),
    ]
    if lang == "en":
        expected += [f"{limits.cpu_s} seconds of processor time", f"{limits.wall_s:g} seconds by the clock"]
        expected += [f"at {relative.zero:g} times", f"from {relative.full:g} times on"]
        expected += [f"{pending:g} points are *pending*", f"out of {float(RUBRIC.max_score) - pending:g}"]
    else:
        expected += [f"{limits.cpu_s} 秒处理器时间", f"{limits.wall_s:g} 秒实际时间"]
        expected += [f"{relative.zero:g} 倍开始得分", f"{relative.full:g} 倍就是满分"]
        expected += [f"{pending:g} 分*待定*", f"按 {float(RUBRIC.max_score) - pending:g} 分计"]
    assert [phrase for phrase in expected if phrase not in text] == []
    assert float64.outputs == float64.gradients == 1e-9
    assert float64.spread < 1e-14
    assert float64.mistake > 1e-3
    assert all(f"$10^{{{power}}}$" in text for power in (-9, -14, -3))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_excerpt_of_feedback_is_what_a_student_would_read(lang):
    golden = spaced((ROOT / "tests/harness/report/goldens" / f"no_scale.{lang}.md").read_text("utf-8"))
    quoted = [line for line in spaced_quotes(TEXTS[lang]) if not line.startswith("|:")]
    assert len(quoted) == 6
    assert [line for line in quoted if line not in golden] == []


def spaced_quotes(text):
    """The rows and paragraphs of the quotation."""
    lines = re.findall(r"^> ?(.*)$", text, re.MULTILINE)
    return [part for part in (spaced(part) for part in re.split(r"\n\n|\n(?=\|)", "\n".join(lines))) if part]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_words_of_feedback_are_those_of_the_reports(lang):
    texts = yaml.safe_load((ROOT / "grader/messages" / f"{lang}.yaml").read_text("utf-8"))
    words = ("passed", "failed", "error", "carried", "timeout", "memory", "skipped", "pending")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", TEXTS[lang], re.MULTILINE)
    told = {word for row in rows for word in re.split(r", |、", row)}
    assert [texts[f"verdict_{word}"] for word in words if texts[f"verdict_{word}"] not in told] == []


def test_both_languages_have_the_same_code_commands_formulas_and_tables():
    en, zh = TEXTS["en"], TEXTS["zh"]
    assert commands(en) == commands(zh)
    assert [re.sub(r"  #.*", "", block) for block in blocks(en, "python")] == [
        re.sub(r"  #.*", "", block) for block in blocks(zh, "python")
    ]
    assert blocks(en, "") == blocks(zh, "")
    assert formulas(en) == formulas(zh)
    assert [len(part.splitlines()) for part in tables(en)] == [len(part.splitlines()) for part in tables(zh)]
    assert en.count("\n## ") == zh.count("\n## ")
    assert sorted(re.findall(r"`[^`\n]+`", en)) == sorted(re.findall(r"`[^`\n]+`", zh))


def tables(text):
    """The tables, quoted or not."""
    return re.findall(r"(?:^(?:> )?\|.*\n)+", text, re.MULTILINE)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_gives_nothing_of_the_solution_away(lang):
    solution = {name: (ROOT / "solution" / name).read_text("utf-8") for name in CANONICAL}
    lines = telling_lines(solution, given="")
    hidden = frozenset(line.id for line in RUBRIC.checks if line.visibility is HIDDEN)
    assert list(leaks_of_text(f"hw3.{lang}.md", TEXTS[lang], lines, hidden)) == []
