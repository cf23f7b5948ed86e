"""The reference where the training package looks for the student's modules; toy text; real text where there is some."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from assignment.training import grammar, loop, report, script, smoothing
from grader.fingerprint import ROOT
from solution import transformer, translation


@pytest.fixture
def reference(monkeypatch):
    """Puts the reference in the place of the stubs, in this process."""
    monkeypatch.setattr(loop, "loss_fn", translation.loss_fn)
    monkeypatch.setattr(smoothing, "loss_fn", translation.loss_fn)
    monkeypatch.setattr(report, "generate", translation.generate)
    monkeypatch.setattr(script, "DecoderLM", transformer.DecoderLM)


@pytest.fixture(scope="session")
def reference_folder(tmp_path_factory):
    """A folder like a student's, everything written: the package `assignment` with the reference's four files."""
    folder = tmp_path_factory.mktemp("reference")
    shutil.copytree(ROOT / "assignment", folder / "assignment", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (ROOT / "solution").glob("*.py"):
        shutil.copy(path, folder / "assignment")
    return folder


@pytest.fixture(scope="session")
def toy_text(tmp_path_factory):
    """A folder with 200 pairs of plain text to learn from, and 20 each to choose by and to score on."""
    folder = tmp_path_factory.mktemp("toy")
    pairs = grammar.pairs(np.random.default_rng(0), 240)
    for name, part in (("train", pairs[:200]), ("valid", pairs[200:220]), ("test", pairs[220:])):
        for language in ("de", "en"):
            (folder / f"{name}.{language}").write_text("".join(f"{pair[language]}\n" for pair in part), "utf-8")
    return folder


@pytest.fixture(scope="session")
def real_text():
    """The folder of real text; tests of it are skipped where there is none."""
    if not os.environ.get("HW3_DATA"):
        pytest.skip("no real text: name its folder in HW3_DATA")
    return Path(os.environ["HW3_DATA"])
