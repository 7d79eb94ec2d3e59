# SPDX-License-Identifier: Apache-2.0
"""Types that others announce: messages that are installed, and no module besides."""

import sys

import pytest
from std_msgs.msg import Bool

from opspace_ctrl.nodes.recorder import _message_class


def test_an_installed_message_is_found():
    assert _message_class("std_msgs/msg/Bool") is Bool


@pytest.mark.parametrize(
    "kind",
    ["", "std_msgs", "std_msgs/Bool", "std_msgs/msg/Nothing", "nowhere/msg/Bool", "a/b/c/d", "this/msg/s",
     "antigravity/msg/Bool", "std_msgs/msg/../os", "std_msgs.msg/msg/Bool", "/msg/Bool", "std_msgs/srv/Bool"],
)  # fmt: skip
def test_no_other_name_imports_anything(kind):
    before = set(sys.modules)
    assert _message_class(kind) is None
    assert not {"antigravity", "this"} & (set(sys.modules) - before)
