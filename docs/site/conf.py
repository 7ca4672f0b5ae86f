"""conf.py: Sphinx's configuration for `./heed docs`."""

import pathlib
import re
import shutil
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
import stage

project = "heed"
author = "The heed authors"
release = re.search(r"project\(heed VERSION ([0-9.]+)", (stage.ROOT / "CMakeLists.txt").read_text())[1]
extensions = ["myst_parser", "breathe"]
breathe_projects = {"heed": str(stage.XML)}
breathe_default_project = "heed"
myst_heading_anchors = 4
smartquotes = False
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
pygments_style, pygments_dark_style = "friendly", "native"

html_theme = "furo"
html_theme_options = {
    "light_css_variables": {
        "color-foreground-primary": "#1d2430", "color-foreground-secondary": "#586174",
        "color-background-primary": "#fbfaf7", "color-background-secondary": "#f6f4ee",
        "color-background-hover": "#eceae3", "color-background-hover--transparent": "#eceae300",
        "color-background-border": "#e3e1da", "color-code-background": "#f1efe9",
        "color-brand-primary": "#2f5bb7", "color-brand-content": "#2f5bb7",
    },
    "dark_css_variables": {
        "color-foreground-primary": "#e7e9ee", "color-foreground-secondary": "#a3abba",
        "color-foreground-muted": "#81868d", "color-foreground-border": "#666666",
        "color-background-primary": "#14171c", "color-background-secondary": "#1a1e24",
        "color-background-hover": "#262c36", "color-background-hover--transparent": "#262c3600",
        "color-background-border": "#303641", "color-code-background": "#1f242c",
        "color-brand-primary": "#8fb4ff", "color-brand-content": "#8fb4ff",
        "color-problematic": "#ffab70", "color-highlighted-background": "#083563",
        "color-highlight-on-target": "#333300",
    },
}
html_title = f"heed {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = html_show_copyright = False
html_show_search_summary = False  # a page opened from disk cannot read the others

stage.write_pages()


def complete_theme(app, error):
    """Joins files of Debian's furo, which are in parts and refer to the machine's web server."""
    static = pathlib.Path(app.outdir) / "_static"
    script, style = static / "scripts/furo.js", static / "styles/furo.css"
    parts = re.search(r'^import \w+ from "./(.*)";\n', script.read_text(), re.M)
    if parts:
        script.write_text((script.parent / parts[1]).read_text() + script.read_text().replace(parts[0], ""))
    style.write_text(re.sub(r"@import url\((/javascript/.*?)\);",
                            lambda file: pathlib.Path("/usr/share" + file[1]).read_text(), style.read_text()))


def add_book(app, error):
    if stage.BOOK.exists():
        shutil.copytree(stage.BOOK, pathlib.Path(app.outdir) / "book", dirs_exist_ok=True)


def setup(app):
    app.connect("build-finished", complete_theme)
    app.connect("build-finished", add_book)
