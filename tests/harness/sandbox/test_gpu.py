"""A GPU in the sandbox: only when asked for, only its nodes. Stand-ins: this must hold on machines without one, too."""

from pathlib import Path

import numpy as np
import pytest

from grader.case import Call, Case, Limits, Status
from grader.errors import RefusedToStartError
from grader.sandbox import Sandbox, attempts, bubblewrap, gpu, probe
from grader.student import Student

NODE = Path("/dev/zero")
SOURCE = b"""
import fcntl, os, resource
import numpy as np
def devices():
    print(*sorted(os.listdir("/dev")))
    return np.ones(1)
def use():
    node = os.open("/dev/zero", os.O_RDWR)
    os.write(node, b"x")
    try:
        fcntl.ioctl(node, 0xC0104600)
    except PermissionError:
        raise
    except OSError as error:
        return np.array([error.errno])
def write():
    return open("/submission/assignment/left.py", "w")
def limits():
    return np.array([resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)])
"""


@pytest.fixture(scope="module")
def with_node():
    bwrap = next(candidate.path for candidate in bubblewrap.candidates() if not candidate.problem)
    return Sandbox("test", bubblewrap.starter(bwrap, gpu=gpu.Gpu((NODE,), packages=(Path(np.__file__).parent,))))


@pytest.fixture
def session(with_node):
    with with_node.open({"nn.py": SOURCE}) as session:
        yield session


def test_all_that_must_be_refused_is_refused_with_a_gpu_too(with_node):
    assert attempts.failure(with_node) == ""


def test_its_node_is_the_only_one_and_can_be_asked(session, call):
    assert call(session, "devices").status is Status.OK
    assert session.output.split() == [b"zero"]
    (answer,) = Student(session).run([Case("nn.use", (Call({}),))], Limits())
    assert answer.arrays["0.out"].tolist() == [25]  # ENOTTY: the ioctl reached the driver, which does not know it


def test_files_cannot_be_written_all_the_same(session, call):
    assert call(session, "write").trouble.kind == "OSError"  # read-only file system


def test_memory_is_limited_by_what_can_be_written(session):
    (answer,) = Student(session).run([Case("nn.limits", (Call({}),))], Limits())
    assert answer.arrays["0.out"].tolist() == [[-1, -1], [2**30, 2**30]]


def test_without_a_gpu_the_wish_for_one_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu, "DEVICES", tmp_path)
    with pytest.raises(
        RefusedToStartError,
        match=r"needs an NVIDIA GPU .*found none; grade with --sandbox bwrap",
    ):
        gpu.find(tmp_path)


def test_with_a_gpu_and_without_cupy_it_is_refused(monkeypatch, tmp_path):
    for name in ("nvidiactl", "nvidia-uvm", "nvidia1", "nvidia0", "nvidia-modeset"):
        (tmp_path / name).touch()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(RefusedToStartError, match="needs CuPy"):
        gpu.find(tmp_path)


def test_only_the_control_nodes_and_the_first_gpu_are_let_in(monkeypatch, tmp_path):
    for name in ("nvidiactl", "nvidia-uvm", "nvidia1", "nvidia0", "nvidia-modeset"):
        (tmp_path / name).touch()
    monkeypatch.setattr(gpu, "_packages", lambda: [Path("/x/cupy")])
    assert [node.name for node in gpu.find(tmp_path).nodes] == ["nvidiactl", "nvidia-uvm", "nvidia0"]


def test_asked_for_where_there_is_none_it_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu.find, "__defaults__", (tmp_path,))
    with pytest.raises(RefusedToStartError, match=r"needs an NVIDIA GPU"):
        probe("bwrap+gpu")
