"""Builders of small deliveries."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from grader.intake import collect
from grader.submission import Submission

FOUR = {
    "nn.py": b"def logsumexp(input, dim): ...\n",
    "modules_basic.py": b"class Linear: ...\n",
    "transformer.py": b"class MultiHeadAttention: ...\n",
    "translation.py": b"def loss_fn(batch, model): ...\n",
}


@pytest.fixture
def four() -> dict[str, bytes]:
    return dict(FOUR)


@pytest.fixture
def one() -> Callable[[Path], Submission]:
    def collect_one(path: Path) -> Submission:
        (submission,) = collect(path)
        return submission

    return collect_one


@pytest.fixture
def write() -> Callable[[Path, Mapping[str, bytes]], Path]:
    def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder

    return write_files


@pytest.fixture
def zipped() -> Callable[[Path, Mapping[str, bytes]], Path]:
    def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path

    return write_zip


@pytest.fixture
def tarred() -> Callable[..., Path]:
    def write_tar(path: Path, files: Mapping[str, bytes], *extra: tarfile.TarInfo, mode: str = "w:gz") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, mode) as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            for member in extra:
                archive.addfile(member)
        return path

    return write_tar
