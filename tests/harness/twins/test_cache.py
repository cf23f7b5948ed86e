"""Results are computed once, are read-only, and take bounded memory."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from grader.case import Answer, Call, Case, Input, Role, Status
from grader.twins import RIGHT, run
from grader.twins.cache import Cache, digest
from grader.twins.functions import LogSumExp
from grader.twins.run import CACHE

NOBODY = Answer(Status.OK)


class Counting:
    def __init__(self, entries):
        self.entries = entries
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return {"x": np.zeros(self.entries)}


def logsumexp_case(value):
    return Case("nn.logsumexp", (Call({"input": Input(np.array([[value, 0.0]])), "dim": Input(1, Role.PLAIN)}),))


def test_the_same_key_is_computed_once():
    cache, compute = Cache(max_bytes=10_000), Counting(4)
    assert cache.get("a", compute)["x"] is cache.get("a", compute)["x"]
    assert compute.calls == 1


def test_results_are_read_only_and_the_mapping_is_the_callers_own():
    cache, compute = Cache(max_bytes=10_000), Counting(4)
    result = cache.get("a", compute)
    with pytest.raises(ValueError, match="read-only"):
        result["x"][0] = 1
    result.clear()
    assert cache.get("a", compute).keys() == {"x"}


def test_the_result_used_longest_ago_goes_first():
    cache = Cache(max_bytes=3 * 80)
    compute = {key: Counting(10) for key in "abcd"}
    for key in "abcabd":
        cache.get(key, compute[key])
    for key in "abd":
        cache.get(key, compute[key])
    assert {key: compute[key].calls for key in "abd"} == {"a": 1, "b": 1, "d": 1}
    cache.get("c", compute["c"])
    assert compute["c"].calls == 2


def test_a_result_larger_than_the_cache_is_returned_and_not_kept():
    cache, compute = Cache(max_bytes=79), Counting(10)
    assert cache.get("a", compute)["x"].shape == (10,)
    cache.get("a", compute)
    assert compute.calls == 2


def test_many_threads_get_the_same_numbers():
    cases = [logsumexp_case(float(number)) for number in range(20)]
    seen: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: seen.append([float(run(case, NOBODY)["0.out"][0, 0]) for case in cases]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert seen[0] == pytest.approx([np.log1p(np.exp(float(number))) for number in range(20)], rel=1e-13)
    assert all(row == seen[0] for row in seen)


def test_equal_cases_share_a_result_and_other_parts_do_not():
    class Other(LogSumExp):
        pass

    first = run(logsumexp_case(0.25), NOBODY)["0.out"]
    assert run(logsumexp_case(0.25), NOBODY)["0.out"] is first
    assert run(logsumexp_case(0.25), NOBODY, replace(RIGHT, logsumexp=Other))["0.out"] is not first
    assert CACHE.max_bytes == 64 * 2**20


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["ab", "c"], ["a", "bc"]),
        ([["a"], "b"], [["a", "b"]]),
        ([1], [1.0]),
        ([1], [True]),
        ([1], ["1"]),
        ([None], ["None"]),
        ([{"a": 1, "b": 2}], [{"a": 1, "b": 3}]),
        ([{"a": 1}, {"b": 2}], [{"a": 1, "b": 2}]),
        ([np.zeros(2)], [np.zeros((2, 1))]),
        ([np.zeros(2)], [np.zeros(2, dtype=np.float32)]),
        ([np.zeros(2)], [np.array([0.0, -0.0])]),
        ([Role.PLAIN], [Role.BATCH]),
        ([logsumexp_case(0.0)], [replace(logsumexp_case(0.0), dtype="float32")]),
    ],
)
def test_different_data_has_different_digests(first, second):
    assert digest(*first) == digest(*first)
    assert digest(*first) != digest(*second)


def test_what_is_not_plain_data_is_refused():
    with pytest.raises(TypeError, match="cannot hash a object"):
        digest(object())
