#!/usr/bin/python3
"""report_test.py: opens the pages of `heed compare --page` and `heed train --watch` in chromium.

Usage: report_test.py BUILD_FOLDER. Exits with 77 (skipped) without chromium, its driver or selenium.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no files beside the sources
from browser import HEED, Page, check, finish, heed

TINY = ["--layers", "1", "--heads", "2", "--embed-dim", "8", "--block-size", "16", "--batch-size", "2", "--threads", "1"]
SHORT = TINY + ["--steps", "20", "--eval-every", "5", "--eval-batches", "1"]


def test_page(path, charts, **settings):
    with Page(path, **settings) as page:
        name = f"{path.name} {settings}"
        check(f"{name}: has its charts", len(page.find_all("svg.chart")) == charts, len(page.find_all("svg.chart")))
        unseen = page.run("""
            const paper = getComputedStyle(document.querySelector("section")).backgroundColor;
            return [...document.querySelectorAll(".chart path:not(.band)")].filter((path) => {
              const {stroke} = getComputedStyle(path);
              return stroke === "none" || stroke === paper;
            }).length""")
        check(f"{name}: every line has a colour", unseen == 0, unseen)
        width = page.run("return document.documentElement.scrollWidth - innerWidth")
        check(f"{name}: nothing is wider than the window", width <= 0, width)
        check(f"{name}: no error in the console", not page.errors(), page.errors())
        check(f"{name}: no request", not page.requests(), page.requests())


def test_reloading(folder):
    """The page of a run in training shows later steps without a click, and ends when the run does."""
    run = subprocess.Popen([HEED, "train", "in.txt", "--watch", "--out", "long", *TINY, "--steps", "100000000"],
                           cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (folder / "long/watch.html").exists():
        time.sleep(0.05)
    status = "return document.querySelector('.note')?.textContent || ''"
    with Page(folder / "long/watch.html") as page:
        first = page.run(status)
        page.wait(f"return (document.querySelector('.note')?.textContent || {first!r}) !== {first!r}")
        check("the page loads itself again", page.run(status).startswith("training: step "), page.run(status))
        run.terminate()
        run.wait()
        page.wait("return (document.querySelector('.note')?.textContent || '').startsWith('stopped')")
        check("the last page does not reload", not page.find_all("meta[http-equiv=refresh]"))


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "in.txt").write_text("".join(f"On day {i * 37 % 101} the sea gave </pre><b>, and took.\n" for i in range(60)))
        for seed in "123":
            heed(folder, "train", "in.txt", "--watch", "--out", f"a{seed}", "--seed", seed, *SHORT)
        heed(folder, "train", "in.txt", "--out", "b", "--lr", "0.01", *SHORT)
        heed(folder, "compare", "a1", "a2", "a3", "b", "--page", "compare.html")
        for settings in [{}, {"dark": True, "width": 360, "height": 740}]:
            test_page(folder / "compare.html", 1, **settings)
            test_page(folder / "a1/watch.html", 3, **settings)
        test_reloading(folder)
    finish()


main()
