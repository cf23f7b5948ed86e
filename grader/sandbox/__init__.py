"""The limits round a worker: which this machine can keep, and sessions in them.

`probe` finds a `Sandbox`, `Sandbox.open` gives a `Session` for one submission, `Session.exchange` takes a request's
frame and gives the reply's, unread, or a `Fault`.
"""

from .probe import CHOICES, keepable, probe
from .session import Sandbox, Session, Usage

__all__ = ["CHOICES", "Sandbox", "Session", "Usage", "keepable", "probe"]
