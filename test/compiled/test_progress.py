"""The line that tells of compilation fits the terminal, goes away, and is one line in a log."""

import io
from types import SimpleNamespace

import pytest

from opspace_ctrl import progress

KERNEL = SimpleNamespace(
    __module__="opspace_ctrl.osim.tick", __name__="a_kernel_with_quite_a_long_name"
)


class Stream(io.StringIO):
    def __init__(self, terminal: bool):
        super().__init__()
        self.isatty = lambda: terminal


@pytest.fixture
def stream(monkeypatch, request):
    stream = Stream(request.param)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress, "_line", {"is_there": False, "was_there": False})
    monkeypatch.setenv("COLUMNS", "60")
    return stream


@pytest.mark.parametrize("stream", [True], indirect=True)
def test_on_a_terminal_it_fits_counts_and_is_cleared(stream):
    with progress.counted(lambda: (2, 7)):
        for _ in range(3):
            with progress.shown(KERNEL):
                pass
    *lines, last = stream.getvalue().split(progress.CLEAR)[1:]
    assert last == "" and len(lines) == 3
    for line in lines:
        assert "compiling 2 of 7 kernels, 0 s: tick.a_kernel" in line and len(line) < 60


@pytest.mark.parametrize("stream", [True], indirect=True)
def test_what_is_on_the_terminals_line_stays_when_nothing_is_compiled(stream):
    with progress.counted(lambda: (0, 0)):
        pass
    with progress.shown(KERNEL):
        pass
    assert stream.getvalue().count(progress.CLEAR) == 2
    with progress.counted(lambda: (0, 0)):
        pass
    assert stream.getvalue().count(progress.CLEAR) == 2


@pytest.mark.parametrize("stream", [False], indirect=True)
def test_in_a_log_it_is_one_line(stream):
    for _ in range(2):
        with progress.counted(lambda: (0, 7)), progress.shown(KERNEL):
            pass
    assert stream.getvalue() == "opspace_ctrl: compiling 7 kernels, kept for the next start ...\n"
