# SPDX-License-Identifier: Apache-2.0
"""Memory that kernels work on, declared once: name, shape, meaning, and what it is.

    class Tree(Workspace):
        n = count("nodes")
        parent = constant("n", "parent of each node; n is the world", int)
        H = result("n, D", "joint-space inertia by depth")

    tree = Tree(n=7, D=7, parent=[...])      allocates every field by its shape; what is not given is zero
    tree.H                                   a NumPy view, live
    def crba(tree): H, n = tree.H, tree.n    the same names in a kernel: a pointer with a stride, a number

What a field is says who writes it and how long it lasts: a `constant` of the robot, a `setting` that the user may
change at any time, `state` that one tick leaves to the next, a `result`, or `scratch` that nobody may rely on after the
kernel that writes it. A shape is made of the counts of the same class; an empty one is a single number.

A workspace may hold others (`part`): a kernel of a lower layer is handed `space.tree` and sees nothing else. A part can
be exchanged while kernels run, in one write: that is how a method, its kernel and its fields together, is switched.
"""

from __future__ import annotations

import functools
import hashlib
import weakref
from collections.abc import Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast, overload

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from . import lanes
from .lanes import Rows, W, compiled_form

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_WORD, _REAL = ir.IntType(64), ir.DoubleType()
_LINE = 64  # bytes of a cache line, and of a register
_alive: weakref.WeakValueDictionary[int, Workspace] = weakref.WeakValueDictionary()
_declared: dict[str, type[Workspace]] = {}  # by the name of the Numba type


