#!/usr/bin/python3
"""film_test.py: the films of `heed look --film` in Debian's chromium, with real mouse and keys.

Usage: film_test.py BUILD_FOLDER. Exits with 77 (skipped) without chromium, its driver or selenium.
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True  # no files beside the sources
from browser import Keys, Page, check, finish, heed

TINY = ["--layers", "1", "--heads", "2", "--embed-dim", "8", "--block-size", "16", "--batch-size", "2", "--steps", "12"]
WEIGHT = "blocks.0.attention.query.weight"


class Film(Page):
    ready = "return document.documentElement.dataset.ready"


def test_keys(page, last):
    for key, frame in [(Keys.ARROW_RIGHT, 1), (Keys.ARROW_RIGHT, 2), (Keys.ARROW_LEFT, 1), (Keys.END, last), (Keys.ARROW_RIGHT, last), (Keys.HOME, 0)]:
        page.keys(key)
        check(f"key {key!r} goes to frame {frame}", page.run("return state.frame") == frame, page.run("return state.frame"))
    page.keys(Keys.SPACE)
    page.wait("return state.frame > 0")
    check("Space plays", page.text("#play") == "⏸")
    page.keys(Keys.SPACE)
    check("and Space stops", page.text("#play") == "▶")


def test_every_frame(page, last):
    wrong = page.run("""
        const wrong = [];
        frames.forEach((frame, k) => {
          setFrame(k);
          const canvases = document.querySelectorAll("#pictures canvas").length;
          const marked = document.querySelectorAll("#source .on").length;
          if (canvases !== frame.pictures.length) wrong.push(`${k}: ${canvases} pictures`);
          if (frame.phase !== "update" && marked !== 1) wrong.push(`${frame.title}: ${marked} marks`);
          const on = document.querySelector("#source .on");
          if (on && !on.textContent.includes(frame.phase + "(")) wrong.push(`${frame.title}: ${on.textContent}`);
        });
        return wrong""")
    check("each frame has its pictures and marks the function that runs", not wrong, wrong)
    wrong = page.run("""
        return frames.flatMap(({pictures}) => pictures).filter(([, picture]) => {
          const all = numbersOf(picture), {rows, columns} = sizeOf(picture), slack = picture.limit / 30000;
          return all.length !== rows * columns || Math.max(...all) > picture.all.max + slack || Math.min(...all) < picture.all.min - slack;
        }).length""")
    check("the numbers of each picture lie between its smallest and largest", wrong == 0, wrong)
    check("the film goes forward, backward and to the optimizer", page.run(
        "return [...new Set(frames.map(({phase}) => phase))].join()") == "forward,backward,update")


def test_mouse(page):
    page.keys(Keys.HOME)
    canvas = page.find("#pictures canvas")
    page.mouse().move_to_element(page.show(canvas)).perform()
    check("hover reads a cell", page.text("#readout").startswith("input 0: ") and ": " in page.text("#readout")[9:], page.text("#readout"))
    node = page.run("return frames[0].pictures[0][2]")
    page.mouse().click().perform()
    check("a click goes to the picture's node", page.run("return frames[state.frame].node") == node)
    page.run("arguments[0].click()", page.find_all("#list button")[-1])
    title = page.text("#frame-title")
    check("the list goes to a node", title == "CrossEntropy: forward", title)
    page.run("byId('time').value = 1; byId('time').dispatchEvent(new Event('input'))")
    check("the slider goes to a frame", page.run("return state.frame") == 1)


def test_film(folder, name, **settings):
    with Film(folder / name, **settings) as page:
        last = page.run("return frames.length - 1")
        test_keys(page, last)
        if name == "step.html":
            test_every_frame(page, last)
            test_mouse(page)
        width = page.run("return document.documentElement.scrollWidth - innerWidth")
        check(f"{name} {settings}: nothing is wider than the window", width <= 0, width)
        check(f"{name} {settings}: no error in the console", not page.errors(), page.errors())
        check(f"{name} {settings}: no request", not page.requests(), page.requests())


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "in.txt").write_text("".join(f"On day {i * 37 % 101} the sea gave </script>, and took.\n" for i in range(60)))
        heed(folder, "train", "in.txt", "--out", "run", *TINY)
        heed(folder, "look", "run", "--film", "step.html", "--step", "5")
        heed(folder, "look", "run", "--film", "parameter.html", "--parameter", WEIGHT)
        test_film(folder, "step.html")
        test_film(folder, "step.html", dark=True, width=360, height=740)
        test_film(folder, "parameter.html")
    finish()


main()
