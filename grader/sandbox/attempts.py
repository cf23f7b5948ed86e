"""Tries a sandbox with a submission of our own that does what no submission may."""

from __future__ import annotations

from collections.abc import Mapping

from grader.case import Call, Case, Fault, Input, Limits, Role, Status
from grader.errors import InfrastructureError, ProtocolError
from grader.protocol import decode_reply, encode_request

from .session import Sandbox
from .stage import GRADER

LIMITS = Limits(wall_s=30.0, cpu_s=20)
NONCE = "attempt"

ATTEMPTS = {
    "importing torch": "__import__('torch')",
    "opening a socket": "__import__('socket').socket()",
    "starting a process": "os._exit(0) if os.fork() == 0 else None",
    "reading /etc/shadow": "open('/etc/shadow').read()",
    "reading /etc/passwd": "open('/etc/passwd').read()",
    "reading the grader": f"open({str(GRADER / 'case.py')!r}).read()",
    "listing the grader": f"os.listdir({str(GRADER)!r})",
    "writing a file": "open('/submission/assignment/left.py', 'w')",
    "writing to the temporary folder": "open('/tmp/left', 'w')",
    "signalling its parent": "os.kill(os.getppid(), 0)",
}
"""What must fail, as statements of Python that run in the worker, never here."""


def failure(sandbox: Sandbox, attempts: Mapping[str, str] = ATTEMPTS) -> str:
    """What the sandbox does not prevent, or why it does not even work; "" when all attempts are prevented."""
    lines = ["import os", "import numpy"]
    for number, statement in enumerate(attempts.values()):
        lines += [f"def attempt_{number}(x):", f"    {statement}", "    return numpy.ones(1)"]
    source = "\n".join([*lines, "def works(x):", "    return numpy.ones(1)", ""]).encode()
    call = Call({"x": Input(None, Role.PLAIN)})
    names = ["works", *(f"attempt_{number}" for number in range(len(attempts)))]
    cases = [Case(f"nn.{name}", (call,)) for name in names]
    try:
        with sandbox.open({"nn.py": source}) as session:
            frame = session.exchange(encode_request(cases, NONCE), LIMITS)
        if isinstance(frame, Fault):
            return frame.text
        works, *tried = decode_reply(frame, NONCE, cases)
    except (InfrastructureError, ProtocolError, OSError) as error:
        return str(error)
    if not works.calls or works.calls[0].status is not Status.OK:
        return f"a harmless program does not run in it: {works.trouble}"
    not_refused = [
        name
        for name, answer in zip(attempts, tried, strict=True)
        if not answer.calls or answer.calls[0].status is not Status.RAISED
    ]
    return f"it does not prevent {', '.join(not_refused)}" if not_refused else ""
