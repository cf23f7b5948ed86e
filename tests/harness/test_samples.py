"""The sample class is what its generator makes, and each sample is the one thing that its name says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from grader.intake import collect
from grader.submission import CANONICAL

HERE = Path(__file__).resolve().parent
UNGRADABLE = {
    "s16_corrupt": "expected a whole .zip archive, found one that is damaged or incomplete",
    "s17_latin1": "expected nn.py in UTF-8, found the byte 0xf6 at offset 3 (line 1); "
    "save it as UTF-8, or name its encoding in line 1 (# coding: …)",
    "s18_nothing": "expected nn.py or modules_basic.py or transformer.py or translation.py, found README.txt",
}
CHANGED = {
    "s01_complete": [],
    "s02_blank": list(CANONICAL),
    "s03_problem1_only": list(CANONICAL[1:]),
    "s04_no_scale": ["transformer.py"],
    "s05_mask_transposed": ["transformer.py"],
    "s06_unbiased_layernorm": ["modules_basic.py"],
    "s07_loss_averaged": ["nn.py"],
    **{
        name: ["transformer.py"]
        for name in ("s08_syntax_error", "s09_import_loop", "s10_one_hang", "s11_ten_gigabytes")
    },
    "s12_notebook": [],
    "s13_wrapped": [],
    "s14_renamed": [],
    "s15_tarball": ["heads.py", "transformer.py"],
}


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("make_samples", HERE / "make_samples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def samples():
    return {submission.id: submission for submission in collect(HERE.parent / "samples")}


def test_what_is_committed_is_what_the_generator_makes(generator):
    assert generator.present(generator.SAMPLES) == generator.make()


def test_writing_twice_gives_the_same_bytes_and_leaves_expected_scores_alone(generator, tmp_path):
    (tmp_path / "expected.yaml").write_bytes(b"mine")
    (tmp_path / "s19_stale").mkdir()
    generator.write(tmp_path)
    generator.write(tmp_path)
    assert generator.present(tmp_path) == generator.make()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*generator.MAKERS, "expected.yaml"])


def test_a_replacement_that_no_longer_fits_the_solution_is_an_error(generator):
    for old in ("absent", "e"):
        with pytest.raises(ValueError, match="expected to find this once"):
            generator.replaced("here there", old, "new")


def test_intake_finds_every_sample_and_only_the_broken_ones_ungradable(samples):
    assert {name: sample.problem for name, sample in samples.items() if sample.problem} == UNGRADABLE
    assert samples.keys() == UNGRADABLE.keys() | CHANGED.keys()


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_a_sample_differs_from_the_complete_one_only_in_the_files_that_its_name_says(samples, name):
    # White space aside: the notebook's cells are joined with other blank lines.
    words = {path: content.split() for path, content in samples[name].files.items()}
    complete = {path: content.split() for path, content in samples["s01_complete"].files.items()}
    assert sorted(path for path in words if words[path] != complete.get(path)) == sorted(CHANGED[name])
    assert words.keys() >= complete.keys()


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_every_sample_is_valid_python_except_the_one_that_is_to_be_none(samples, name):
    broken = []
    for path, content in samples[name].files.items():
        try:
            compile(content, path, "exec")
        except SyntaxError as error:
            broken.append((path, error.msg))
    assert broken == ([("transformer.py", "expected ':'")] if name == "s08_syntax_error" else [])


def test_the_renamed_file_and_the_dropped_commands_are_remarked_on(samples):
    assert samples["s14_renamed"].remarks == ("transformer.py was taken from modules_transfomer.py",)
    assert samples["s12_notebook"].remarks == (
        "3 lines of s12_notebook.ipynb that are commands of Jupyter were left out",
    )
