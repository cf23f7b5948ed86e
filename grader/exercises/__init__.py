"""The lecture's exercises and its quiz: what a student wrote into `exercises.yaml`, as data, against the answers."""

from grader.exercises.judging import Assessed, assess
from grader.exercises.source import Exercise, Statement, Words, exercises, quiz

__all__ = ["Assessed", "Exercise", "Statement", "Words", "assess", "exercises", "quiz"]
