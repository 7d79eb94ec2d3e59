"""Methods and attributes that are kernels: from an object of ours into compiled code, with no Python frame on the way.

A class derives from `Compiled`, which keeps the header of the object's workspace where machine code finds it. Its
methods are written in Python, with their documentation, and marked `fast(kernel)`; its attributes are `FastProperty`s.
The first object calls `install`, which puts CPython's own kind of method in their place. What is written in Python then
serves what the kernel does not take: lists, other numbers than doubles, what is not finite. Of 110 ns that a Python
method around a kernel takes 20 are left.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, sigutils
from numba.extending import intrinsic

from .fastcall import DATA, WORD, Callee, MethodDef

__all__ = ["Compiled", "FastProperty", "fast", "getter_adapter", "install", "method_adapter"]

_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_HEAD = object.__basicsize__ // 8  # the word of a `Compiled` that points to the header
_installing = Lock()
_marked: dict[
    Callable[..., Any], Any
] = {}  # not yet installed; by identity, so what wraps one of them is left alone
_Method = TypeVar("_Method", bound=Callable[..., Any])


class Compiled:
    """An object whose fast methods work on the workspace that `_head` is the header of (`Workspace.head`)."""

    __slots__ = ("_head",)
    _head: np.ndarray


def fast(kernel) -> Callable[[_Method], _Method]:
    """Mark a method: `kernel` (of `jit.method`) does it, this is what does what the kernel refuses."""

    def mark(func: _Method) -> _Method:
        _marked[func] = kernel
        return func

    return mark


class FastProperty(property):
    """An attribute that `kernel` (of `jit.getter`) reads, given a number; where it refuses, `_read_refused()` does."""

    def __init__(self, kernel, number: int, doc: str):
        super().__init__(lambda self: self._read_refused())
        self.kernel, self.number, self.__doc__ = kernel, number, doc


def install(cls: type) -> None:
    """Compile the fast methods and attributes of a class and put them in place, unless they are."""
    with _installing:  # who comes second finds all of them
        for name, member in list(vars(cls).items()):
            if isinstance(member, FastProperty):
                setattr(
                    cls,
                    name,
                    _new_attribute(
                        cls,
                        _lasting(
                            _AttributeDef(
                                name.encode(),
                                member.kernel.address(),
                                None,
                                member.__doc__.encode(),
                                member.number,
                            )
                        ),
                    ),
                )
            elif inspect.isfunction(member) and member in _marked:
                kernel, doc = (
                    _marked[member],
                    f"{name}{_bare_signature(member)}\n--\n\n{inspect.getdoc(member)}",
                )
                made = _new_method(
                    cls,
                    _lasting(
                        MethodDef(
                            name.encode(), kernel.address(), _METH_FASTCALL_KEYWORDS, doc.encode()
                        )
                    ),
                )
                del _marked[member]
                setattr(cls, f"_{kernel.__name__}_refused", member)
                setattr(cls, name, made)


def _bare_signature(func) -> str:
    """The names and defaults of a method's arguments, as `inspect` wants them: "$" marks the one that is bound."""
    parameters = [
        p.replace(annotation=p.empty) for p in inspect.signature(func).parameters.values()
    ]
    return "($" + str(inspect.Signature(parameters))[1:]


# ---- what Python calls ------------------------------------------------------------------------------------------


