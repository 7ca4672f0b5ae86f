#!/usr/bin/python3
"""book_test.py: the pages of `heed book` in Debian's chromium, with real mouse and keys.

Usage: book_test.py BUILD_FOLDER. Exits with 77 (skipped) without chromium, its driver or selenium.
"""

import base64
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no files beside the sources
from browser import Keys, Page, Select, check, finish, heed

ENGINE = pathlib.Path(sys.argv[1]).resolve() / "tests" / "heed_slider_numbers"
SETTINGS = 200


def address(page):
    return page.run("return decodeURI(location.href).split('/').pop()")


def test_search(page):
    page.click("#search")
    page.keys("projection matrix")
    links = [link.get_attribute("textContent") for link in page.find_all("#found a")]
    check("the search finds a term", "projection matrix" in [text.lower() for text in links], links)
    page.run("document.getElementById('search').value = ''")
    page.keys("04 numbers token")
    links = page.find_all("#found a")
    check("the search finds a heading by some of its words", len(links) == 1 and "four numbers for a token" in links[0].text.lower(), [link.text for link in links])
    page.keys(Keys.ESCAPE)
    check("Escape empties the search", page.run("return search.value") == "" and not page.find_all("#found li"))
    page.keys("zzzz")
    check("the search says that nothing was found", page.text("#found") == "nothing found", page.text("#found"))
    page.keys(Keys.ESCAPE)
    page.keys("a")
    check("a long list of results is cut", page.find_all("#found li")[-1].text.startswith("and "))
    page.keys(Keys.ESCAPE)
    page.keys("04 three matrices", Keys.ENTER)
    check("Enter opens the first result", address(page) == "04_query_key_value.html#Three-matrices", address(page))


def test_turning(page):
    page.click(".turn span:last-child a")
    page.wait("return document.readyState === 'complete' && location.pathname.includes('05_')")
    check("a lesson that was not run says so", "./heed book 05" in page.text("main"))
    page.click(".turn span:first-child a")
    page.wait("return document.readyState === 'complete' && location.pathname.includes('04_')")
    check("the next lesson", page.text("h1") == "query key value", page.text("h1"))
    page.click(".turn span:first-child a")
    page.wait("return document.readyState === 'complete' && location.pathname.includes('03_')")
    check("the previous lesson", page.text("h1") == "graph attention", page.text("h1"))
    page.click("nav a")
    page.wait("return document.readyState === 'complete' && location.pathname.includes('index')")
    lessons = list((pathlib.Path(__file__).resolve().parents[2] / "lessons").glob("[0-9][0-9]*_*/lesson.cpp"))
    check("the index has all lessons", len(page.find_all(".course li")) == len(lessons))
    page.run("return document.querySelectorAll('.course a[href*=\"04_query\"]')[0]").click()
    page.wait("return document.readyState === 'complete' && location.pathname.includes('04_')")
    term = page.find("a.term")
    name = term.text.lower()
    page.mouse().move_to_element(page.show(term)).click().perform()
    page.wait("return document.readyState === 'complete' && location.pathname.includes('glossary')")
    check("a term opens the glossary at its definition", page.run("return document.querySelector(':target').textContent.toLowerCase()") == name)
    page.run("return document.querySelector('dd a[href*=\"04_query\"]')").click()
    page.wait("return document.readyState === 'complete' && location.pathname.includes('04_')")
    check("the glossary opens the lesson at the term", page.run("return document.querySelector(':target').className") == "term")


def test_folds(page):
    hint = page.run("return [...document.querySelectorAll('details.hint')][0]")
    check("hints are folded", not page.run("return arguments[0].open", hint))
    page.mouse().move_to_element(page.show(hint.find_element("tag name", "summary"))).click().perform()
    check("a click opens a hint", page.run("return arguments[0].open", hint))
    page.mouse().click().perform()
    page.keys(Keys.SPACE)
    check("Space opens it, too", page.run("return arguments[0].open", hint))
    check("answers are folded", not page.run("return document.querySelector('details.answers').open"))
    check("checks have tolerances", "within 0.00001" in page.text(".check .tolerance"))
    codes = page.run("return [...document.querySelectorAll('.ran code')].map((code) => code.textContent)")
    check("the code that ran is shown", any("causal_softmax(S)" in code for code in codes), len(codes))


def test_hover(page):
    cell = page.find("#output table td")
    shade = "return getComputedStyle(arguments[0]).backgroundColor"
    check("a table is not shaded at first", page.run(shade, cell) == "rgba(0, 0, 0, 0)")
    page.mouse().move_to_element(page.show(cell)).perform()
    check("hover shades the cells of a table", page.run(shade, cell) != "rgba(0, 0, 0, 0)", page.run(shade, cell))
    page.mouse().move_to_element(page.show(page.find("h1"))).perform()
    check("and the shade ends with it", page.run(shade, cell) == "rgba(0, 0, 0, 0)")


