# SPDX-License-Identifier: Apache-2.0
"""Object code of stages for any processor that LLVM knows: what a C program is linked with.

Every stage becomes a C function `void f(int64_t or double, ...)` of the addresses of workspaces and of numbers, and a
table lists them all: a call field of a workspace that is to work with them holds the address of one. The machine code
is made of the same text as Numba's own, after its passes, and none goes over it again: so that what was contracted, and
every result, is the same. Python is needed nowhere: of what Numba puts around a function only the function is kept.
"""

from collections.abc import Mapping

from llvmlite import binding
from numba import types

from .jit import Stage, prepare

__all__ = ["emit"]

LEAST_LLVM = 15  # the first whose text has pointers without types


def emit(
    stages: Mapping[str, Stage], triple: str, cpu: str, features: str = "", table: str = "stages"
) -> bytes:
    """An object file with a C function of each name, hidden from other libraries, and the table of all in this order.

    Args:
        stages: By the names of their C functions.
        triple: Of the target, such as "aarch64-unknown-linux-gnu".
        cpu, features: As LLVM's tools take them.
        table: Name of the table.

    Raises:
        RuntimeError: LLVM does not know the target, or is too old.
    """
    if binding.llvm_version_info[0] < LEAST_LLVM:
        raise RuntimeError(f"LLVM {binding.llvm_version_info[0]} (valid: {LEAST_LLVM} or newer)")
    prepare(stages.values())
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default"
    )
    whole = binding.parse_assembly(_table(table, stages))
    for name, each in stages.items():
        whole.link_in(_function(name, each))
    whole.triple, whole.data_layout = triple, str(machine.target_data)
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, binding.create_pass_builder(machine, binding.PipelineTuningOptions()))
    return machine.emit_object(whole)


def _table(name: str, stages: Mapping[str, Stage]) -> str:
    """The table in LLVM's language."""
    declared = "\n".join(f"declare void @{each}({_types(stages[each])})" for each in stages)
    listed = ", ".join(f"ptr @{each}" for each in stages)
    return f"{declared}\n@{name} = hidden constant [{len(stages)} x ptr] [{listed}]\n"


def _function(name: str, stage: Stage) -> binding.ModuleRef:
    """A module with a C function that calls the stage as Numba's functions are called: int f(result*, error**, ...)."""
    module = binding.parse_assembly(stage.text())
    wrapped = next(each.name for each in module.functions if each.name.startswith("cfunc."))
    symbol = wrapped.removeprefix("cfunc.")
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name != symbol:
            each.linkage = binding.Linkage.internal
    kinds = _types(stage).split(", ")
    given = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    module.link_in(
        binding.parse_assembly(
            f"declare i32 @{symbol}(ptr, ptr, {', '.join(kinds)})\n"
            f"define hidden void @{name}({given}) {{\n"
            "  %result = alloca ptr\n  %error = alloca ptr\n"
            f"  %status = call i32 @{symbol}(ptr %result, ptr %error, {given})\n"
            "  ret void\n}\n"
        )
    )
    module.get_function(symbol).linkage = binding.Linkage.internal
    return module


def _types(stage: Stage) -> str:
    """LLVM's types of the arguments: a workspace is its address."""
    return ", ".join("double" if each == types.float64 else "i64" for each in stage.signature.args)
