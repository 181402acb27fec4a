"""Inner functions: compiled to be built into the code of their callers, and never run alone.

Numba makes machine code of each function that it compiles. Of an inner function none would ever be
run: a caller takes in its intermediate code, optimised, and machine code is made of the whole. To
leave it out saves a quarter of the time to compile the trees, and changes no caller.
"""

from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

from empirisk.compiled.cache import RoomCache


class InnerDispatcher(CPUDispatcher):
    """Of a function without a door from Python, where its Python original is run."""

    def __call__(self, *arguments):
        return self.py_func(*arguments)

    def add_overload(self, cres):
        self.overloads[tuple(cres.signature.args)] = cres


class InnerLibrary(JITCodeLibrary):
    """The intermediate code of a function, optimised, of which no machine code is made."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """From typed instructions to intermediate code, which callers find by an object of its own."""

    _name = "inner_lowering"

    def run_pass(self, state):
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        state.cr = state.cr._replace(cfunc=object())
        state.targetctx.insert_user_function(state.cr.cfunc, state.cr.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        return True


class InnerCompiler(CompilerBase):
    """Numba's steps to compile a function, but for the last."""

    def define_pipelines(self):
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (InnerLowering if step is NativeLowering else step, why) for step, why in steps.passes
        ]
        steps.finalize()
        return [steps]


class InnerResult(CompileResultCacheImpl):
    """What is kept of an inner function on disk, and how to get it back."""

    def reduce(self, cres):
        code = cres.library._get_module_for_linking().as_bitcode()
        cres.fndesc.typemap = cres.fndesc.calltypes = None  # large, and of no more use
        return cres.library.name, code, cres.fndesc, cres.environment, cres.signature

    def rebuild(self, target_context, payload):
        name, code, function, environment, signature = payload
        library = InnerLibrary(target_context.codegen(), name)
        library._final_module = parse_bitcode(code)
        library._finalize_final_module()
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            entry_point=object(),
            library=library,
            fndesc=function,
            environment=environment,
            signature=signature,
            objectmode=False,
        )


class InnerCache(RoomCache):
    """As `RoomCache`, of inner functions."""

    _impl_class: Any = InnerResult
