"""How the documentation is built: `make docs` makes the site from these pages and from the docstrings, offline."""

import sys
from pathlib import Path

import rosenblatt

HERE = Path(__file__).parent
sys.path.append(str(HERE / "_ext"))
sys.modules["rosenblatt.vc"] = rosenblatt.vc  # users write rosenblatt.vc; autodoc would look for a module of that name

project = "rosenblatt"
author = "the rosenblatt developers"
version = release = rosenblatt.__version__
copyright = f"the rosenblatt developers, BSD 3-Clause licence, version {version}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "source_pages",
    "docstrings",
    "formulas",
    "example_pictures",
    "public_names",
    "gallery",
    "printed",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "examples", "**/sg_execution_times*"]
nitpicky = True
nitpick_ignore_regex = [("py:class", r".*")]  # types in signatures: numpy's, scipy's and our own short words

# Pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_substitutions = {"version": version}
html_math_renderer = "mathml"
myst_heading_anchors = 4
suppress_warnings = ["myst.strikethrough"]

# Docstrings
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
default_role = "py:obj"
add_module_names = False
maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

# Examples
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery/examples",
    "download_all_examples": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "show_memory": False,
    "write_computation_times": False,
}

# The look
html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(HERE / "_templates" / "search_scores.js")
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("index", "search", "genindex")}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "rosenblatt"},
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_center": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def write_lab(app, exception):
    """Write the lab's page beside the site's own files, where the pages about it link to."""
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / "lab.html").write_text(rosenblatt.lab.page(), encoding="utf-8")


def setup(app):
    """Connect the function above."""
    app.connect("build-finished", write_lab)
