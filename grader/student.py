"""The submission as a thing to call: cases in, answers or a fault out."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

from .case import Answer, Budget, Case, Fault, FaultKind, Limits
from .errors import ProtocolError
from .protocol import decode_reply, encode_request
from .sandbox import Session


class Spending:
    """What has been taken of a submission's budget, in all of its sandboxes.

    Args:
        budget: what there is.
        clock: tells the seconds.
    """

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock = budget, clock
        self._requests, self._seconds = 0, 0.0

    @property
    def refusal(self) -> Fault | None:
        """Why no further request is made; None while there is something left."""
        if self._requests >= self._budget.requests:
            return Fault(FaultKind.TIMEOUT, self._budget.requests_text)
        if self._seconds >= self._budget.seconds:
            return Fault(FaultKind.TIMEOUT, self._budget.seconds_text)
        return None

    @contextlib.contextmanager
    def request(self) -> Iterator[None]:
        """Counts what happens within as one."""
        start = self._clock()
        yield
        self._requests += 1
        self._seconds += self._clock() - start


class Student:
    """One submission in an open session.

    Args:
        session: where it runs.
        spending: of what it may take; None: without a bound.
    """

    def __init__(self, session: Session, spending: Spending | None = None) -> None:
        self._session, self._spending = session, spending

    def run(self, cases: Sequence[Case], limits: Limits) -> tuple[Answer, ...] | Fault:
        """Every case's answer, all of them from one fresh process; or why there is none.

        Raises:
            InfrastructureError: the grader's or the machine's fault; another try may succeed.
        """
        if self._spending and (refusal := self._spending.refusal):
            return refusal
        nonce = secrets.token_hex(16)
        request = encode_request(cases, nonce)
        with self._spending.request() if self._spending else contextlib.nullcontext():
            frame = self._session.exchange(request, limits)
        if isinstance(frame, Fault):
            return frame
        try:
            return decode_reply(frame, nonce, cases, limits.reply_mib * 2**20)
        except ProtocolError as error:
            return Fault(FaultKind.PROTOCOL, f"what came back is no answer: {error}")
