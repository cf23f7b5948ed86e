"""The secret seed: where it comes from, and that it gives nothing away."""

import hashlib
import hmac
import stat

import pytest

from grader.errors import UsageError
from grader.seed import fingerprint, obtain, public_seed

GIVEN = "0123456789abcdef"


def test_a_new_secret_is_kept_for_its_owner_alone_and_used_again(tmp_path):
    secret = obtain(tmp_path, None, {})
    kept = tmp_path / "staff" / "seed"
    assert kept.read_bytes().strip() == secret
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert obtain(tmp_path, None, {}) == secret
    assert obtain(tmp_path / "other", None, {}) != secret


def test_a_given_secret_is_used_and_not_kept(tmp_path):
    (tmp_path / "file").write_text(f"{GIVEN}-file\n")
    out = tmp_path / "out"
    assert obtain(out, tmp_path / "file", {"GRADER_SEED": GIVEN}) == f"{GIVEN}-file".encode()
    assert obtain(out, None, {"GRADER_SEED": f"{GIVEN}\n"}) == GIVEN.encode()
    assert not out.exists()


@pytest.mark.parametrize("text", ["", "1", "123456789012345"])
def test_a_secret_that_could_be_guessed_is_refused(tmp_path, text):
    with pytest.raises(UsageError, match="at least 16"):
        obtain(tmp_path, None, {"GRADER_SEED": text})


def test_a_missing_seed_file_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        obtain(tmp_path, tmp_path / "none", {})


def test_a_public_seed_is_the_hmac_of_the_names():
    message = b"\x00\x00\x00\x02p1\x00\x00\x00\x01x"
    expected = int.from_bytes(hmac.new(b"secret", message, hashlib.sha256).digest()[:4], "big")
    assert public_seed(b"secret", "p1", "x") == expected
    assert 0 <= expected < 2**32


def test_names_are_not_run_together():
    assert len({public_seed(b"s", "ab", "c"), public_seed(b"s", "a", "bc"), public_seed(b"s", "abc")}) == 3


def test_the_fingerprint_tells_secrets_apart_and_is_no_plain_hash_of_them():
    assert fingerprint(b"a") != fingerprint(b"b")
    assert len(fingerprint(b"a")) == len("sha256:") + 12
    assert fingerprint(b"a")[7:] not in hashlib.sha256(b"a").hexdigest()
