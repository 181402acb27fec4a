"""How a command ends: exit codes for scripts, one or two lines for people."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from empirisk.cli.screen import plain
from empirisk.runtime.errors import EmpiriskError

INTERNAL, BAD_INPUT, INTERRUPTED, UNREAD = 1, 2, 130, 141


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what goes wrong inside into a message on standard error and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _end_unread()
    except EmpiriskError as error:
        _end(f"error: {error}", BAD_INPUT)
    except OSError as error:
        _end(f"error: {_of_file(error)}", BAD_INPUT)
    except MemoryError:
        _end("error: the table does not fit into memory; try fewer rows or columns", BAD_INPUT)
    except KeyboardInterrupt:
        _end("interrupted: nothing was left half-written", INTERRUPTED)
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        typer.echo(traceback.format_exc(), err=True, nl=False)
        _end(f"error inside Empirisk ({type(error).__name__}): please report it", INTERNAL)


def _end(message: str, code: int) -> None:
    typer.echo(plain(message), err=True)
    raise typer.Exit(code) from None


def _end_unread() -> None:
    """The reader of our output went away, as `head` does: end quietly, with the code of `cat`.

    What is still in the buffer goes nowhere, or Python would complain of it on leaving.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(UNREAD) from None


def _of_file(error: OSError) -> str:
    """`[Errno 2] No such file or directory: 'x'` in the order in which people say it."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
