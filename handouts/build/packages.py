"""The packages of the extra `handouts`: where they are, and what to do where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .errors import BuildError, UsageError


def require(*modules: str) -> None:
    """See that packages can be imported.

    Raises:
        UsageError: some cannot; it says how to install them.
    """
    if missing := [module for module in modules if find_spec(module) is None]:
        raise UsageError(f"{', '.join(missing)} not installed; run: pip install -c constraints.txt -e '.[handouts]'")


def pandoc(text: str, source: str, target: str, options: Sequence[str]) -> str:
    """Convert a text from one of Pandoc's formats to another.

    Raises:
        UsageError: Pandoc is not there.
    """
    require("pypandoc")
    return str(_module("pypandoc").convert_text(text, target, format=source, extra_args=list(options)))


def typst(source: str, **options: Any) -> bytes:
    """Set a text in Typst's language, with no other fonts than those that come with the packages.

    Args:
        source: the text.
        options: more arguments of `typst.compile`, such as the format.

    Raises:
        BuildError: it cannot be set, or not with these fonts.
        UsageError: Typst or the fonts are not there.
    """
    require("typst", "mplfonts")
    spec = find_spec("mplfonts")
    assert spec is not None
    fonts = [str(Path(folder) / "fonts") for folder in spec.submodule_search_locations or ()]
    compiler = _module("typst")
    try:
        made, warnings = compiler.compile_with_warnings(
            source.encode(), font_paths=fonts, ignore_system_fonts=True, **options
        )
    except compiler.TypstError as error:
        raise BuildError(f"Typst: {error}; look at what Pandoc made of the text") from error
    if warnings:
        raise BuildError(f"Typst: {warnings[0].message}; mend the text or handouts/build/document.typ")
    return bytes(made) if isinstance(made, bytes) else b"".join(made)


def _module(name: str) -> Any:
    """Import a package that need not be there; it has no types that would be missed."""
    return import_module(name)