def method_adapter(part, name: str, signature, defaults: tuple, returns_self: bool):
    """A C function for Numba: takes `part`'s arguments from Python, the workspace from the object, and calls it.

    Args:
        part: The kernel; returns the address of an object to give to Python, 0 where it refuses.
        name: Of the kernel; the object's `_<name>_refused` is called where it refuses.
        signature: Of the kernel: vectors and flags, the workspace last.
        defaults: What the last arguments before it are when they are not given. A vector that is None is at address 0.
        returns_self: Whether Python is given the object itself instead.
    """
    arg_types, _ = sigutils.normalize_signature(signature)
    names = [*inspect.signature(part.py_func).parameters][:-1]

    @intrinsic
    def invoke(typingctx, owner, arguments, number, keywords):
        kernel = Callee(typingctx, part, arg_types)

        def codegen(context, builder, sig, args):
            api, (owner, objects, number, keywords) = context.get_python_api(builder), args
            objects, keywords = (
                builder.inttoptr(objects, api.pyobj.as_pointer()),
                builder.inttoptr(keywords, api.pyobj),
            )

            def call(w):
                found = cgutils.alloca_once_value(builder, ir.Constant(WORD, 0))
                given, known = (
                    _Given(api, names, defaults),
                    cgutils.alloca_once_value(builder, cgutils.true_bit),
                )
                builder.store(given.take(objects, number), known)
                with builder.if_then(cgutils.is_not_null(builder, keywords), likely=False):
                    given.take_keywords(context, objects, number, keywords, known)
                values, usable = given.values(arg_types[:-1])
                with builder.if_then(builder.and_(builder.load(known), usable), likely=True):
                    builder.store(kernel.call(context, builder, [*values, w]), found)
                found = builder.load(found)
                return (
                    builder.select(cgutils.is_null(builder, found), found, owner)
                    if returns_self
                    else found
                )

            return _called(
                api,
                owner,
                call,
                f"_{name}_refused",
                lambda hook: _call_again(api, hook, objects, number, keywords),
            )

        return types.int64(*[types.int64] * 4), codegen

    def method(owner, arguments, number, keywords):
        return invoke(owner, arguments, number, keywords)

    return method


def _call_again(api, hook, objects, number, keywords):
    """Call a Python function with the same arguments, as a tuple and a dict: Python 3.10 exports no shorter way."""
    builder = api.builder
    new = api._get_function(ir.FunctionType(api.pyobj, [WORD]), name="PyTuple_New")
    put = api._get_function(
        ir.FunctionType(ir.IntType(32), [api.pyobj, WORD, api.pyobj]), name="PyTuple_SetItem"
    )
    item = api._get_function(ir.FunctionType(api.pyobj, [api.pyobj, WORD]), name="PyTuple_GetItem")
    positional, named = builder.call(new, [number]), api.dict_new()
    with cgutils.for_range(builder, number) as loop:
        value = builder.load(cgutils.gep_inbounds(builder, objects, loop.index))
        api.incref(value)  # the tuple takes it
        builder.call(put, [positional, loop.index, value])
    with builder.if_then(cgutils.is_not_null(builder, keywords)):
        with cgutils.for_range(builder, api.tuple_size(keywords)) as loop:
            value = builder.load(
                cgutils.gep_inbounds(builder, objects, builder.add(number, loop.index))
            )
            api.dict_setitem(named, builder.call(item, [keywords, loop.index]), value)
    found = api.call(hook, positional, named)
    api.decref(positional)
    api.decref(named)
    return found


class _Given:
    """Emits code that sorts arguments by the parameters they are for: NULL where there is none and no default."""

    def __init__(self, api, names: list[str], defaults: tuple):
        self._api, self._names, self._builder = api, names, api.builder
        self._flags = {value: api.get_c_object(f"_Py_{value}Struct") for value in (True, False)}
        null = ir.Constant(api.pyobj, None)
        start = [null] * (len(names) - len(defaults)) + [
            self._flags.get(default, null) for default in defaults
        ]
        self._places = [cgutils.alloca_once_value(self._builder, value) for value in start]

    def take(self, objects, number):
        """Take arguments by position; returns whether there are not too many."""
        for i, place in enumerate(self._places):
            with self._builder.if_then(
                self._builder.icmp_signed(">", number, ir.Constant(WORD, i)), likely=True
            ):
                self._builder.store(
                    self._builder.load(cgutils.gep_inbounds(self._builder, objects, i)), place
                )
        return self._builder.icmp_signed("<=", number, ir.Constant(WORD, len(self._places)))

    def take_keywords(self, context, objects, number, keywords, known) -> None:
        """Take arguments by name, which follow the others; `known` becomes false if one is not, or given already."""
        builder, api = self._builder, self._api
        compare = api._get_function(
            ir.FunctionType(ir.IntType(32), [api.pyobj, api.cstring]),
            name="PyUnicode_CompareWithASCIIString",
        )
        item = api._get_function(
            ir.FunctionType(api.pyobj, [api.pyobj, WORD]), name="PyTuple_GetItem"
        )
        with cgutils.for_range(builder, api.tuple_size(keywords)) as loop:
            name, found = builder.call(item, [keywords, loop.index]), cgutils.false_bit
            value = builder.load(
                cgutils.gep_inbounds(builder, objects, builder.add(number, loop.index))
            )
            for i, place in enumerate(self._places):
                same = builder.icmp_signed(
                    "==",
                    builder.call(
                        compare, [name, context.insert_const_string(builder.module, self._names[i])]
                    ),
                    ir.Constant(ir.IntType(32), 0),
                )
                fits = builder.and_(same, builder.icmp_signed("<=", number, ir.Constant(WORD, i)))
                builder.store(builder.select(fits, value, builder.load(place)), place)
                found = builder.or_(found, fits)
            builder.store(builder.and_(builder.load(known), found), known)

    def values(self, kinds):
        """The arguments as the kernel takes them; and whether all flags are True or False themselves."""
        builder, values, usable = self._builder, [], cgutils.true_bit
        for kind, place in zip(kinds, self._places):
            value = builder.load(place)
            if kind == types.boolean:
                is_true, is_false = (
                    builder.icmp_unsigned("==", value, self._flags[flag]) for flag in (True, False)
                )
                usable = builder.and_(usable, builder.or_(is_true, is_false))
                values.append(is_true)
            else:
                is_none = builder.icmp_unsigned("==", value, self._api.borrow_none())
                values.append(
                    builder.select(is_none, ir.Constant(WORD, 0), builder.ptrtoint(value, WORD))
                )
        return values, usable


