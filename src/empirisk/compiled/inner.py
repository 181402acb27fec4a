"""Inner functions: their code is built into that of their callers, and never run alone.

Numba optimises every function that it compiles, and makes machine code of it. Of an inner function
both would be work for nothing: a caller takes in its intermediate code, and optimises the whole.
Without it, loops with functions three or four deep compile in four fifths of the time.

A leaf is an inner function that is optimised by itself first: a loop that is vectorised alone may
not be so any more where it has been built into a long function. It has no machine code either.
"""

from llvmlite.binding import parse_bitcode
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class InnerLibrary(JITCodeLibrary):
    """The intermediate code of a function, as it was written."""

    def _optimize_final_module(self):
        """That is left to callers."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """There is no machine code that would look for Python objects."""

    def serialize_using_object_code(self):
        return self.serialize_using_bitcode()

    @classmethod
    def _unserialize(cls, codegen, state):
        name, _, bitcode = state
        library = cls(codegen, name)
        library._final_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class LeafLibrary(InnerLibrary):
    """The intermediate code of a function, optimised: its loops are vectorised once, here."""

    def _optimize_final_module(self):
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class InnerContext:
    """Numba's context, for an inner function that comes from the disk.

    Numba itself would make machine code of it, without optimising: callers compiled later in the
    process would run that wherever they call it, instead of their own.
    """

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    def codegen(self):
        return self

    def unserialize_library(self, state):
        return InnerLibrary._unserialize(self._context.codegen(), state)


class InnerCompiler(Compiler):
    """Numba's steps to compile a function, with a library of intermediate code."""

    library = InnerLibrary

    def define_pipelines(self):
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class LeafCompiler(InnerCompiler):
    """The same, with a library of optimised code."""

    library = LeafLibrary