def test_map(page):
    page.show(page.find("figure.attention .matrix"))
    cells = page.find_all("figure.attention .cell")
    state = "const {query, key, locked} = attentionMaps[0]; return [query, key, locked]"
    check("a cell for each query and key", len(cells) == 24, len(cells))
    page.mouse().move_to_element(cells[1]).perform()
    check("hover over a cell shows it", page.run(state) == [0, 1, False], page.run(state))
    readout = page.text("figure.attention .readout")
    check("the readout has names and the weight", readout == "query 0 ‘first 'bank'’, key 1 ‘river’: 1.0000", readout)
    page.mouse().click().perform()
    page.mouse().move_to_element(cells[12]).perform()
    check("a click locks", page.run(state) == [0, 1, True])
    page.keys(Keys.ESCAPE)
    page.mouse().move_to_element(cells[13]).perform()
    check("Escape frees", page.run(state) == [1, 1, False], page.run(state))
    check("a masked cell says so", "masked" in page.run("return attentionMaps[0].text(0, 11)"))
    labels = page.find_all("figure.attention .lines text")
    page.mouse().move_to_element(labels[0]).perform()
    check("hover over a query shows its largest key", page.run(state) == [0, 1, False], page.run(state))
    page.mouse().move_to_element(labels[2 + 4]).perform()
    check("hover over a key shows it", page.run(state) == [0, 4, False], page.run(state))
    page.run("document.querySelector('figure.attention .matrix').focus()")
    for key, place in [(Keys.ARROW_RIGHT, [0, 5]), (Keys.ARROW_DOWN, [1, 5]), (Keys.ARROW_LEFT, [1, 4]), (Keys.ARROW_UP, [0, 4])]:
        page.keys(key)
        check(f"key {key!r} in the matrix", page.run(state)[:2] == place, page.run(state))


def test_curves(page):
    page.show(page.find("svg.curves"))
    note = page.run("return JSON.parse(document.querySelector('figure.curves script').textContent)")
    last = [f"{curve['name']}: {curve['y'][-1]:.4f} at step {round(curve['x'][-1])}" for curve in note["curves"]]
    check("the legend has the last losses", page.text(".legend").split("\n") == last, page.text(".legend"))
    check("a curve for each training", len(page.find_all("svg.curves path")) == len(last) == 2)
    inside = page.run("const box = document.querySelector('svg.curves').getBoundingClientRect();"
                      "return [...document.querySelectorAll('svg.curves path, svg.curves text')].every((e) => {"
                      "const own = e.getBoundingClientRect(); return own.left >= box.left - 1 && own.right <= box.right + 1 &&"
                      "own.top >= box.top - 1 && own.bottom <= box.bottom + 1})")
    check("curves and labels are inside the picture", inside)
    diverged = "{title: 'loss', x: [0, 9], curves: [{name: 'a', y: [1.5, null]}]}"
    label = page.run(f"return LossCurves.prototype.summary.call({diverged})")
    check("the label of a diverged training says so", "a from 1.5000 to not finite;" in label, label)
    page.mouse().move_to_element(page.find("svg.curves .cursor")).move_by_offset(-200, 0).perform()
    index = page.run("return lossCurves[0].index")
    check("hover reads an earlier step", 0 < index < len(note["curves"][0]["x"]) - 1, index)
    check("with its loss", page.find(".legend li").text.endswith(
        f"{note['curves'][0]['y'][index]:.4f} at step {round(note['curves'][0]['x'][index])}"), page.text(".legend"))
    page.run("document.querySelector('svg.curves').focus()")
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    check("the arrow keys move", page.run("return lossCurves[0].index") == index + 1)


def test_slider(page, widget):
    page.show(page.find("figure.sliders"))
    before = page.text(".results")
    page.run("document.querySelector('figure.sliders input').focus()")
    number = page.run("return sliders[0].number")
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    moved, step = page.run("return [sliders[0].number, Number(sliders[0].range.step)]")
    check(f"{widget}: the arrow keys move the slider", 0 < moved - number < 3.5 * step)
    check(f"{widget}: the tables change with it", page.text(".results") != before)
    page.click("figure.sliders button")
    check(f"{widget}: Reset brings the first numbers back", page.text(".results") == before)
    printed = page.run("return [...document.querySelectorAll('#output table')].map((t) => t.innerText)")
    shown = page.run("return [...document.querySelectorAll('.results table')].map((t) => t.tBodies[0].innerText)")
    found = [any(table in text for text in printed) for table in shown]
    wanted = {"attention": [True, True, True], "saturation": [False, True, False, False]}.get(widget, [])
    check(f"{widget}: at first the tables are those of the lesson", all(f or not w for f, w in zip(found, wanted)), found)