class Field:
    """One field of a workspace class; on a workspace it is the number, the array or the part itself.

    Attributes:
        name: Of the attribute.
        role: "count", "constant", "setting", "state", "result", "scratch", "part" or "call".
        kind: What is stored: "int", "float" (single numbers), "ints", "floats" (arrays), "part" or "call".
        shape: An expression of counts such as "n, D"; empty for a single number.
        doc: What it means, with units.
        part: The class of a part.
        place: Its number in the header.
    """

    name: str
    place: int

    def __init__(
        self, role: str, kind: str, shape: str, doc: str, part: type[Workspace] | None = None
    ):
        self.role, self.kind, self.shape, self.doc, self.part = role, kind, shape, doc, part

    def __set_name__(self, owner, name):
        self.name = name

    @property
    def is_array(self) -> bool:
        """Does it have a block of memory of its own?"""
        return self.kind in ("ints", "floats")

    @property
    def is_fixed(self) -> bool:
        """Does its entry in the header stay as it is while kernels run? That of an array is its address and stride."""
        return self.is_array or self.role in ("count", "constant")

    def sized(self, counts: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for some counts; the expression is our own text, not a user's."""
        return eval(self._expression, {"max": max}, dict(counts))

    @functools.cached_property
    def _expression(self) -> CodeType:
        return compile(f"({self.shape},)", f"shape of {self.name}", "eval")

    def __get__(self, work: Workspace | None, owner=None) -> Any:
        if work is None:
            return self
        if self.kind == "int":
            return int(work.head[self.place, 0])
        if self.kind == "float":
            return work.head.view(float)[self.place, 0]
        return work._held[self.name]

    def __set__(self, work: Workspace, value) -> None:
        if self.kind == "int":
            work.head[self.place, 0] = value
        elif self.kind == "float":
            work.head.view(float)[self.place, 0] = value
        elif self.is_array:
            work._held[self.name][...] = value
        else:
            if self.part and not isinstance(value, self.part):
                raise TypeError(
                    f"{self.name} takes a {self.part.__name__}, not a {type(value).__name__}"
                )
            before = work._held.get(self.name)
            work._held[self.name] = value
            # one write: a kernel sees the old one or the new one
            work.head[self.place, 0] = value.address
            del before  # only now is it let go


if TYPE_CHECKING:  # what an editor sees: on a workspace a field is a number or an array

    class _Whole:
        def __get__(self, work: Workspace, owner: Any) -> int: ...
        def __set__(self, work: Workspace, value: int) -> None: ...

    class _Real:
        def __get__(self, work: Workspace, owner: Any) -> float: ...
        def __set__(self, work: Workspace, value: float) -> None: ...

    class _Array:
        def __get__(self, work: Workspace, owner: Any) -> np.ndarray: ...
        def __set__(self, work: Workspace, value: ArrayLike) -> None: ...

    class _Declare(Protocol):
        @overload  # an empty shape is a text too, but comes first
        def __call__(self, shape: Literal[""], doc: str) -> _Real: ...  # type: ignore[overload-overlap]
        @overload
        def __call__(  # type: ignore[overload-overlap]
            self, shape: Literal[""], doc: str, dtype: type[int]
        ) -> _Whole: ...
        @overload
        def __call__(self, shape: str, doc: str, dtype: type = ...) -> _Array: ...


def count(doc: str) -> _Whole:
    """A whole number that is given when a workspace is made; shapes are made of these."""
    return cast("_Whole", Field("count", "int", "", doc))


def _numbers(role: str) -> _Declare:
    def declare(shape: str, doc: str, dtype: type = float):
        return Field(role, dtype.__name__ + ("s" if shape else ""), shape, doc)

    return cast("_Declare", declare)


constant = _numbers("constant")
setting = _numbers("setting")
state = _numbers("state")
result = _numbers("result")
scratch = _numbers("scratch")


def part(of: type[Workspace], doc: str) -> Any:
    """Another workspace, exchanged in one write."""
    return Field("part", "part", "", doc, of)


def call(doc: str) -> Any:
    """A stage, see `jit.stage`."""
    return Field("call", "call", "", doc)


class WorkspaceType(types.Type):
    """Numba's type of all declared workspaces, told apart by name, so that its cache knows them again."""

    def __init__(self, name: str):
        super().__init__(name=name)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of the class, by name."""
        return _declared[self.name].fields


class Workspace:
    """Base of all workspaces.

    Attributes:
        address: What stands for it in compiled code; valid while it lives.
        head: (fields, 2) of each field the address of its numbers (or the number itself) and the stride of its rows.
    """

    fields: ClassVar[Mapping[str, Field]] = {}
    # {name of a call field: the stage that every workspace of the class has in it}
    stages: ClassVar[dict[str, Any]] = {}
    type: ClassVar[WorkspaceType]

    def __init_subclass__(cls, declared: Mapping[str, Any] | None = None):
        """`declared`: fields by name that are declared elsewhere, made by `setting` and the like."""
        for name, each in (declared or {}).items():
            each.__set_name__(cls, name)
            setattr(cls, name, each)
        cls.stages = {}
        inherited = getattr(cls.__base__, "fields", {})
        own = {name: each for name, each in vars(cls).items() if isinstance(each, Field)}
        if inherited and not own:
            return  # what has no fields of its own has the type of its base
        # those of the base come first: a subclass is laid out as its base
        cls.fields = {**inherited, **own}
        for place, each in enumerate(cls.fields.values()):
            each.place = place
        layout = [(name, f.kind, f.part and f.part.type.name) for name, f in cls.fields.items()]
        digest = hashlib.sha256(repr(layout).encode()).hexdigest()[:8]
        # another layout is another type, in caches too
        cls.type = WorkspaceType(f"{cls.__name__}_{digest}")
        _declared[cls.type.name] = cls

    def __init__(self, **given):
        unknown = given.keys() - self.fields.keys()
        missing = [
            name for name, f in self.fields.items() if f.role == "count" and name not in given
        ]
        if unknown or missing:
            wrong = [f"no field {name}" for name in sorted(unknown)] + [
                f"no count {name}" for name in missing
            ]
            raise TypeError(f"{type(self).__name__}: {', '.join(wrong)}")
        self._held: dict[str, Any] = {}
        self._places: dict[str, slice] = {}  # of arrays, in `_block`
        counts = {name: int(given[name]) for name, f in self.fields.items() if f.role == "count"}
        self._allocate({name: f.sized(counts) for name, f in self.fields.items() if f.is_array})
        _alive[self.address] = self
        stages: dict[str, Any] = {}
        for base in reversed(type(self).__mro__):
            stages.update(vars(base).get("stages", {}))
        for name, value in {**stages, **given}.items():
            setattr(self, name, value)

    def _allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """One block of memory: the header, then every array; rows begin on a register and have room for a whole one."""
        header = _padded(2 * len(self.fields))
        strides = {name: _padded(s[1]) if len(s) == 2 else 1 for name, s in shapes.items()}
        sizes = {name: _padded(s[0] * strides[name]) + W for name, s in shapes.items()}
        block = np.empty(8 * (header + sum(sizes.values())) + _LINE, np.uint8)
        block.fill(
            0
        )  # gives the interpreter away meanwhile, which `zeros` does not: a loop may tick beside us
        start = -block.ctypes.data % _LINE
        self._block = block[start:]
        self.head = self._block[: 16 * len(self.fields)].view(np.int64).reshape(-1, 2)
        self.address = int(self.head.ctypes.data)
        place = 8 * header
        for name, shape in shapes.items():
            dtype = float if self.fields[name].kind == "floats" else np.int64
            self._places[name] = slice(place, place + 8 * sizes[name])
            memory = self._block[self._places[name]].view(dtype)
            place += 8 * sizes[name]
            self._held[name] = _shown(memory, shape, strides[name])
            self.head[self.fields[name].place] = memory.ctypes.data, strides[name]

    def share(self, name: str, other: str) -> None:
        """Let a field be another name of the memory of `other`."""
        self._held[name] = self._held[other]
        self.head[self.fields[name].place] = self.head[self.fields[other].place]

    def lend(self, name: str, memory: np.ndarray) -> None:
        """Let an array of one dimension be another vector of the same kind of numbers, of any length."""
        self._held[name] = _shown(memory, memory.shape, 1)
        self.head[self.fields[name].place] = memory.ctypes.data, 1

    def words(self, role: str) -> np.ndarray:
        """The memory of all arrays of a role as one vector of integers, bit for bit.

        Raises:
            TypeError: Arrays of other roles are declared between them.
        """
        arrays = [name for name, each in self.fields.items() if each.is_array]
        own = [name for name in arrays if self.fields[name].role == role]
        first = arrays.index(own[0])
        if arrays[first : first + len(own)] != own:
            raise TypeError(f"{type(self).__name__}: arrays of role {role} are not neighbours")
        return self._block[self._places[own[0]].start : self._places[own[-1]].stop].view(np.int64)

    def reset(self, *roles: str) -> None:
        """Zeros into all fields of some roles ("state" if none is named), single numbers among them."""
        for name, each in self.fields.items():
            if each.role in (roles or ("state",)):
                setattr(self, name, 0)

    @classmethod
    def described(cls) -> str:
        """The fields that the class itself declares as a table in Markdown, for docs/fields.md."""
        rows = [f"### {cls.__name__}", "", (cls.__doc__ or "").strip().splitlines()[0], ""]
        rows += ["| field | shape | is | meaning |", "|---|---|---|---|"]
        for name, each in vars(cls).items():
            if isinstance(each, Field):
                what = each.part.__name__ if each.part else each.role
                is_whole = each.kind in ("int", "ints") and each.role != "count"
                shape = f"({each.shape})" if each.shape else ""
                meaning = each.doc.replace("|", "\\|")
                rows.append(f"| `{name}` | {shape} | {what}{', int' * is_whole} | {meaning} |")
        return "\n".join(rows)

    def __reduce__(self):
        raise TypeError(
            "a workspace is memory that kernels hold addresses of: it cannot be copied or pickled"
        )


def _padded(size: int) -> int:
    """`size` rounded up to whole registers."""
    return -(-size // W) * W


def _shown(memory: np.ndarray, shape: tuple[int, ...], stride: int) -> np.ndarray:
    """The array that Python sees: of the declared shape; uncompiled kernels can also read its padding."""
    view = memory[: shape[0] * stride]
    view = view.reshape(shape[0], stride)[:, : shape[1]] if len(shape) == 2 else view
    if not config.DISABLE_JIT:
        return view
    rows = view.view(Rows)
    rows.memory, rows.stride = memory, stride
    return rows


# ---- what Numba has to know ----


@register_model(WorkspaceType)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _WORD)


_TYPES = {
    "int": types.int64,
    "float": types.float64,
    "ints": lanes.ints,
    "floats": lanes.floats,
    "call": types.int64,
}


@infer_getattr
class _Attributes(AttributeTemplate):
    key = WorkspaceType

    def generic_resolve(self, work, name):
        field = work.fields.get(name)
        return field and (field.part.type if field.part else _TYPES[field.kind])


def place_of(builder, work, field, word=0):
    """The address of a word of a field's entry in the header."""
    head = builder.inttoptr(work, _WORD.as_pointer())
    return cgutils.gep_inbounds(builder, head, 2 * field.place + word)


def _load(builder, work, field, word=0):
    """Read a word of a field's entry; if it is fixed LLVM is told so, and reads it before a loop and not in it."""
    found = builder.load(place_of(builder, work, field, word))
    if field.is_fixed:
        found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


@lower_getattr_generic(WorkspaceType)
def _get(context, builder, work, value, name):
    field = work.fields[name]
    first = _load(builder, value, field)
    if field.kind == "float":
        return builder.bitcast(first, _REAL)
    if not field.is_array:
        return first
    rows = cgutils.create_struct_proxy(_TYPES[field.kind])(context, builder)
    rows.data = builder.inttoptr(first, rows.data.type)
    rows.stride = _load(builder, value, field, 1)
    return rows._getvalue()


@lower_setattr_generic(WorkspaceType)
def _set(context, builder, sig, args, name):
    field = sig.args[0].fields[name]
    if field.is_fixed:
        raise TypeError(
            f"{name} is fixed: a kernel may write into an array, but not a {field.role}"
        )
    value = builder.bitcast(args[1], _WORD) if args[1].type == _REAL else args[1]
    builder.store(value, place_of(builder, args[0], field))


@typeof_impl.register(Workspace)
def _typeof(work, context):
    return work.type


@unbox(WorkspaceType)
def _unbox(work_type, work, c):
    address = c.pyapi.object_getattr_string(work, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value)


def workspace_at(cls: type[Workspace]):
    """`space_at = workspace_at(Space)`: what gives the workspace at an address, in an entry or a kernel."""

    def at(address):
        return _alive[address]

    @compiled_form(at, signature(cls.type, types.int64))
    def lower(context, builder, sig, args):
        return args[0]

    return at
