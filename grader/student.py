"""The submission as a thing to call: cases in, answers or a fault out."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from .case import Answer, Case, Fault, FaultKind, Limits
from .errors import ProtocolError
from .protocol import decode_reply, encode_request
from .sandbox import Session


class Student:
    """One submission in an open session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, cases: Sequence[Case], limits: Limits) -> tuple[Answer, ...] | Fault:
        """Every case's answer, all of them from one fresh process; or why there is none.

        Raises:
            InfrastructureError: the grader's or the machine's fault; another try may succeed.
        """
        nonce = secrets.token_hex(16)
        frame = self._session.exchange(encode_request(cases, nonce), limits)
        if isinstance(frame, Fault):
            return frame
        try:
            return decode_reply(frame, nonce, cases, limits.reply_mib * 2**20)
        except ProtocolError as error:
            return Fault(FaultKind.PROTOCOL, f"what came back is no answer: {error}")
