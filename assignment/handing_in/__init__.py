"""What `python -m assignment.submit` does: looks through your files without running them, and packs them."""

from assignment.handing_in.pack import archive
from assignment.handing_in.review import Review, review
from assignment.handing_in.sources import UnfitError, Work, find

__all__ = ["Review", "UnfitError", "Work", "archive", "find", "review"]
