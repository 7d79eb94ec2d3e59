# SPDX-License-Identifier: Apache-2.0
"""Images: a controller as one versioned file, which the library opens; `runtime/opspace_image.h` says the format."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.targets.references import CAPACITY
from ..errors import ExportError, listed
from .stages import kernel_hash

__all__ = ["FIELD", "OPTIONAL", "ROLES", "FieldRow", "Image"]

MAGIC = b"opspace\0"
VERSION = 2
NONE = 2**64 - 1  # the place of a part that is not there
LINE = 64  # bytes that every section begins on a multiple of
CHECKED = 16  # bytes of the header before what the checksum is of
FIELD = np.dtype(
    [
        ("place", "<u8"),
        ("least", "<f8"),
        ("most", "<f8"),
        ("name", "<u4"),
        ("unit", "<u4"),
        ("choices", "<u4"),
        ("rows", "<u4"),
        ("columns", "<u4"),
        ("stride", "<u4"),
        ("is_whole", "u1"),
        ("is_live", "u1"),
        ("role", "S1"),
        ("kind", "S1"),
        ("spare", "V4"),
    ]
)
METHOD = np.dtype([("name", "<u4"), ("place", "<u4")])
GATE = np.dtype([("name", "<u4"), ("words", "<u4")])
DTYPES: dict[str, Any] = {
    "data": np.dtype("u1"),
    "pointers": np.dtype("<u4"),
    "calls": np.dtype("<u4"),
    "fields": FIELD,
    "joints": np.dtype("<u4"),
    "tasks": np.dtype("<u4"),
    "methods": METHOD,
    "gates": GATE,
    "frames": np.dtype("<u4"),
    "strings": np.dtype("u1"),
    "ticks": np.dtype("<f8"),
}
SECTIONS = tuple(DTYPES)
SECTION = np.dtype([("place", "<u8"), ("count", "<u8")])
HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("checksum", "<u4"),
        ("size", "<u8"),
        ("kernels", "<u8"),
        ("law", "<u8"),
        ("gates", "<u8"),
        ("engine", "<u8"),
        ("nq", "<u4"),
        ("nv", "<u4"),
        ("capacity", "<u4"),
        ("state", "<u4"),
        ("robot", "<u4"),
        ("target", "<u4"),
        ("sections", SECTION, len(SECTIONS)),
    ]
)
NUMBERS = ("kernels", "law", "gates", "engine", "nq", "nv", "capacity", "state")  # of a header
OPTIONAL = "optional_array"  # a list of numbers that may be empty: then they are NaN
ROLES = {
    "count": b"c",
    "constant": b"c",
    "setting": b"s",
    "state": b"t",
    "result": b"r",
    "scratch": b"w",
    "part": b"p",
}
KINDS = {
    "": b"",
    "bool": b"b",
    "integer": b"i",
    "double": b"d",
    "string": b"s",
    "double_array": b"D",
    "string_array": b"S",
    OPTIONAL: b"O",
}
CODES: dict[str, dict[str, bytes]] = {"role": ROLES, "kind": KINDS}


@dataclass(frozen=True)
class FieldRow:
    """A line of the table of names; (row, column) is the number at place + 8 * (row * stride + column) of the data."""

    name: str
    place: int
    rows: int
    columns: int
    stride: int
    is_whole: bool
    role: str
    is_live: bool = False
    least: float = -np.inf
    most: float = np.inf
    unit: str = ""
    choices: str = ""
    kind: str = ""  # of a parameter, as ROS spells it, or OPTIONAL


@dataclass(frozen=True)
class Image:
    """A controller, or a simulated robot, as data.

    Attributes:
        robot, target: Its name, and the processor that the reference ticks were recorded on.
        nq, nv: Sizes of q and v.
        data, pointers, calls: See `memory`.
        fields: In the order of their names.
        joints: Names, in the order of the command.
        kernels: Which kernels it is for.
        law, gates, engine: Places of the controller, its gates and a simulated robot in the data, or NONE.
        capacity: Rows of a program, see `targets.references`.
        state: Words of a simulated robot's state.
        tasks: Names, in the order of the user.
        methods: (name, place of its workspace in the data).
        gate_words: (name, what it means that it is closed) of every gate.
        frames: Names, of a simulated robot.
        ticks: (n, 1 + nq + nv + joints) time, q, v and tau: the command in that state, or the state after that effort.
    """

    robot: str
    nq: int
    nv: int
    data: NDArray[np.uint8]
    pointers: NDArray[np.uint32]
    calls: NDArray[np.uint32]
    fields: Sequence[FieldRow]
    joints: Sequence[str]
    kernels: int
    law: int = NONE
    gates: int = NONE
    engine: int = NONE
    capacity: int = CAPACITY
    state: int = 0
    tasks: Sequence[str] = ()
    methods: Sequence[tuple[str, int]] = ()
    gate_words: Sequence[tuple[str, str]] = ()
    frames: Sequence[str] = ()
    ticks: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 1)))
    target: str = ""

    def with_ticks(self, ticks: NDArray[np.float64], target: str) -> Image:
        """The same with reference ticks, recorded on a processor."""
        return replace(self, ticks=ticks, target=target)

    def packed(self) -> bytes:
        """The file."""
        strings = _Strings()
        header = np.zeros((), HEADER)
        header["magic"], header["version"] = MAGIC, VERSION
        for name in NUMBERS:
            header[name] = getattr(self, name)
        header["robot"], header["target"] = strings.place(self.robot), strings.place(self.target)
        parts = {
            "data": self.data,
            "pointers": self.pointers,
            "calls": self.calls,
            "fields": _packed_fields(self.fields, strings),
            "joints": strings.places(self.joints),
            "tasks": strings.places(self.tasks),
            "methods": [(strings.place(name), place) for name, place in self.methods],
            "gates": [tuple(strings.places(each)) for each in self.gate_words],
            "frames": strings.places(self.frames),
            "ticks": self.ticks.ravel(),
        }
        parts["strings"] = np.frombuffer(bytes(strings.bytes), np.uint8)
        whole = bytearray(HEADER.itemsize)
        for number, name in enumerate(SECTIONS):
            content = np.array(parts[name], DTYPES[name])
            whole += bytes(-len(whole) % LINE)
            header["sections"][number] = len(whole), content.size
            whole += content.tobytes()
        header["size"] = len(whole)
        whole[: HEADER.itemsize] = header.tobytes()
        header["checksum"] = zlib.crc32(whole[CHECKED:])
        whole[: HEADER.itemsize] = header.tobytes()
        return bytes(whole)

    @classmethod
    def unpacked(cls, file: bytes) -> Image:
        """Read a file.

        Raises:
            ExportError: It is no image, of another version, or damaged.
        """
        header = _checked_header(file)
        parts: dict[str, Any] = {}
        for name, section in zip(SECTIONS, header["sections"]):
            place, count = int(section["place"]), int(section["count"])
            if place + count * DTYPES[name].itemsize > len(file):
                raise ExportError(f"the image is damaged: {name} reaches beyond its end")
            parts[name] = np.frombuffer(file, DTYPES[name], count, place)
        strings = parts["strings"].tobytes()

        def text(place: int) -> str:
            return strings[place : strings.index(b"\0", place)].decode()

        found: dict[str, Any] = {name: int(header[name]) for name in NUMBERS}
        found |= {name: parts[name] for name in ("data", "pointers", "calls")}
        for name in ("joints", "tasks", "frames"):
            found[name] = [text(each) for each in parts[name]]
        row = 1 + found["nq"] + found["nv"] + len(found["joints"])
        return cls(
            **found,
            robot=text(header["robot"]),
            target=text(header["target"]),
            fields=[_field_row(each, text) for each in parts["fields"]],
            methods=[(text(each["name"]), int(each["place"])) for each in parts["methods"]],
            gate_words=[(text(each["name"]), text(each["words"])) for each in parts["gates"]],
            ticks=parts["ticks"].reshape(-1, row),
        )

    def check_kernels(self) -> None:
        """Raise ExportError if it is for the kernels of another release."""
        if self.kernels != kernel_hash():
            raise ExportError("the image is for the kernels of another release: export it again")

    def field(self, name: str) -> FieldRow:
        """The line of a name."""
        for each in self.fields:
            if each.name == name:
                return each
        raise ExportError(
            f"no field {name!r}; valid are {listed(each.name for each in self.fields)}"
        )


class _Strings:
    """Texts, each once."""

    def __init__(self) -> None:
        self.bytes = bytearray(b"\0")
        self._places = {"": 0}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.bytes)
            self.bytes += text.encode() + b"\0"
        return self._places[text]

    def places(self, texts: Iterable[str]) -> list[int]:
        return [self.place(each) for each in texts]


def _packed_fields(fields: Sequence[FieldRow], strings: _Strings) -> NDArray[np.void]:
    packed = np.zeros(len(fields), FIELD)
    for row, each in zip(packed, sorted(fields, key=lambda field: field.name.encode())):
        for name in FIELD.names or ():
            if name in ("name", "unit", "choices"):
                row[name] = strings.place(getattr(each, name))
            elif name != "spare":
                value = getattr(each, name)
                row[name] = CODES[name][value] if name in CODES else value
    return packed


def _field_row(row: np.void, text) -> FieldRow:
    roles, kinds = ({code: word for word, code in each.items()} for each in (ROLES, KINDS))
    return FieldRow(
        text(row["name"]),
        int(row["place"]),
        int(row["rows"]),
        int(row["columns"]),
        int(row["stride"]),
        bool(row["is_whole"]),
        roles[bytes(row["role"])],
        bool(row["is_live"]),
        float(row["least"]),
        float(row["most"]),
        text(row["unit"]),
        text(row["choices"]),
        kinds[bytes(row["kind"])],
    )


def _checked_header(file: bytes) -> np.void:
    if len(file) < HEADER.itemsize or file[: len(MAGIC)] != MAGIC:
        raise ExportError("this is no image of a robot")
    header = np.frombuffer(file, HEADER, 1)[0]
    if header["version"] != VERSION:
        raise ExportError(f"an image of version {header['version']}; valid is {VERSION}")
    if header["size"] != len(file) or header["checksum"] != zlib.crc32(file[CHECKED:]):
        raise ExportError("the image is damaged: its checksum is another")
    return header