def getter_adapter(part):
    """A C function for Numba: `part(number, w)`, which returns the address of an object, 0 where it refuses."""

    @intrinsic
    def invoke(typingctx, owner, number):
        kernel = Callee(typingctx, part, (types.int64, types.int64))

        def codegen(context, builder, sig, args):
            api, (owner, number) = context.get_python_api(builder), args
            return _called(
                api,
                owner,
                lambda w: kernel.call(context, builder, [number, w]),
                "_read_refused",
                lambda hook: api.call_function_objargs(hook, ()),
            )

        return types.int64(types.int64, types.int64), codegen

    def getter(owner, number):
        return invoke(owner, number)

    return getter


def _called(api, owner, call, hook: str, refused):
    """A new reference to what `call(w)` finds; where it refuses, to what the hook of the object returns."""
    builder = api.builder
    out = cgutils.alloca_once_value(builder, ir.Constant(WORD, 0))
    head = builder.load(
        cgutils.gep_inbounds(builder, builder.inttoptr(owner, WORD.as_pointer()), _HEAD)
    )
    with builder.if_then(cgutils.is_not_null(builder, head), likely=True):
        found = call(
            builder.load(
                cgutils.gep_inbounds(builder, builder.inttoptr(head, WORD.as_pointer()), DATA)
            )
        )
        with builder.if_then(cgutils.is_not_null(builder, found), likely=True):
            api.incref(builder.inttoptr(found, api.pyobj))
            builder.store(found, out)
    with builder.if_then(cgutils.is_null(builder, builder.load(out)), likely=False):
        bound = api.object_getattr_string(builder.inttoptr(owner, api.pyobj), hook)
        with builder.if_then(cgutils.is_not_null(builder, bound)):
            builder.store(builder.ptrtoint(refused(bound), WORD), out)
            api.decref(bound)
    return builder.load(out)


# ---- CPython's descriptors --------------------------------------------------------------------------------------


class _AttributeDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("get", ctypes.c_void_p),
        ("set", ctypes.c_void_p),
        ("doc", ctypes.c_char_p),
        ("number", ctypes.c_void_p),
    ]


_new_method = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.POINTER(MethodDef))(
    ("PyDescr_NewMethod", ctypes.pythonapi)
)
_new_attribute = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.py_object, ctypes.POINTER(_AttributeDef)
)(("PyDescr_NewGetSet", ctypes.pythonapi))
_definitions: list[ctypes.Structure] = []  # for good: descriptors point to them


def _lasting(definition: ctypes.Structure):
    _definitions.append(definition)
    return definition


def _check_layout() -> None:
    """The header is where we look for it, on this Python."""
    probe = Compiled()
    probe._head = np.zeros(1)
    if ctypes.c_int64.from_address(id(probe) + 8 * _HEAD).value != id(probe._head):
        raise ImportError("opspace_ctrl does not know how this build of Python lays out an object")


_check_layout()
