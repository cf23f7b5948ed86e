"""The package `assignment`: the given framework and the student's files, loaded by path and never found by accident.

Its folder is on no search path. `import nn`, as many students write, gives the very module `assignment.nn`, and only
where neither the standard library nor NumPy has a module of that name.
"""

from __future__ import annotations

import importlib
import importlib.util
import os.path
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from .case import Framework
from .troubles import MissingError

PACKAGE = "assignment"


def load_framework(folder: str) -> Framework:
    """Imports `assignment.framework`, and nothing else of the package: its own `__init__.py` may be a student's."""
    package = ModuleType(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.framework")


def open_package(folder: str) -> None:
    """From here on student code may be loaded: call it only in a process that is locked down."""
    package = sys.modules[PACKAGE]
    package.__spec__ = importlib.util.spec_from_file_location(
        PACKAGE,
        os.path.join(folder, "__init__.py"),  # noqa: PTH118 - a plain string is what importlib wants
        submodule_search_locations=[folder],
    )
    sys.meta_path.append(_BareNames())


def find(target: str) -> object:
    """The thing that a case names, "transformer.MultiHeadAttention"; runs the student's files on the way.

    Raises:
        MissingError: there is no such file, or no such name in it.
        BaseException: whatever loading the file raised.
    """
    file, _, name = target.partition(".")
    _run_init()
    full = f"{PACKAGE}.{file}"
    if full not in sys.modules and importlib.util.find_spec(full) is None:
        raise MissingError(f"there is no file {file}.py")
    module = importlib.import_module(full)
    missing = object()
    found = getattr(module, name, missing)
    if found is missing:
        raise MissingError(f"{file}.py defines no {name}")
    return found


def _run_init() -> None:
    """The package's own `__init__.py`, once; one that raises raises again for every case."""
    package = sys.modules[PACKAGE]
    if getattr(package, "__file__", None) is None and package.__spec__ is not None and package.__spec__.loader:
        package.__spec__.loader.exec_module(package)
        package.__file__ = package.__spec__.origin


class _BareNames(MetaPathFinder, Loader):
    """Finds `nn` as `assignment.nn`. Last on `sys.meta_path`: only names that nobody else knows come here."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for a name without dots that is a module of the package."""
        del target
        if path is not None or "." in fullname or importlib.util.find_spec(f"{PACKAGE}.{fullname}") is None:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The package's module itself; its own spec is kept, for importlib is about to replace it."""
        module = importlib.import_module(f"{PACKAGE}.{spec.name}")
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Puts its own spec back: the module has run, or is running further out (a circular import)."""
        if module.__spec__ is not None:
            module.__spec__ = self._specs.pop(module.__spec__.name, module.__spec__)
