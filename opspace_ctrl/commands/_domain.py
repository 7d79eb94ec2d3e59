# SPDX-License-Identifier: Apache-2.0
"""A ROS domain that nobody uses: held by a lock file, so that runs beside it get other ones."""

import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import IO

from . import CommandError

__all__ = ["free_domain"]

DOMAINS = range(20, 100)  # their ports lie below those that the system gives away
# of the DDS standard: unicast discovery
FIRST_PORT, PORTS_A_DOMAIN, PORTS_A_PARTICIPANT = (7410, 250, 2)
PARTICIPANTS = 10


def free_domain() -> tuple[int, IO[str]]:
    """A domain, and the file that holds it until it is closed.

    Raises:
        CommandError: All are in use.
    """
    for domain in DOMAINS:
        try:
            file = open(
                Path(tempfile.gettempdir()) / f"ros_domain_{domain}.lock", "a", opener=_not_by_link
            )
        except OSError:  # it belongs to another user, or is no file
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_inhabited(domain):
                return domain, file
        except OSError:
            pass
        file.close()
    raise CommandError(
        f"all ROS domains from {DOMAINS.start} to {DOMAINS.stop - 1} are in use: set ROS_DOMAIN_ID"
    )


def _not_by_link(path: str, flags: int) -> int:
    """Everybody may put something there, so nothing is emptied and no link is followed."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)


def _is_inhabited(domain: int) -> bool:
    """Does somebody who holds no lock live in a domain? The ports of its first participants tell."""
    for participant in range(PARTICIPANTS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(
                    ("", FIRST_PORT + PORTS_A_DOMAIN * domain + PORTS_A_PARTICIPANT * participant)
                )
            except OSError:
                return True
    return False
