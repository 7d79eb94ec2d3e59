# SPDX-License-Identifier: Apache-2.0
"""Takes a serialised message without holding Python's interpreter lock, and no more of it than is wanted.

rclpy's own take copies a message twice while every other thread waits: for one of 80 MB a fifth of a second, in which
no command leaves. This one calls the same function of rcl through ctypes, which lets the others run, and makes a Python
object only of what is short enough.
"""

from __future__ import annotations

import ctypes

__all__ = ["HAS_SHORT_TAKE", "ShortTake"]

OK, NOTHING = 0, 401  # of rcl_ret_t: RCL_RET_OK, RCL_RET_SUBSCRIPTION_TAKE_FAILED
INFO_BYTES = 512  # more than any rmw_message_info_t has had
KEPT_BYTES = 1 << 20  # a larger buffer goes back to the system

try:
    _rcl, _rcutils = ctypes.CDLL("librcl.so"), ctypes.CDLL("librcutils.so")
    _take = _rcl.rcl_take_serialized_message
    _begin, _end = _rcutils.rcutils_uint8_array_init, _rcutils.rcutils_uint8_array_fini
    _default_allocator = _rcutils.rcutils_get_default_allocator
    HAS_SHORT_TAKE = True
except (OSError, AttributeError):  # another system, or another rcl
    HAS_SHORT_TAKE = False


class _Allocator(ctypes.Structure):
    """rcutils_allocator_t."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("allocate", "deallocate", "reallocate", "zero_allocate", "state")
    ]


class _Message(ctypes.Structure):
    """rcl_serialized_message_t."""

    _fields_ = [
        ("buffer", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("allocator", _Allocator),
    ]


if HAS_SHORT_TAKE:
    _take.argtypes = [ctypes.c_void_p] * 4
    _begin.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    _end.argtypes = [ctypes.c_void_p]
    _default_allocator.restype = _Allocator


class ShortTake:
    """A buffer for messages; one thread uses it."""

    def __init__(self) -> None:
        self._message, self._info = _Message(), ctypes.create_string_buffer(INFO_BYTES)
        self._place, self._allocator = ctypes.byref(self._message), _default_allocator()
        _begin(self._place, 0, ctypes.byref(self._allocator))

    def __call__(self, pointer: ctypes.c_void_p, most: int) -> tuple[bytes, int] | None:
        """The oldest message of a subscription and its size; no bytes if it has more than `most`; or None.

        pointer: Of the subscription's handle, which nobody may destroy meanwhile.
        """
        message = self._message
        result = _take(pointer, self._place, self._info, None)
        if result != OK:
            if result != NOTHING:
                _rcutils.rcutils_reset_error()
            return None
        size = message.length
        data = ctypes.string_at(message.buffer, size) if size <= most else b""
        if message.capacity > KEPT_BYTES:
            self.close()
            _begin(self._place, 0, ctypes.byref(self._allocator))
        return data, size

    def close(self) -> None:
        """Free the buffer."""
        _end(self._place)
