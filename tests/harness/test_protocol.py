"""Frames: what a worker may say, byte by byte, and that nothing else is ever taken for it."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from grader import case as trusted
from grader.case import Answer, Call, CallOutcome, Case, Input, Mode, Role, Status, Trouble
from grader.errors import ProtocolError
from grader.protocol import MAX_ARRAY_BYTES, MAX_HEADER_BYTES, decode_reply, encode_request
from grader.sandbox import endings, process
from grader.worker import case as mirror
from grader.worker import child, frames, server

NONCE = "0123456789abcdef"
X = np.arange(6.0).reshape(2, 3)
CASES = (
    Case(
        "transformer.Block",
        (
            Call({"x": Input(X), "n": Input(3, Role.PLAIN)}, Mode.TRAIN, X),
            Call({"x": Input(X)}, keywords={"k": [1, None]}),
        ),
        {"size": 2, "bias": False},
        {"w": X.astype("f4"), "b": np.zeros((0, 3))},
        seed=2**63 - 1,
        dtype="float32",
        masks=True,
    ),
    Case("nn.f", (Call({}, cotangent=np.array(1.0), method="m"),)),
)
GOOD = [
    mirror.Answer(
        calls=[mirror.Outcome(), mirror.Outcome("raised", mirror.Trouble("E", "text", "nn.py", 3, "x = 1"))],
        arrays={
            "0.out": X,
            "0.grad.x": X.astype("f4"),
            "0.grad.param.a.w": np.array([1, -1]),
            "0.mask.a.0": np.zeros((0, 2)),
            "0.mask..1": np.array(True),
            "param.b": np.array([True, False]),
        },
        absent=["q"],
        surplus=["b"],
        reshaped=["w"],
    ),
    mirror.Answer(mirror.Outcome("missing", mirror.Trouble(text="nn.py defines no f"))),
]
FRAME = frames.encode_reply(NONCE, GOOD)
LENGTH = int.from_bytes(FRAME[:4], "little")
HEADER, BUFFERS = json.loads(FRAME[4 : 4 + LENGTH]), FRAME[4 + LENGTH :]


def _frame(header: object, buffers: bytes = BUFFERS, text: bytes | None = None) -> bytes:
    data = json.dumps(header).encode() if text is None else text
    return len(data).to_bytes(4, "little") + data + buffers


def _changed(path: str, value: object) -> dict:
    """The good header with one place in it, such as "arrays.0.4", set to another value."""
    header = json.loads(json.dumps(HEADER))
    *steps, last = path.split(".")
    place = header
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    place[int(last) if isinstance(place, list) else last] = value
    return header


def test_a_request_arrives_in_the_worker_as_it_was_asked():
    request = frames.decode_request(encode_request(CASES, NONCE))
    assert request.nonce == NONCE
    for asked, arrived in zip(CASES, request.cases, strict=True):
        same = ("target", "arguments", "seed", "dtype", "masks")
        assert [getattr(arrived, name) for name in same] == [getattr(asked, name) for name in same]
        assert (arrived.parameters is None) == (asked.parameters is None)
        for name, value in (asked.parameters or {}).items():
            assert arrived.parameters[name].dtype == value.dtype
            np.testing.assert_array_equal(arrived.parameters[name], value)
        for call, made in zip(asked.calls, arrived.calls, strict=True):
            assert (made.mode, made.method, made.keywords) == (call.mode.value, call.method, call.keywords)
            assert [(a.name, a.role) for a in made.arguments] == [(n, i.role.value) for n, i in call.inputs.items()]
            for argument, given_input in zip(made.arguments, call.inputs.values(), strict=True):
                np.testing.assert_array_equal(argument.value, given_input.value)
            assert (made.cotangent is None) == (call.cotangent is None)
            if call.cotangent is not None:
                assert made.cotangent.shape == call.cotangent.shape


def test_a_reply_arrives_as_it_was_answered():
    first, second = decode_reply(FRAME, NONCE, CASES)
    assert (first.status, first.absent, first.surplus, first.reshaped) == (Status.OK, ("q",), ("b",), ("w",))
    place = Trouble("E", "text", "nn.py", 3, "x = 1")
    assert first.calls == (CallOutcome(Status.OK), CallOutcome(Status.RAISED, place))
    assert first.arrays.keys() == GOOD[0].arrays.keys()
    for name, array in GOOD[0].arrays.items():
        assert (first.arrays[name].dtype, first.arrays[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(first.arrays[name], array)
    assert second == Answer(Status.MISSING, trouble=Trouble(text="nn.py defines no f"))


MOMENTS = {"mean.a.0": X.astype("f4"), "counts": np.array([3, 0])}
TRAINS = Case(
    "training.Block",
    (
        Call({"state": Input(MOMENTS, Role.STATE)}, method="go_on"),
        Call({}, method="learned", state=True),
    ),
    device="cuda",
)


def _state_reply(name: str = "1.state.mean.a.0", call: str = "0.out") -> bytes:
    arrays = {call: np.ones(1), name: X, "1.state.counts": np.array([4])}
    return frames.encode_reply(NONCE, [mirror.Answer(calls=[mirror.Outcome()] * 2, arrays=arrays)])


def test_a_state_arrives_in_the_worker_and_comes_back():
    first, second = frames.decode_request(encode_request([TRAINS], NONCE)).cases[0].calls
    assert (first.state, second.state) == (False, True)
    (argument,) = first.arguments
    assert (argument.role, argument.value.keys()) == ("state", MOMENTS.keys())
    for name, array in MOMENTS.items():
        assert argument.value[name].dtype == array.dtype
        np.testing.assert_array_equal(argument.value[name], array)
    (answer,) = decode_reply(_state_reply(), NONCE, [TRAINS])
    assert answer.arrays.keys() == {"0.out", "1.state.mean.a.0", "1.state.counts"}
    np.testing.assert_array_equal(answer.arrays["1.state.mean.a.0"], X)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("1.state.", "0.out"),
        ("1.state.a b", "0.out"),
        ("1.state.a..b", "0.out"),
        ("1.state.../x", "0.out"),
        ("1.state", "0.out"),
        ("1.out", "0.out"),  # a call for a state returns no output beside it
        ("0.state.a", "0.out"),  # and a call for an output no state
        ("2.state.a", "0.out"),
        ("1.grad.a", "0.out"),
        ("1.state.a", "0.state.a"),
    ],
)
def test_a_state_under_another_name_is_refused(name, call):
    with pytest.raises(ProtocolError):
        decode_reply(_state_reply(name, call), NONCE, [TRAINS])


def test_the_limit_of_arrays_is_that_of_the_request():
    size = X.nbytes + 8 + 8
    assert decode_reply(_state_reply(), NONCE, [TRAINS], size)
    with pytest.raises(ProtocolError, match=f"{size - 1} is most"):
        decode_reply(_state_reply(), NONCE, [TRAINS], size - 1)


def test_an_answer_over_its_limit_is_sent_without_its_arrays():
    answers = [mirror.Answer(calls=[mirror.Outcome()], arrays={"0.out": np.zeros(2**17)})]  # 1 MiB
    case = Case("nn.f", (Call({}),))
    assert decode_reply(frames.encode_reply(NONCE, answers, 2**20), NONCE, [case])[0].status is Status.OK
    (refused,) = decode_reply(frames.encode_reply(NONCE, answers, 2**20 - 1), NONCE, [case])
    assert (refused.status, dict(refused.arrays)) == (Status.BAD_VALUE, {})


def test_addresses_in_text_are_made_equal():
    header = _changed("answers.1.trouble", {"text": "<object at 0x7f00c0ffee00> and 0xdeadbeef and 0x1f"})
    assert decode_reply(_frame(header), NONCE, CASES)[1].trouble.text == "<object at 0x…> and 0x… and 0x1f"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("nonce", "0" * 16),
        ("nonce", None),
        ("extra", 1),
        ("answers", []),
        ("answers.0.status", "passed"),
        ("answers.0.status", "raised"),  # an answer that is not OK has no calls
        ("answers.0.calls", []),
        ("answers.0.calls.0.status", True),
        ("answers.0.score", 100),
        ("answers.1.trouble.text", "\x1b[2J"),
        ("answers.1.trouble.text", "a\u202eb"),
        ("answers.1.trouble.text", "a\nb"),
        ("answers.1.trouble.text", "\ud800"),
        ("answers.1.trouble.text", "x" * 1001),
        ("answers.1.trouble.kind", "=cmd"),
        ("answers.1.trouble.file", "=cmd"),
        ("answers.1.trouble.file", "../nn.py"),
        ("answers.1.trouble.file", "/nn.py"),
        ("answers.1.trouble.file", "a b.py"),
        ("answers.1.trouble.line", -1),
        ("answers.1.trouble.line", 2**40),
        ("answers.1.trouble.line", 1.5),
        ("answers.0.absent", ["a b"]),
        ("answers.0.surplus", ["x" * 300]),
        ("answers.0.reshaped", "w"),
        ("words.0", "result"),
        ("words.0", "grad.y"),
        ("words.0", "grad.param.a b"),
        ("words.0", "grad.x"),  # then there are two of it
        ("words.0", "mask.a.-1"),
        ("words.0", ""),
        ("arrays.0.0", 2),
        ("arrays.0.0", True),
        ("arrays.0.0", -1),
        ("arrays.0.1", 2),
        ("arrays.0.1", -1),
        ("arrays.0.1", -2),
        ("arrays.0.2", 99),
        ("arrays.0.2", -1),
        ("arrays.0.3", ">f8"),
        ("arrays.0.3", "|O"),
        ("arrays.0.3", "<c16"),
        ("arrays.0.3", "<f16"),
        ("arrays.0.3", "<f8,<f8"),
        ("arrays.0.3", 8),
        ("arrays.0.4", [2, 4]),
        ("arrays.0.4", [-2, -3]),
        ("arrays.0.4", [True, 6]),
        ("arrays.0.4", [2.0, 3.0]),
        ("arrays.0.4", [2**31, 0]),
        ("arrays.0.4", 6),
        ("arrays.0.4", [1] * 17),
        ("arrays.0.4", None),
        ("arrays.3.4", [2**31 - 1, 2**31 - 1, 0]),  # no bytes, but more than NumPy can count
        ("arrays.3.4", [0] + 15 * [2**31 - 1]),
    ],
)
def test_a_header_with_one_wrong_word_is_refused(path, value):
    with pytest.raises(ProtocolError):
        decode_reply(_frame(_changed(path, value)), NONCE, CASES)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x00\x00",
        FRAME[:-1],
        FRAME + b"\x00",
        FRAME + FRAME,
        FRAME[: LENGTH // 2],
        _frame(None, text=b""),
        _frame(None, text=b"[]"),
        _frame(None, text=b"[" * 60_000),
        _frame(None, text=b'{"nonce":' * 6_000),
        _frame(None, text=b"\xff\xfe"),
        _frame(None, text=json.dumps(HEADER).encode() + b"{}"),
        _frame(None, text=json.dumps(_changed("answers.1.trouble.line", float("nan"))).encode()),
        _frame(None, text=json.dumps(HEADER).encode().replace(b'"line": 3', b'"line": 3' + b"0" * 5000)),
        _frame({**HEADER, "words": [*HEADER["words"], *map(str, range(20_000))]}),
        (2**32 - 1).to_bytes(4, "little") + FRAME[4:],
        _frame(HEADER, BUFFERS[:-1] + b"\x02"),  # the last array is of booleans
    ],
)
def test_bytes_that_are_no_frame_are_refused(frame):
    with pytest.raises(ProtocolError):
        decode_reply(frame, NONCE, CASES)


def test_more_than_the_limit_of_arrays_is_refused_before_it_is_copied():
    frame = frames.encode_reply(NONCE, [GOOD[0], mirror.Answer()])
    header = json.loads(frame[4 : 4 + int.from_bytes(frame[:4], "little")])
    header["arrays"] = [[0, 0, 0, "|b1", [MAX_ARRAY_BYTES + 1]]]
    with pytest.raises(ProtocolError, match=f"{MAX_ARRAY_BYTES} is most"):
        decode_reply(_frame(header, bytes(MAX_ARRAY_BYTES + 1)), NONCE, CASES)


def test_the_longest_header_is_64_kib():
    with pytest.raises(ProtocolError, match=f"at most {MAX_HEADER_BYTES}"):
        decode_reply(_frame(None, text=b" " * (MAX_HEADER_BYTES + 1)), NONCE, CASES)


@given(st.data())
def test_a_frame_with_changed_bytes_decodes_to_checked_arrays_or_is_refused(data):
    frame = bytearray(FRAME)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(frame) - 1))
        match data.draw(st.sampled_from(["change", "drop", "add", "cut", "double"])):
            case "change":
                frame[place] = data.draw(st.integers(0, 255))
            case "drop":
                del frame[place]
            case "add":
                frame[place:place] = data.draw(st.binary(max_size=9))
            case "cut":
                del frame[place:]
            case "double":
                frame += frame[place:]
        if not frame:
            break
    _decodes_to_checked_answers_or_is_refused(bytes(frame))


@given(st.binary(max_size=300))
@example(b"\x02\x00\x00\x00{}")
def test_any_bytes_are_refused(frame):
    with pytest.raises(ProtocolError):
        decode_reply(frame, NONCE, CASES)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["<f8", "ok", "out"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["status", "calls", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["nonce", "answers", "words", "arrays", "answers.0", "answers.0.calls", "arrays.0", "arrays.1.4"]),
    _JSON,
)
def test_a_header_with_any_json_in_one_place_is_checked_or_refused(path, value):
    _decodes_to_checked_answers_or_is_refused(_frame(_changed(path, value)))


@given(
    arrays_of.arrays(
        st.sampled_from(list(frames.DTYPES)), arrays_of.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=3)
    )
)
def test_any_array_of_an_allowed_type_survives_the_way(array):
    both = {"0.out": np.zeros(1), "1.out": frames.sendable(array)}
    answers = [mirror.Answer(calls=[mirror.Outcome()] * 2, arrays=both), GOOD[1]]
    back = decode_reply(frames.encode_reply(NONCE, answers), NONCE, CASES)[0].arrays["1.out"]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == np.ascontiguousarray(array).tobytes()


def test_a_call_that_succeeded_without_an_output_is_refused():
    answers = [mirror.Answer(calls=[mirror.Outcome()] * 2, arrays={"1.out": np.zeros(1)}), GOOD[1]]
    with pytest.raises(ProtocolError, match="nothing that it returned is there"):
        decode_reply(frames.encode_reply(NONCE, answers), NONCE, CASES)


def _decodes_to_checked_answers_or_is_refused(frame: bytes) -> None:
    try:
        answers = decode_reply(frame, NONCE, CASES)
    except ProtocolError:
        return
    assert len(answers) == len(CASES)
    for answer, case in zip(answers, CASES, strict=True):
        assert len(answer.calls) == (len(case.calls) if answer.status is Status.OK else 0)
        for name, array in answer.arrays.items():
            assert type(array) is np.ndarray
            assert array.dtype.str in frames.DTYPES
            assert array.flags.c_contiguous
            assert array.flags.owndata
            assert name.startswith("param.") or int(name.partition(".")[0]) < len(case.calls)


def test_a_case_that_no_frame_can_hold_is_the_graders_error():
    with pytest.raises(TypeError, match="complex128"):
        encode_request([Case("nn.f", (Call({"x": Input(np.ones(1, dtype=complex))}),))], NONCE)
    with pytest.raises(ValueError, match="JSON"):
        encode_request([Case("nn.f", arguments={"eps": float("nan")})], NONCE)


def test_both_ends_agree_on_the_wire():
    assert (process.ASK.format, process.TOLD.format) == (server.ASK.format, server.TOLD.format)
    assert (process.ASK_MAGIC, process.TOLD_MAGIC) == (server.ASK_MAGIC, server.TOLD_MAGIC)
    assert process.GREETING == server.GREETING
    assert (endings.BY_ITSELF, endings.WALL) == (server.ENDED, server.WALL)
    assert list(process.ENDINGS) == [server.ENDED, server.WALL, server.OUTPUT, server.REPLY]
    assert (endings.OUTPUT, endings.REPLY) == (server.OUTPUT, server.REPLY)
    assert endings.OUT_OF_MEMORY == child.OUT_OF_MEMORY
    assert frames.MAX_REPLY_BYTES + server.MAX_HEADER_ROOM + server.KEPT_OUTPUT_BYTES < process.MAX_TOLD_BYTES


def test_the_workers_mirror_of_a_case_has_the_same_fields():
    def names(cls: type) -> set[str]:
        return {field.name for field in dataclasses.fields(cls)}

    assert names(mirror.Case) == names(trusted.Case)
    assert names(mirror.Trouble) == names(trusted.Trouble)
    assert names(mirror.Call) == names(trusted.Call) - {"inputs"} | {"arguments"}
    assert names(mirror.Answer) == names(trusted.Answer) - {"status", "trouble"} | {"outcome"}
