"""All that is taken from llvmlite and from private parts of Numba; pyproject.toml has the versions that were tried.

Other kernels import such names from here alone. Besides, ``praemia.kernels.compiling`` gives ``njit`` the options
``_nrt``, ``forceinline`` and those for wrappers, and ``praemia.kernels.references`` looks at the ``library`` and the
``fndesc`` of what was compiled.

*How kernels are compiled.* Numba optimises every function and makes machine code of it, and once more in every function
that calls it, and so on to the top. Here a function that only kernels call is a ``PartCode``: it stays as it was
written until it is linked into a kernel, and all of that is optimised once. This takes half the time. Loops are neither
unrolled nor vectorised: ours are short or written with ``lanes``, and both would take LLVM a third of its time for
kernels that are no faster. Passes of Numba that look for what our kernels do not have (closures, array expressions,
``with``) are left out; functions of users' learners have them all. At every operation Numba asks dozens of candidates
whether they implement it for such types; ``KernelTyping`` remembers the answer.
"""

from __future__ import annotations

import operator
import os
from copy import copy
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import caching, cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.datamodel.models import PrimitiveModel
from numba.core.environment import lookup_environment
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.typing.context import Context
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.np.numpy_support import as_dtype, from_dtype

__all__ = [
    "AbstractTemplate",
    "AttributeTemplate",
    "KernelCompiler",
    "PrimitiveModel",
    "as_dtype",
    "cgutils",
    "from_dtype",
    "infer_getattr",
    "infer_global",
    "ir",
    "keep_in",
    "lower_builtin",
    "lower_getattr_generic",
    "signature",
]

SPEED_LEVEL = 2  # as -O2
ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of the symbols through which compiled code finds Python objects


class PartCode(JITCodeLibrary):
    """The code of a function that only kernels call: not optimised and not executable by itself."""

    @property
    def codegen(self) -> Any:
        return PartCodegen(self._codegen)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        self._ensure_finalized()
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.external and not function.is_declaration:
                function.linkage = "linkonce_odr"
        return self._final_module

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.name, "part", self._get_module_for_linking().as_bitcode()


class PartCodegen:
    """What Numba asks of a code generator for a ``PartCode`` that it has compiled or reads from disk."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: a kernel sets the environments of its parts."""

    def unserialize_library(self, state: tuple[str, str, bytes]) -> PartCode:
        part = PartCode(self._codegen, state[0])
        part._final_module, part._finalized = llvm.parse_bitcode(state[2]), True
        return part


class KernelCode(JITCodeLibrary):
    """The code of a kernel and of its parts, optimised together."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:  # what is linked in is nobody else's
            if function.linkage == llvm.Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = "internal"
        options = llvm.create_pipeline_tuning_options(SPEED_LEVEL)
        options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = False
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)

    def set_environments(self) -> None:
        """Set the environments of the parts."""
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                self.codegen.set_env(variable.name, environment)


class KernelLower(Lower):
    """How variables become LLVM's, without what serves debuggers and, in kernels that have none, counts of references.

    Else nearly every variable is also read before it is written, cleared after its last use, and measured.
    """

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if self.context.enable_nrt:
            super().storevar(value, name, argidx)
            return
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self.context.enable_nrt:
            super().delvar(name)
        elif name not in self._blk_local_varmap:  # it is cleared before it is written: in a loop
            self._singly_assigned_vars.discard(name)
            self._alloca_var(name, self.typeof(name))


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Numba's last pass, which makes a ``PartCode`` of a function without wrappers and else a ``KernelCode``."""

    @property
    def lowering_class(self) -> type[Lower]:
        return KernelLower

    def run_pass(self, state: Any) -> bool:
        is_part = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        kind = PartCode if is_part else KernelCode
        state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        changed: bool = super().run_pass(state)
        if not is_part:
            state.library.set_environments()
        return changed


class KernelTyping(Context):
    """Numba's typing context, which remembers what Numba's own functions return for arguments of which types.

    (What is registered later is asked after all others, so it changes no answer.)
    """

    def __init__(self, context: Context) -> None:
        vars(self).update(vars(context))  # the same registries
        self._answers: dict[Any, Any] = {}

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        kind = function if isinstance(function, types.Type) else self._lookup_global(function)
        if not isinstance(kind, types.Function):
            return super().resolve_function_type(function, args, kws)
        question = kind, args, tuple(kws.items())
        answer = self._answers.get(question)
        if answer is None:
            answer = self._answers[question] = super().resolve_function_type(function, args, kws)
        return answer

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


kernel_typing = cache(KernelTyping)


# Passes that find nothing to do in our kernels.
UNUSED_PASSES = (
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "DumpParforDiagnostics",
)


class KernelCompiler(CompilerBase):
    """Numba's compiler, with ``KernelLowering`` and ``KernelTyping`` in it."""

    def __init__(self, typing: Context, *others: Any) -> None:
        super().__init__(kernel_typing(typing), *others)

    def define_pipelines(self) -> list[PassManager]:
        unused = UNUSED_PASSES if self.state.func_id.modname.startswith("praemia.") else ()
        passes = [
            (KernelLowering if kind is NativeLowering else kind, text)
            for kind, text in DefaultPassBuilder.define_nopython_pipeline(self.state).passes
            if kind.__name__ not in unused
        ]
        manager = PassManager("kernel")
        manager.passes = passes
        manager.finalize()
        return [manager]


def keep_in(folder: str, kernel: Any) -> None:
    """Keep what is compiled of a function in a folder, for later processes."""

    class Locator(caching._CacheLocator):
        def __init__(self, function: Any, file: str) -> None:
            self._py_file, self._line = file, function.__code__.co_firstlineno

        def get_cache_path(self) -> str:
            return os.path.join(folder, os.path.splitext(os.path.basename(self._py_file))[0])

        def get_source_stamp(self) -> str:
            return ""  # the folder, or the function's name, changes with the source

        def get_disambiguator(self) -> str:
            return str(self._line)

        @classmethod
        def from_function(cls, function: Any, file: str) -> Locator | None:
            locator = cls(function, file)
            try:
                locator.ensure_cache_path()
            except OSError:
                return None
            return locator

    class Kept(caching.CompileResultCacheImpl):
        _locator_classes: Any = [Locator]  # noqa: RUF012

        def rebuild(self, context: Any, payload: Any) -> Any:
            if payload[0][1] == "part":
                codegen, context = PartCodegen(context.codegen()), copy(context)
                context.codegen = lambda: codegen
            return CompileResult._rebuild(context, *payload)

    class KeptFunction(caching.FunctionCache):
        _impl_class = Kept

    kernel._cache = KeptFunction(kernel.py_func)
