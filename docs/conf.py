"""Configuration of Sphinx: `make docs` builds the pages into docs/_build/html, warnings as errors."""

import sys
from pathlib import Path

import ilpinfer

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "ilpinfer"
author = "The ilpinfer authors"
project_copyright = f"2026, {author}"
version = release = ilpinfer.__version__

extensions = [
    "commands",
    "root_pages",
    "studies",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
default_role = "code"
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["dark.css"]
html_title = "ilpinfer"
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"
