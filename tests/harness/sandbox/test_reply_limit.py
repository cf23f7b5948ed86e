"""An answer may hold as many bytes of arrays as its request allows, 64 MiB unless it says more, or less."""

import pytest

from grader.case import Call, Case, Limits, Status
from grader.student import Student

SOURCE = "import numpy as np\ndef large():\n    return np.ones(9 * 2**20)  # 72 MiB\n"


@pytest.mark.parametrize(("mib", "status"), [(64, Status.BAD_VALUE), (80, Status.OK)])
def test_an_answer_may_be_as_large_as_its_request_allows(open_session, mib, status):
    (answer,) = Student(open_session(SOURCE)).run([Case("nn.large", (Call({}),))], Limits(reply_mib=mib))
    assert (answer.calls or (answer,))[0].status is status
    assert (answer.status is Status.OK) == (mib == 80)
