"""The long checks: a submission's model is trained on real text, request by request, and its translations are scored.

Text and references stay in the trusted process. The worker sees numbered pieces, and gives back arrays: the state after
some steps, losses, the pieces of its translations.
"""

from .course import BLEU, RUN, Course, Trainee
from .lesson import Lesson
from .material import prepare
from .reference import measured

__all__ = ["BLEU", "RUN", "Course", "Lesson", "Trainee", "measured", "prepare"]
