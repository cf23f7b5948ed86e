"""Where the labs take the course's modules from: the reference where it is there, else the student's own files.

In this repository a lab runs on `solution`; in a student's release there is none, and the same lab runs on what the
student wrote in `assignment`. The framework is the same in both: import it from `assignment.framework`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

HAS_REFERENCE = find_spec("solution") is not None
"""Whether the modules below are the reference's."""

if TYPE_CHECKING or HAS_REFERENCE:
    from solution import modules_basic, nn, transformer, translation
else:
    from assignment import modules_basic, nn, transformer, translation

__all__ = ["HAS_REFERENCE", "modules_basic", "nn", "transformer", "translation"]