def test_numbers(page, widget):
    """The page computes what the engine computes."""
    generator, settings, results = random.Random(widget), [], []
    options = page.run("return [...document.querySelector('figure.sliders select').options].map((o) => o.value)")
    select = Select(page.find("figure.sliders select"))
    for at in range(SETTINGS):
        select.select_by_value(options[at % len(options)])
        page.run("const range = document.querySelector('figure.sliders input');"
                 "range.value = Number(range.min) + arguments[0] * (range.max - range.min);"
                 "range.dispatchEvent(new Event('input'))", generator.random())
        arrays, result, texts = page.run(
            "const one = sliders[0]; return [one.arrays, Object.entries(computed[one.widget](one.arrays)),"
            "[...document.querySelectorAll('.results td')].map((cell) => cell.textContent)]")
        settings.append({"widget": widget, "arrays": arrays})
        results.append((result, texts))
    done = subprocess.run([ENGINE], input=json.dumps(settings), capture_output=True, text=True, check=True)
    worst, texts_differ = 0, 0
    for exact, (result, texts) in zip(json.loads(done.stdout), results):
        numbers = []
        for name, matrix in result:
            pairs = [(a, b) for left, right in zip(matrix, exact[name]) for a, b in zip(left, right)]
            worst = max([worst] + [abs(a - b) for a, b in pairs])
            numbers += [b for _, b in pairs]
        texts_differ += sum(abs(float(text) - number) > 0.50001e-4 for text, number in zip(texts, numbers))
        texts_differ += len(texts) != len(numbers)
    check(f"{widget}: {SETTINGS} settings, and all numbers are the engine's", worst < 1e-9, worst)
    check(f"{widget}: the tables show them to four decimals", texts_differ == 0, texts_differ)


CONTRAST = """
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
let worst = 21, where = "";
for (const e of document.querySelectorAll("h1, h2, p, a, td, th, summary, code, small, label, button, output, figcaption, .legend li, .lines text, svg.curves text")) {
  if (!e.textContent.trim() || !e.getClientRects().length) continue;
  let behind = e, style = getComputedStyle(e);
  while (behind && !(numbers(getComputedStyle(behind).backgroundColor)[3] ?? 1)) behind = behind.parentElement;
  const [low, high] = [luminance(numbers(e instanceof SVGElement ? style.fill : style.color)),
                       luminance(numbers(getComputedStyle(behind || document.body).backgroundColor))].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < worst) [worst, where] = [ratio, `${e.tagName} ${e.textContent.slice(0, 20)}`];
}
return [worst, where];
"""


def test_look(folder):
    for name, settings in [("light", {}), ("dark", {"dark": True}), ("phone", {"width": 360, "height": 740})]:
        for file in ["04_query_key_value.html", "09_scaling_and_saturation.html", "index.html", "glossary.html"]:
            with Page(folder / file, **settings) as page:
                page.run("document.querySelectorAll('.results td').forEach((cell) => cell.style.background = '')")
                worst, where = page.run(CONTRAST)
                check(f"{name}, {file}: contrast of all text is at least 4.5", worst >= 4.5, f"{worst} {where}")
                width = page.run("return document.documentElement.scrollWidth")
                check(f"{name}, {file}: the page is not wider than the window", width <= page.size[0], width)
                check(f"{name}, {file}: no error in the console", not page.errors(), page.errors())
                check(f"{name}, {file}: no request", not page.requests())


def test_print(page):
    page.media(media="print")
    check("print hides navigation and sliders", page.run("return ['nav', '.turn', '.bar', 'details.answers'].every((s) => getComputedStyle(document.querySelector(s)).display === 'none')"))
    check("print is on white paper", page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)")
    pdf = base64.b64decode(page.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    check("the page prints", pdf.startswith(b"%PDF") and pdf.count(b"/Type /Page\n") >= 3, pdf.count(b"/Type /Page\n"))
    page.media(media="")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "USB-Stick der Klasse 9b äöü ß"
        for lesson in ["3", "4", "9", "15", "23", "25"]:
            heed(temporary, "book", lesson, "--brief", "--out", folder)
        with Page(folder / "index.html") as page:
            test_search(page)
            test_turning(page)
            test_folds(page)
            test_hover(page)
            test_map(page)
            test_slider(page, "attention")
            test_numbers(page, "attention")
            test_print(page)
            check("no error in the console", not page.errors(), page.errors())
        with Page(folder / "09_scaling_and_saturation.html") as page:
            test_curves(page)
            test_slider(page, "saturation")
            test_numbers(page, "saturation")
        for lesson, widget in [("15_your_text", "temperature"), ("23_what_attention_costs", "online"), ("25_from_gpt2_to_llama", "rotary")]:
            with Page(folder / f"{lesson}.html") as page:
                test_slider(page, widget)
                test_numbers(page, widget)
        test_look(folder)
    finish()


os.environ["GOMP_SPINCOUNT"] = "10000"
main()
