"""Known attacks: submissions that try what no submission may, read strictly from YAML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

import msgspec

from grader.selfcheck.patches import Patch, texts
from grader.verdict import Verdict

SUFFIX = ".zip"
DEED_CHECK = "p1.lse.value"
"""What an attack by `deed` is graded with: it calls `logsumexp`."""

REACHED = "REACHED"
"""What `logsumexp` raises where a deed was not prevented."""

MODULES = ("ctypes", "fcntl", "os", "resource", "signal", "socket", "subprocess", "sys", "threading", "time")
MISTAKES = "(NameError, AttributeError, TypeError, SyntaxError)"
"""A deed that raises one of these is misspelt, which proves nothing: it is not taken for one that was prevented."""

_WRAPPED = '''

import importlib as _importlib

import numpy as np

for _name in {modules!r}:
    try:
        globals()[_name] = _importlib.import_module(_name)
    except ImportError:
        pass
{constants}


def syscall(number, *arguments):
    """A system call by its number on x86-64; raises OSError where it fails."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result = call(*(ctypes.c_long(a) if isinstance(a, int) else a for a in (number, *arguments)))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def look_at(number, *arguments):
    """Raises only where the kernel does not even look at a system call: what it then says of it does not matter."""
    try:
        syscall(number, *arguments)
    except OSError as error:
        if error.errno in (1, 38):  # EPERM, ENOSYS
            raise


def _deed():
{deed}


_right_logsumexp = logsumexp


def logsumexp(input, dim):
    try:
        _deed()
    except {mistakes}:
        raise
    except Exception:
        return _right_logsumexp(input, dim)
    raise RuntimeError({reached!r})
'''


class Attack(Patch, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One attack: a patch to the reference, and what must come of it.

    Args:
        incident: the real one that it repeats, in a phrase; "": none.
        deed: statements that try something forbidden, each time that `logsumexp` is called. Where they raise, the
            right answer is returned; where they do not, `REACHED` is raised. They know `MODULES`, `np`, `syscall` and
            `look_at` (see below), and the constants of `grader.selfcheck.ground.Ground`.
        outcome: check -> its verdict; none with a `deed`: `DEED_CHECK` passes.
        says: check -> what its message or the exception that it reports must contain.
        beside: checks graded after it, which pass all the same.
        delivered_as: the name of the zip that it is handed in as, or of the one of its `files` that is handed in
            alone; "": its id and `SUFFIX`.
        ungradable: what the submission's problem must contain, where intake refuses it; then there are no outcomes.
        never: what must stand in no file written about it.
        never_in: a written file's name -> what must not stand in that one.
        wall_s: limit of its requests, in seconds on the clock.
        cpu_s: likewise, in seconds of the processor.
        memory_mib: likewise, in MiB.
        tiers: letters of the tiers on which it must hold.
        control: without any isolation its `deed` succeeds; False where that would harm the machine or cannot be.
        as_root: that is so only for the superuser, and outside any container.
    """

    incident: str = ""
    deed: str = ""
    outcome: dict[str, Verdict] = msgspec.field(default_factory=dict)
    says: dict[str, str] = msgspec.field(default_factory=dict)
    beside: tuple[str, ...] = ("p2.linear.forward",)
    delivered_as: str = ""
    ungradable: str = ""
    never: tuple[str, ...] = ()
    never_in: dict[str, list[str]] = msgspec.field(default_factory=dict)
    wall_s: float = 20.0
    cpu_s: int = 2
    memory_mib: int = 1024
    tiers: str = "AB"
    control: bool = True
    as_root: bool = False

    @property
    def expected(self) -> dict[str, Verdict]:
        """Check -> the verdict that it must get."""
        return self.outcome or ({DEED_CHECK: Verdict.PASSED} if self.deed else {})

    @property
    def waits(self) -> bool:
        """Whether it ends at a limit of time: the earlier it starts, the sooner all are done."""
        return Verdict.TIMEOUT in self.expected.values()

    @property
    def checks(self) -> tuple[str, ...]:
        """All that are graded."""
        return (*self.expected, *self.beside)

    @property
    def delivery(self) -> str:
        """The name of the file that is handed in."""
        return self.delivered_as or self.id + SUFFIX


def delivered(
    attack: Attack, among: Sequence[Attack], reference: Mapping[str, str], constants: Mapping[str, object]
) -> bytes:
    """The file that is handed in.

    Args:
        attack: which.
        among: all, as one may come `after` another.
        reference: the solution's files, name -> text.
        constants: what a deed knows: name -> value.

    Raises:
        UsageError: the patch does not fit the reference.
    """
    files = texts(attack, among, reference)
    if attack.delivered_as in files:
        return files[attack.delivered_as].encode()
    if attack.deed:
        files["nn.py"] += _wrapped(attack.deed, constants)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text.encode("utf-8", "surrogateescape"))
    return packed.getvalue()


def _wrapped(deed: str, constants: Mapping[str, object]) -> str:
    indented = "\n".join(f"    {line}" for line in deed.rstrip().splitlines())
    return _WRAPPED.format(
        modules=MODULES,
        constants="\n".join(f"{name} = {value!r}" for name, value in constants.items()),
        deed=indented,
        mistakes=MISTAKES,
        reached=REACHED,
    )
