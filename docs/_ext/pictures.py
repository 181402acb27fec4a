"""The pictures that the code of a page draws, below that code.

They are made where the code is run: by the test suite, or by `make docs` where it was not.
"""

import os
from pathlib import Path
from typing import Any

from pages import PICTURES, blocks, with_pictures
from sphinx.application import Sphinx
from sphinx.util import logging


def insert(app: Sphinx, page: str, source: list[str]) -> None:
    folder = PICTURES / page
    if not any(block.language == "python" for block in blocks(source[0])):
        return
    if not folder.is_dir():
        logging.getLogger(__name__).warning("the code of %s was not run: see make docs", page)
        return
    here = Path(app.srcdir, page).parent
    source[0] = with_pictures(source[0], folder, os.path.relpath(folder, here))
    app.env.note_dependency(str(folder))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
