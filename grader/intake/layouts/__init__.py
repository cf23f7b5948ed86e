"""How submissions come: one file for each way, listed here, the first that recognises what it sees wins.

A *class layout* says who delivered what in a folder that was downloaded from somewhere (Canvas, Moodle, …).
A *file layout* finds the files of the package in what one student delivered.
To add a layout: one module beside this one, and its function in one of the two tuples.
"""

from grader.intake.layouts import notebook, plain
from grader.intake.layouts.kinds import ClassLayout, Delivery, FileLayout, Found

CLASS_LAYOUTS: tuple[ClassLayout, ...] = (plain.deliveries,)
FILE_LAYOUTS: tuple[FileLayout, ...] = (notebook.find, plain.find)

__all__ = ["CLASS_LAYOUTS", "FILE_LAYOUTS", "ClassLayout", "Delivery", "FileLayout", "Found"]
