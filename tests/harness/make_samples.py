"""The sample class in `tests/samples/`: made from `solution/` by small replacements, the same to the byte each time.

`python tests/harness/make_samples.py` writes it; with `--check` it only says which files differ.
"""

from __future__ import annotations

import argparse
import gzip
import io
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat import v4, writes

from grader.stubs import stub_text
from grader.submission import CANONICAL

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples"
OURS = "s[0-9][0-9]_*"  # what else lies there (expected.yaml) is not made here

Files = dict[str, bytes]
"""Path -> content."""


def replaced(source: str, old: str, new: str) -> str:
    """Replace what stands in a source exactly once.

    Raises:
        ValueError: it stands there never or more than once, as the solution has changed: adapt the replacement.
    """
    if source.count(old) != 1:
        raise ValueError(f"expected to find this once in the solution, found it {source.count(old)} times: {old!r}")
    return source.replace(old, new)


def solution() -> dict[str, str]:
    """Give the four files as a student would hand them in: without the markers."""
    texts = {name: (ROOT / "solution" / name).read_text(encoding="utf-8") for name in CANONICAL}
    return {
        name: "".join(line for line in text.splitlines(keepends=True) if " SOLUTION" not in line)
        for name, text in texts.items()
    }


def stubs() -> dict[str, str]:
    """Give the four files as a student gets them."""
    return {name: stub_text((ROOT / "solution" / name).read_text(encoding="utf-8"), name) for name in CANONICAL}


def changed(name: str, *replacements: tuple[str, str]) -> Callable[[], Files]:
    """Give the complete solution with replacements in one file."""

    def make() -> Files:
        texts = solution()
        for old, new in replacements:
            texts[name] = replaced(texts[name], old, new)
        return encoded(texts)

    return make


def encoded(texts: Mapping[str, str]) -> Files:
    return {name: text.encode() for name, text in texts.items()}


def problem1_only() -> Files:
    return encoded({**stubs(), "nn.py": solution()["nn.py"]})


def notebook() -> bytes:
    """Each way in which a cell can name its file, commands of Jupyter among the code, and a cell that is only a try."""
    texts = solution()
    attention, rest = texts["transformer.py"].split("class FeedForward(", 1)
    commands = "%load_ext autoreload\n%autoreload 2\n!pip install --quiet numpy\n"
    cells = [
        v4.new_markdown_cell("# Homework 3", id="title"),
        v4.new_code_cell(commands + texts["nn.py"], id="nn", metadata={"tags": ["file:nn.py"]}),
        v4.new_code_cell("# file: modules_basic.py\n" + texts["modules_basic.py"], id="modules"),
        v4.new_code_cell(attention.rstrip(), id="attention", metadata={"tags": ["file:transformer.py"]}),
        v4.new_code_cell("!nvidia-smi\nmodel = DecoderLM(10, 8, 2, 16)\nmodel", id="try"),
        v4.new_code_cell("class FeedForward(" + rest, id="layers", metadata={"file": "transformer.py"}),
        v4.new_code_cell("%%writefile translation.py\n" + texts["translation.py"], id="translation"),
    ]
    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return (writes(v4.new_notebook(cells=cells, metadata={"kernelspec": python})) + "\n").encode()


def wrapped_zip() -> bytes:
    """Make what macOS makes of a folder: a wrapper, and its own by-products."""
    rubbish = {"hw3 final/.DS_Store": b"\0\0\0\1Bud1", "__MACOSX/hw3 final/._nn.py": b"\0\5\x16\7"}
    files = {f"hw3 final/{name}": content for name, content in encoded(solution()).items()} | rubbish
    buffer = io.BytesIO()
    # Stored, not deflated: another build of zlib would pack to other bytes.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, date_time=(2025, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o100644 << 16
            archive.writestr(member, content)
    return buffer.getvalue()


