"""What students are given is loaded by its path: no `assignment` is imported, whosever it is."""

import subprocess
import sys

import pytest

from grader import given
from grader.errors import RefusedToStartError
from grader.fingerprint import ROOT

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from grader import given
names = [name for name in sys.modules if name.split(".")[0] in {{"assignment", "solution", "tokenizers", "sacrebleu"}}]
assert names == [], names
assert given.pairs.Corpus is given.text.Corpus
print(given.text.__file__)
"""


def test_no_assignment_is_imported_and_no_extra_before_it_is_used(tmp_path):
    (tmp_path / "assignment").mkdir()
    (tmp_path / "assignment" / "__init__.py").write_text("raise SystemExit('an assignment of someone else')")
    command = [sys.executable, "-c", PROGRAM.format(root=str(ROOT))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(ROOT / "assignment" / "training" / "text.py")


def test_a_module_that_is_not_there_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(given, "FOLDER", tmp_path)
    with pytest.raises(RefusedToStartError, match=r"text\.py is missing"):
        given._load("text")
