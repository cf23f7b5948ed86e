"""A small project whose handouts are built."""

from pathlib import Path

import pytest

from grader.fingerprint import ROOT
from grader.stubs import release_stubs

TINY = """\
# %% [markdown] lang="en"
# # Squares
# $$y = x^2$$

# %% [markdown] lang="zh"
# # 平方
# $$y = x^2$$

# %%
import os
import sys

print(16**2, os.environ["OPENBLAS_NUM_THREADS"], os.environ["PYTHONHASHSEED"])
print(os.path.join(os.getcwd(), "data.txt"))
print("a warning", file=sys.stderr)

# %% tags=["volatile"]
import time

print(time.time_ns())

# %%
import base64
from IPython.display import Image

Image(data=base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg=="))

# %%
2 + 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "handouts" / "labs").mkdir(parents=True)
    (tmp_path / "handouts" / "labs" / "01_squares.py").write_text(TINY, encoding="utf-8")
    (tmp_path / "assignment").mkdir()
    for name, stub in release_stubs().items():
        (tmp_path / "assignment" / name).write_bytes(stub)
    (tmp_path / "constraints.txt").write_bytes((ROOT / "constraints.txt").read_bytes())
    return tmp_path
