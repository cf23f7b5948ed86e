"""The secret from which every random number of a run follows, and the public seeds made of it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from pathlib import Path

from grader.atomic import write_atomic
from grader.errors import UsageError

VARIABLE = "GRADER_SEED"
MINIMUM_BYTES = 16
"""Reports hold a fingerprint of the secret: a shorter one could be found by trying."""


def obtain(out: Path, seed_file: Path | None, environment: Mapping[str, str]) -> bytes:
    """The run's secret: of `seed_file`, else of `GRADER_SEED`, else of `<out>/staff/seed`, which is made when missing.

    Only a secret of the grader's own making is kept in `out`: one that was given stays where it came from.

    Raises:
        UsageError: the given secret cannot be read or is shorter than 16 bytes.
    """
    if seed_file is not None:
        return _checked(_read(seed_file), f"--seed-file {seed_file}")
    if VARIABLE in environment:
        return _checked(environment[VARIABLE].encode(), f"the environment variable {VARIABLE}")
    kept = out / "staff" / "seed"
    if kept.exists():
        return _checked(_read(kept), str(kept))
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = secrets.token_hex(32).encode()
    write_atomic(kept, secret + b"\n", mode=0o600)
    return secret


def fingerprint(secret: bytes) -> str:
    """Tells two secrets apart without giving either away: `sha256:` and 12 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(b'hw3-grader seed ' + secret).hexdigest()[:12]}"


def public_seed(secret: bytes, *names: str) -> int:
    """A seed in 0 … 2**32-1 for one named purpose; knowing it tells nothing about the secret or another seed."""
    message = b"".join(len(name.encode()).to_bytes(4, "big") + name.encode() for name in names)
    return int.from_bytes(hmac.digest(secret, message, "sha256")[:4], "big")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"the seed file {path} cannot be read ({error.strerror}); name one that exists") from error


def _checked(text: bytes, origin: str) -> bytes:
    secret = text.strip()
    if len(secret) < MINIMUM_BYTES:
        raise UsageError(
            f"{origin} holds a seed of {len(secret)} bytes; at least {MINIMUM_BYTES} are needed, "
            "or reports would give it away: make one with `openssl rand -hex 32`"
        )
    return secret