def tarball() -> bytes:
    """Make a tarball in which the heads are split by a helper file of the student's own."""
    texts = solution()
    name = "transformer.py"
    imports = "from .modules_basic import Dropout"
    texts[name] = replaced(texts[name], imports, f"from .heads import split_heads\n{imports}")
    for part in "qv":
        call = f"self.{part}_projection(x)"
        texts[name] = replaced(texts[name], f"{call}.view(*split).permute(0, 2, 1, 3)", f"split_heads({call}, split)")
    texts["heads.py"] = (
        "def split_heads(x, split):\n"
        '    """(B, S, D) -> (B, h, S, Dh)"""\n'
        "    return x.view(*split).permute(0, 2, 1, 3)\n"
    )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in encoded(texts).items():
            member = tarfile.TarInfo(f"assignment/{path}")
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), compresslevel=0, mtime=0)


def renamed() -> Files:
    files = encoded(solution())
    files["modules_transfomer.py"] = files.pop("transformer.py")
    return files


def latin1() -> Files:
    files = encoded(solution())
    return {**files, "nn.py": "# Lösung von Zoë\n".encode("latin-1") + files["nn.py"]}


FEED_FORWARD = "        y: Tensor = self.dropout(self.linear_out("

MAKERS: dict[str, Callable[[], Files | bytes]] = {
    "s01_complete": lambda: encoded(solution()),
    "s02_blank": lambda: encoded(stubs()),
    "s03_problem1_only": problem1_only,
    "s04_no_scale": changed("transformer.py", ("q @ kT * head_size**-0.5", "q @ kT")),
    "s05_mask_transposed": changed("transformer.py", ("(keys > queries) * HIDDEN", "(queries > keys) * HIDDEN")),
    "s06_unbiased_layernorm": changed(
        "modules_basic.py",
        (
            "centred * (x.var(dim=last) + self.eps) ** -0.5",
            "centred * ((centred * centred).sum(dim=last) * (1 / (x.shape[last] - 1)) + self.eps) ** -0.5",
        ),
    ),
    "s07_loss_averaged": changed(
        "nn.py",
        (
            "return (logsumexp(logits, dim=1) - chosen).view(examples)  # (N, 1) -> (N,)",
            "return (logsumexp(logits, dim=1) - chosen).sum() / examples",
        ),
    ),
    "s08_syntax_error": changed(
        "transformer.py",
        (
            "def create_causal_mask(self, seq_len: int) -> Tensor:",
            "def create_causal_mask(self, seq_len: int) -> Tensor",
        ),
    ),
    "s09_import_loop": changed(
        "transformer.py", ("\nHIDDEN = -1e9\n", "\nHIDDEN = -1e9\nwhile HIDDEN < 0:\n    pass\n")
    ),
    "s10_one_hang": changed("transformer.py", (FEED_FORWARD, f"        while True:\n            pass\n{FEED_FORWARD}")),
    "s11_ten_gigabytes": changed(
        "transformer.py", (FEED_FORWARD, f"        cache = [0.0] * (10 * 2**30 // 8)\n{FEED_FORWARD}")
    ),
    "s12_notebook.ipynb": notebook,
    "s13_wrapped.zip": wrapped_zip,
    "s14_renamed": renamed,
    "s15_tarball.tar.gz": tarball,
    "s16_corrupt.zip": lambda: b"PK\3\4 this was an archive once\n",
    "s17_latin1": latin1,
    "s18_nothing": lambda: {"README.txt": b"I will hand in later.\n"},
}


def make() -> Files:
    """Give every file of the sample class, by its path under `tests/samples/`."""
    made: Files = {}
    for name, maker in MAKERS.items():
        content = maker()
        if isinstance(content, bytes):
            made[name] = content
        else:
            made |= {f"{name}/{path}": data for path, data in content.items()}
    return made


def present(folder: Path) -> Files:
    """Give what lies there of a sample class."""
    paths = [path for entry in folder.glob(OURS) for path in (entry, *entry.rglob("*"))]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def write(folder: Path) -> None:
    """Write the sample class, in place of what lies there of one."""
    for entry in folder.glob(OURS):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for name, content in make().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def main(arguments: list[str] | None = None) -> int:
    """Write the samples, or say which differ from what would be written; 1 if any does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if anything differs")
    if not parser.parse_args(arguments).check:
        write(SAMPLES)
        return 0
    made, there = make(), present(SAMPLES)
    differing = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
    for name in differing:
        sys.stderr.write(f"tests/samples/{name} differs: run python tests/harness/make_samples.py\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
