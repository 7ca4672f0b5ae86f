#!/usr/bin/python3
"""site_test.py: the site of `./heed docs`: its links, and its pages in Debian's chromium.

Usage: site_test.py BUILD_FOLDER. Exits with 77 (skipped) without Doxygen, Sphinx and its extensions,
chromium, its driver or selenium.
"""

import html.parser
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True  # no files beside the sources
PROJECT = pathlib.Path(__file__).resolve().parents[2]
SITE = PROJECT / "build/docs"
MISSING = [name for name in ("doxygen", "sphinx-build") if not shutil.which(name)]
MISSING += [name for name in ("breathe", "myst_parser", "furo") if not importlib.util.find_spec(name)]
if MISSING:
    print("not installed:", *MISSING)
    sys.exit(77)

from browser import Keys, Page, check, finish

PAGES = ["index.html", "docs/performance.html", "docs/training.html", "lessons/index.html",
         "lessons/06_backward_through_attention/index.html", "lessons/05_autograd/lesson.cpp.html",
         "reference/nn.html", "tests/golden/index.html"]


class Links(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, page):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get("id"))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def test_build():
    made = subprocess.run([PROJECT / "heed", "docs"], capture_output=True, text=True)
    check("heed docs succeeds without a warning", (made.returncode, made.stderr) == (0, ""), made.stderr)
    check("it prints the first page", made.stdout == f"{SITE / 'index.html'}\n", made.stdout)


def heading_of(header):
    return str(header.relative_to(PROJECT / "include")).translate(str.maketrans("/._", "---"))


def test_links():
    pages = {page: Links(page) for page in SITE.rglob("*.html") if SITE / "book" not in page.parents}
    for lesson in PROJECT.glob("lessons/*/README.md"):
        check(f"{lesson.parent.name} has a page", SITE / lesson.relative_to(PROJECT).with_name("index.html") in pages)
    for header in PROJECT.glob("include/heed/*/*.hpp"):
        page = SITE / f"reference/{header.parent.name}.html"
        check(f"the reference has {header.name}", heading_of(header) in pages[page].anchors)
    number = 0
    for page, found in pages.items():
        for link in found.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme:
                continue
            number += 1
            target = (page.parent / urllib.parse.unquote(address.path)).resolve() if address.path else page
            anchors = pages[target].anchors if address.fragment and target in pages else {address.fragment}
            check("a link leads to a file", target.is_file(), f"{page}: {link}")
            check("and to an anchor", urllib.parse.unquote(address.fragment) in anchors, f"{page}: {link}")
    check("there are links", number > 10_000, number)


def check_errors(name, page):
    errors = [error for error in page.errors() if "Changed to" not in error]  # which the theme logs
    check(f"{name}: no error", not errors, errors)
    requests = page.requests()
    check(f"{name}: no request to another site", not requests, requests)


def background(page):
    return page.run("return getComputedStyle(document.body).backgroundColor")


def is_dark(page):
    red = int(background(page).partition("(")[2].partition(",")[0])
    return red < 128


def test_page(name):
    for width in (1400, 360):
        with Page(SITE / name, width=width) as page:
            check_errors(name, page)
            check(f"{name}: {width} columns are wide enough",
                  page.run("return document.documentElement.scrollWidth <= innerWidth"))
            check(f"{name}: each picture is shown", page.run(
                "return [...document.images].every((image) => image.loading === 'lazy' || image.naturalWidth > 0)"))


def test_dark():
    with Page(SITE / "index.html", dark=True) as page:
        check("the site is dark where the system is", is_dark(page), background(page))
        page.media(media="print")
        check("it is printed in light colours", not is_dark(page), background(page))
        for part in (".sidebar-drawer", ".toc-drawer", ".theme-toggle"):
            check(f"{part} is not printed", not page.find(part).is_displayed())
    with Page(SITE / "index.html") as page:
        check("the site is light where the system is", not is_dark(page), background(page))
        page.click(".content-icon-container .theme-toggle")
        check("a click makes it dark", is_dark(page), background(page))
        check_errors("the button", page)


def test_search():
    with Page(SITE / "docs/training.html") as page:
        page.click(".sidebar-search")
        page.keys("Softmax", Keys.ENTER)
        page.wait("return document.body.innerText.includes('Search finished')")
        results = [link.get_attribute("href").partition("build/docs/")[2] for link in page.find_all(".search li a")]
        for address in ("lessons/03_graph_attention/index.html#softmax", "reference/ops.html#", "src/ops/softmax.cpp.html"):
            check(f"the search finds {address}", any(address in result for result in results), results)
        page.find(".search li a").click()
        page.wait("return !location.pathname.endsWith('search.html') && document.readyState === 'complete'")
        check_errors("the search", page)


test_build()
test_links()
for name in PAGES:
    test_page(name)
test_dark()
test_search()
finish()
