# SPDX-License-Identifier: Apache-2.0
"""Reading a file of unknown origin: regular files only, and no more of it than is wanted."""

import errno
import os
import stat
from pathlib import Path


def read_regular(path: str | Path, largest: int, follow: bool = True) -> bytes:
    """What a file holds; a pipe, a device or a folder is refused without waiting for it.

    Args:
        path: the file.
        largest: the most that is read [bytes].
        follow: a link may lead to it.

    Raises:
        OSError: It cannot be read, is no regular file or is larger; `strerror` says so in words.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    number = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    try:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        with open(number, "rb", closefd=False) as file:
            data = file.read(largest + 1)
    finally:
        os.close(number)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"larger than {largest} bytes", str(path))
    return data
