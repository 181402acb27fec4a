"""The site: `make docs` builds it into site/ from the pages here and the docstrings.

Nothing is fetched when it is built or read: the theme is part of its package, formulas are MathML,
the search is a file.
"""

import sys
from pathlib import Path

import empirisk

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Empirisk"
author = "The Empirisk developers"
version = release = empirisk.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",
    "pictures",
    "reference",
]
exclude_patterns = ["_ext"]

html_theme = "furo"
html_title = f"Empirisk {version}"
html_math_renderer = "mathml"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_show_copyright = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

default_role = "literal"
add_module_names = False
autosummary_generate = False
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True, "member-order": "bysource"}
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False
napoleon_use_rtype = False
toc_object_entries = False  # methods in the sidebar of every page would take most of the build
