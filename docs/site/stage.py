"""stage.py: writes the files from which Sphinx makes the site of `./heed docs`.

The site has README.md, every file that it links, directly or through other pages, and a reference
that Breathe makes of Doxygen's XML. README.md of a folder becomes index.md, and a source file a page
with its text, so that each link leads to what it shows on GitHub.
"""

import itertools
import os
import pathlib
import re
import shutil
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "build/site/pages"
XML = ROOT / "build/site/xml"
BOOK = ROOT / "book"

LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
PICTURES = (".png", ".svg")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".json": "json", ".sh": "sh"}
SECTIONS = "briefdescription detaileddescription enum typedef var func"  # of a header's reference
LARGE = 100_000  # bytes; a list of a folder's files links no larger ones


# ---- README.md and what it links

def is_page(file):
    """Whether Sphinx renders the file: of a lesson's Markdown files only README.md."""
    return file.suffix == ".md" and (file.name == "README.md" or file.parents[1] != ROOT / "lessons")


def page_of(file):
    """The staged file of a file or folder of the project. Pages leaves out names that begin with a dot."""
    path = pathlib.Path(*(part.lstrip(".") for part in file.relative_to(ROOT).parts))
    if file.is_dir():
        return PAGES / path / "index.md"
    if file.name == "README.md":
        return PAGES / path.with_name("index.md")
    return PAGES / (path if is_page(file) or file.suffix in PICTURES else f"{path}.md")


def target_of(file, link):
    folder = file if file.is_dir() else file.parent
    return (folder / link[1]).resolve()


def links_of(file, text):
    """The files and folders of the project that a page links."""
    targets = [target_of(file, link) for link in LINK.finditer(text)]
    return [target for target in targets if target.exists()]


def with_links(file, text):
    """The text of a page, with links to the staged files."""
    def to_page(link):
        target = target_of(file, link)
        if not target.exists():
            return link[0]
        return f"]({os.path.relpath(page_of(target), page_of(file).parent)}{link[2] or ''})"
    return LINK.sub(to_page, text)


def with_book(file, text):
    """The text of a lesson, with a link to its page of `./heed book`, if that has been written."""
    page = BOOK / f"{file.parent.name}.html"
    if file.name != "README.md" or not page.exists() or 'id="output"' not in page.read_text():
        return text
    link = f'<a href="../../book/{page.name}">This lesson with maps, curves and sliders that answer</a>'
    return text.replace("\n\n", f"\n\n{link}\n\n", 1)


def source_text(file):
    path = os.path.relpath(file, page_of(file).parent)
    return (f"# {file.relative_to(ROOT)}\n\n```{{literalinclude}} {path}\n"
            f":language: {LANGUAGES.get(file.suffix, 'none')}\n```\n")


def folder_text(folder):
    names = sorted(file.name for file in folder.iterdir() if file.is_file() and file.stat().st_size < LARGE)
    return f"# {folder.relative_to(ROOT)}\n\n" + "".join(f"- [{name}]({name})\n" for name in names)


def text_of(file):
    if file.is_dir():
        return folder_text(file)
    return file.read_text() if is_page(file) else source_text(file)


def linked_files():
    """README.md and all that it links, directly or through other pages, with their texts."""
    texts, waiting = {}, [ROOT / "README.md"]
    while waiting:
        file = waiting.pop()
        if file.is_dir() and (file / "README.md").exists():
            file /= "README.md"
        if file in texts:
            continue
        texts[file] = "" if file.suffix in PICTURES else text_of(file)
        waiting += links_of(file, texts[file])
    return texts


# ---- navigation

def toctree(caption, names):
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: \"{caption}\"", "", *names, "```", ""])


def names_in(file, text):
    """The names, for a toctree of README.md, of the Markdown pages that a page links in its order."""
    pages = [page_of(target) for target in links_of(file, text) if target.suffix == ".md"]
    return [str(page.relative_to(PAGES).with_suffix("")) for page in dict.fromkeys(pages)]


def navigation(texts):
    """The toctrees of README.md: pages of docs, lessons by part, the project, the reference."""
    index, course = ROOT / "docs/README.md", ROOT / "lessons/README.md"
    trees = toctree("Documentation", ["docs/index", *names_in(index, texts[index]), "CONTRIBUTING"])
    for part in texts[course].split("\n## ")[1:]:
        if part.startswith("Part "):
            trees += toctree(part.partition("\n")[0], names_in(course, part))
    return trees + toctree("Reference", ["reference/index"])


# ---- the reference

def directive(name, argument, *options):
    return "\n".join([f"```{{{name}}} {argument}", *options, "```", ""])


def classes_of(header):
    """Directives of the classes that a file of Doxygen's XML names, without classes inside classes."""
    inner = [(each.get("refid"), each.text) for each in header.iter("innerclass")]
    names = {name for _, name in inner}
    return "\n".join(directive("doxygenclass" if refid.startswith("class") else "doxygenstruct", name,
                                ":members:", ":undoc-members:")
                     for refid, name in inner if name.rpartition("::")[0] not in names)


def reference_pages():
    """For each folder of include/heed, a page with what its headers declare."""
    pages, rows = {}, ["# Reference\n", "| folder | headers |", "|---|---|"]
    headers = [ElementTree.parse(file) for file in XML.glob("*_8hpp.xml")]
    headers = {header.find("compounddef/location").get("file"): header for header in headers}
    del headers["heed/heed.hpp"]  # which includes the others
    for folder, files in itertools.groupby(sorted(headers), os.path.dirname):
        name, texts, links = os.path.basename(folder), [f"# {folder}\n"], []
        for file in files:
            texts += [f"## {file}\n", directive("doxygenfile", file, f":sections: {SECTIONS}"),
                      classes_of(headers[file])]
            links.append(f"[{pathlib.Path(file).stem}]({name}.md#{re.sub('[/.]', '', file)})")
        pages[name] = "\n".join(texts)
        rows.append(f"| [{name}]({name}.md) | {', '.join(links)} |")
    pages["index"] = "\n".join(rows) + "\n" + toctree("", sorted(pages))
    return pages


def write_pages():
    shutil.rmtree(PAGES, ignore_errors=True)
    texts = linked_files()
    for file, text in texts.items():
        page = page_of(file)
        page.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in PICTURES:
            shutil.copy(file, page)
        else:
            page.write_text("---\norphan: true\n---\n" + with_book(file, with_links(file, text)))
    with (PAGES / "index.md").open("a") as index:
        index.write(navigation(texts))
    (PAGES / "reference").mkdir()
    for name, text in reference_pages().items():
        (PAGES / f"reference/{name}.md").write_text(text)
