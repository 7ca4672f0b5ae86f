#!/usr/bin/python3
"""page_test.py: the page of `heed look --page` in Debian's chromium, with real mouse and keys.

Usage: page_test.py BUILD_FOLDER. Exits with 77 (skipped) without chromium, its driver or selenium.
"""

import base64
import json
import os
import pathlib
import re
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # no files beside the sources
from browser import Keys, Page, Select, check, finish, heed


class AttentionPage(Page):
    ready = "return document.documentElement.dataset.ready && document.getElementById('target').options.length"

    def cell(self, query, key, count):
        """Moves the mouse to a cell of the matrix."""
        canvas = self.show(self.find("#matrix canvas"))
        box = canvas.rect
        x = (key + 0.5) / count * box["width"] - box["width"] / 2
        y = (query + 0.5) / count * box["height"] - box["height"] / 2
        return self.mouse().move_to_element_with_offset(canvas, round(x), round(y))

    def state(self, name):
        return self.run(f"return state.{name}")


def selftest(name, path, **settings):
    """Checks the report of selftest.js, except its times: another program may take the processor."""
    report = selftest_report(name, path, **settings)
    failed = [line for line in report.splitlines() if line.startswith("FAILED") and " ms" not in line]
    check(f"{name}: selftest.js", not failed, "\n".join(failed))
    check(f"{name}: selftest.js makes 40 checks", len(report.splitlines()) > 40, report[-60:])
    return report


def selftest_report(name, path, **settings):
    with AttentionPage(path, **settings) as page:
        report = page.run((pathlib.Path(__file__).parent / "selftest.js").read_text())
        check(f"{name}: no error in the console", not page.errors(), page.errors())
        requests = page.requests()
        check(f"{name}: no request", not requests, requests)
        return report


# ---- the pages

STORY = "".join(f"On day {i * 37 % 101} the sea gave, and the quay took: rope.\n" for i in range(120))
ODD = "</script><b>\"'&amp; \u202e\u2066x\u2069 \u00e4\u00f6\u00fc \u65e5\u672c \U0001f600 {{data}} <!-- \\ ` ${T}\n" * 40


def make_pages(folder):
    (folder / "story.txt").write_text(STORY)
    (folder / "odd.txt").write_text(ODD)
    tiny = ["--layers", "3", "--heads", "2", "--embed-dim", "16", "--block-size", "24", "--steps", "40",
            "--eval-every", "20", "--eval-batches", "1", "--warmup", "5", "--lr", "0.01"]
    heed(folder, "train", "story.txt", "--out", "story", "--keep-history", *tiny)
    heed(folder, "look", "story", "--page", "story.html")
    heed(folder, "train", "odd.txt", "--out", "odd", *tiny)
    heed(folder, "look", "odd", "--page", "odd.html")
    few = ["--steps", "2", "--eval-batches", "1", "--batch-size", "2", "--warmup", "0"]
    heed(folder, "train", "story.txt", "--out", "long", "--layers", "1", "--heads", "2", "--embed-dim", "16",
         "--block-size", "512", *few)
    heed(folder, "look", "long", "--page", "long.html", "--text", STORY[:512], "--iterations", "50")
    heed(folder, "train", "story.txt", "--out", "many", "--layers", "8", "--heads", "6", "--embed-dim", "96",
         "--block-size", "128", *few)
    heed(folder, "look", "many", "--page", "many.html", "--text", STORY[:128], "--iterations", "50")
    heed(folder, "train", "story.txt", "--out", "wide", "--layers", "6", "--heads", "8", "--embed-dim", "512",
         "--block-size", "128", *few)
    heed(folder, "look", "wide", "--page", "wide.html", "--text", STORY[:128], "--iterations", "50")


# ---- the tests

def test_mouse(page, T):
    page.cell(T - 2, 1, T).perform()
    check("the mouse over a cell shows it", (page.state("query"), page.state("key")) == (T - 2, 1))
    check("the readout names query and key", f"query {T - 2} " in page.text("#readout") and "key 1 " in page.text("#readout"))
    page.cell(T - 2, 1, T).click().perform()
    check("a click locks", page.state("locked"))
    check("the readout says so", "locked" in page.text("#readout"))
    page.cell(T - 4, 2, T).perform()
    check("the mouse does not move a locked cell", page.state("query") == T - 2)
    page.keys(Keys.ESCAPE)
    check("Escape frees", not page.state("locked"))
    page.cell(T - 4, 2, T).perform()
    check("the mouse moves again", page.state("query") == T - 4)
    page.cell(1, T - 2, T).perform()
    check("a masked cell is not shown", page.state("query") == T - 4)
    tokens = page.find_all("#text .token")
    page.mouse().move_to_element(page.show(tokens[5])).perform()
    check("the mouse over a token of the text", page.state("query") == 5)
    page.mouse().move_to_element(page.show(page.find_all("#lines .row.query")[7])).perform()
    check("the mouse over a token of the lines", page.state("query") == 7)
    page.mouse().move_to_element(page.show(page.find_all("#lines .row.key")[3])).perform()
    check("the mouse over a key of the lines", (page.state("query"), page.state("key")) == (7, 3))
    page.click("#grid .tile:nth-child(5)")
    check("a click on a map opens its head", page.state("head") == 4 and "Layer 2, head 0" in page.text("#head-title"))
    point = page.run("return mapPoints[3].symbol")
    page.mouse().move_to_element(page.show(point)).perform()
    check("the mouse over a point of the map shows its row", page.run("return mapPoints[3].place.at") in (page.state("query"), page.state("key")))


def test_keys(page, T):
    page.click("#matrix")
    page.run("free(); point(5, 2, true)")
    page.run("document.getElementById('matrix').focus()")
    for key, expected in [(Keys.ARROW_RIGHT, (5, 3)), (Keys.ARROW_DOWN, (6, 3)), (Keys.ARROW_LEFT, (6, 2)),
                          (Keys.ARROW_UP, (5, 2)), (Keys.HOME, (0, 0)), (Keys.END, (T - 1, 0))]:
        page.keys(key)
        check(f"key {key!r} in the matrix", (page.state("query"), page.state("key")) == expected,
              (page.state("query"), page.state("key")))
    page.keys(Keys.ENTER)
    check("Enter locks", page.state("locked"))
    page.keys(Keys.ESCAPE)
    page.run("document.querySelector('#grid .tile').focus()")
    page.keys(Keys.ARROW_RIGHT)
    page.keys(Keys.ENTER)
    check("arrow keys and Enter open a head", page.state("head") == 1)
    page.run("document.getElementById('log').focus()")
    page.keys(Keys.SPACE)
    check("Space sets the log scale", page.state("log"))
    page.keys(Keys.SPACE)
    outline = page.run("const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth")
    check("the focus is visible", outline == "solid3px", outline)
    page.run("document.getElementById('time').focus()")
    page.keys(Keys.HOME)
    check("Home shows the first model", page.state("frame") == 0 and page.text("#time-text").startswith("step 0"))
    page.keys(Keys.END)
    check("End shows the last model", page.run("return isLastFrame()"))


def test_controls(page):
    Select(page.find("#sort")).select_by_value("loss")
    first = page.run("return tiles.findIndex((entry) => entry.tile === grid.firstChild)")
    check("sorting by loss puts the largest rise first", page.run("return increase.indexOf(Math.max(...increase))") == first)
    Select(page.find("#sort")).select_by_index(2)
    kind = page.run("return kinds[0]")
    scores = page.run("return [...grid.children].map((tile) => tile.querySelector('.kind').textContent)")
    check("sorting by a score shows it", scores == sorted(scores, reverse=True) and
          scores == [f"{kind} {x:.4f}" for x in sorted(page.run("return frames[state.frame].scores[0]"), reverse=True)], scores)
    Select(page.find("#sort")).select_by_value("place")
    check("otherwise each map has its label", page.run("return tiles.every(({kind, i}) => kind.textContent === labelOf(i))"))
    target = Select(page.find("#target"))
    check("a target for each position, and their mean", len(target.options) == page.run("return T") + 1)
    target.select_by_index(3)
    check("a target can be chosen", page.state("target") == 3)
    page.click("#play")
    page.wait("return isLastFrame() && !player", 20)
    check("play runs through the models", True)
    page.click("#without-first")
    check("without the first token", page.run("return shown(0)[T * (T - 1)]") == 0)
    page.click("#without-first")
    check("fetch is forbidden", page.run(
        "return fetch('http://127.0.0.1:9/').then(() => false, () => true)"))
    check("and so are images", page.browser.execute_async_script(
        "const done = arguments[0]; addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective === 'img-src'));"
        "const image = new Image(); image.src = 'http://127.0.0.1:9/a.png'; setTimeout(() => done(false), 3000);"))


def test_numbers(page, folder):
    """Every number of the page equals the text of heed look with the same input."""
    text = heed(folder, "look", "story", "--text", STORY[:20])
    heed(folder, "look", "story", "--text", STORY[:20], "--page", "numbers.html")
    rows = re.findall(r"^layer (\d), head (\d) +(.*)$", text, re.M)
    scores = [re.findall(r"\d\.\d{4}|-", line) for _, _, line in rows if "." in line]
    losses = re.findall(r"^layer \d((?: +-?\d\.\d{4})+)$", text, re.M)
    losses = [number for line in losses for number in line.split()]
    baseline = re.search(r"with all heads the loss is ([\d.]+)", text)[1]
    with AttentionPage(folder / "numbers.html") as other:
        shown = other.run("return Array.from({length: headCount}, (_, i) => data.scores.of_kind.map((column) => fixed(column[i])))")
        check("the scores are those of heed look", shown == scores and len(scores) == 6, (shown, scores))
        check("the losses are those of heed look", other.run("return increase.map((x) => fixed(x))") == losses and len(losses) == 6, losses)
        check("the baseline is that of heed look", other.run("return fixed(data.ablation.loss)") == baseline)
        cells = [float(line.rsplit(",", 1)[1]) for line in (folder / "story/look.csv").read_text().splitlines()[1:]]
        cells = [cell for cell in cells if cell == cell and cell >= 0]
        weights = other.run("return tiles.flatMap((_, i) => Array.from(weights(i)).map((x, at) => visible(Math.floor(at / T), at % T) ? fixed(x) : null))")
        weights = [w for w in weights if w is not None]
        different = sum(f"{cell:.4f}" != weight for cell, weight in zip(cells, weights))
        check("the attention weights are those of heed look's plot, to four decimals",
              len(cells) == len(weights) and different == 0, (len(cells), len(weights), different))


def test_print(page):
    page.media(media="print")
    check("print hides the settings", page.run("return getComputedStyle(document.getElementById('settings')).display") == "none")
    check("print is on white paper", page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)")
    pdf = base64.b64decode(page.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    check("the page prints", pdf.startswith(b"%PDF") and pdf.count(b"/Type /Page\n") >= 2, pdf.count(b"/Type /Page\n"))
    page.media(media="")


def test_odd_texts(folder):
    html = (folder / "odd.html").read_text()
    check("markup in the text does not end the script", html.count("</script>") == 4)
    check("the data are ASCII", html.split('id="data">')[1].split("</script>")[0].isascii())
    with AttentionPage(folder / "odd.html") as page:
        check("odd characters are shown escaped", "\\u202e" in page.run("return texts.join(' ')"))
        check("no error with odd characters", not page.errors(), page.errors())
    head, rest = html.split('id="data">', 1)
    text, rest = rest.split("</script>", 1)
    data = json.loads(zlib.decompress(base64.b64decode(text)))
    for i, odd in enumerate(["x" * 10000, "\ud800", "</script><script>document.title='bad'</script>", "\"><img src=x>", "\u202eabc"]):
        data["texts"][i] = odd
    text = base64.b64encode(zlib.compress(json.dumps(data).encode())).decode()
    (folder / "odder.html").write_text(head + 'id="data">' + text + "</script>" + rest)
    with AttentionPage(folder / "odder.html", width=360, height=740) as page:
        check("a token of 10,000 characters does not widen the page", page.run("return document.documentElement.scrollWidth") <= 360)
        check("tokens are text, not markup", page.run("return document.images.length") == 0 and "bad" not in page.browser.title)
        check("no error with odder tokens", not page.errors(), page.errors())


def test_long(folder):
    with AttentionPage(folder / "long.html") as page:
        check("512 tokens are shown in parts", page.text("#band-text") == "tokens 384 to 511 of 512", page.text("#band-text"))
        query = page.state("query")
        check("the first view shows the clearest query that predicts a token",
              384 <= query < 511 and query == page.run("return clearestQuery(state.head)"), query)
        page.run("point(T - 1, 0, true)")
        page.click("#band-back")
        check("the part moves", page.text("#band-text") == "tokens 320 to 447 of 512", page.text("#band-text"))
        check("the query moves with it", page.state("query") == 447)
        page.cell(100, 50, 128).perform()
        check("the mouse in a part", (page.state("query"), page.state("key")) == (420, 370), page.state("query"))
        check("the readout has the weight outside", "outside this part" in page.text("#readout"))
        page.keys(Keys.ESCAPE)
        page.run("document.getElementById('text').focus()")
        page.keys(Keys.HOME)
        check("Home shows the first part", page.text("#band-text") == "tokens 0 to 127 of 512")
    selftest("512 tokens", folder / "long.html")


def test_table_of_sum(page):
    different = page.run("""
        let different = 0;
        for (let t = 0; t < T; ++t) {
          point(t, 0, true);
          document.querySelectorAll("#sum-body table")[0].tBodies[0].childNodes.forEach((row, s) =>
            different += visible(t, s) && row.cells[5].textContent !== fixed(weights(state.head)[t * T + s]));
        }
        return different""")
    check("the weights of the sum are those of the matrix, to the last decimal", different == 0, different)
    hidden = page.run("""
        return [0, 70, 3, 127, 64].filter((s) => {
          point(T - 1, s, true);
          const box = document.querySelector("#sum-body .scroll"), row = box.querySelector("tr.on").getBoundingClientRect();
          return row.top < box.querySelector("thead th").getBoundingClientRect().bottom - 1 ||
                 row.bottom > box.querySelector("tfoot td").getBoundingClientRect().top + 1;
        })""")
    check("the row of the chosen key can be seen, between head and foot of the table", hidden == [], hidden)


def test_lens_on_paper(page):
    tables = "return [...document.querySelectorAll('#lens-body table')]"
    check("on the screen the predictions are one table", len(page.run(tables)) == 1)
    page.media(media="print")
    page.wait("return document.querySelectorAll('#lens-body table').length > 1")  # drawn at the next frame
    widths = page.run(tables + ".map((table) => table.offsetWidth)")
    check("on paper they are tables of at most 17 cm", len(widths) > 2 and max(widths) < 17 / 2.54 * 96, widths)
    check("which have all tokens", page.run(tables + ".flatMap((table) => [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.title)).join()")
          == page.run("return Array.from({length: T}, (_, t) => named(t)).join()"))
    page.media(media="")
    page.wait("return document.querySelectorAll('#lens-body table').length === 1")
    check("and on the screen one table again", len(page.run("return lensCells.flat()")) == page.run("return T * (model.layers + 1)"))


def test_many(folder):
    for name in ["many", "wide"]:
        size = (folder / f"{name}.html").stat().st_size
        check(f"{name}: 48 heads of 128 tokens take at most 3 MB", size <= 3_000_000, size)
    with AttentionPage(folder / "many.html") as page:
        missing = page.run("return data.vectors.indexOf(null)")
        check("head size 16: all 48 heads have queries, keys and values", missing == -1, missing)
        wrong = page.run("""
            let largest = 0;
            for (let i = 0; i < 48; ++i)
              for (let t = 0; t < T; ++t) {
                let sum = 0;
                for (let s = 0; s <= t; ++s) sum += weights(i)[t * T + s];
                largest = Math.max(largest, Math.abs(sum - 1));
              }
            return largest""")
        check("each row of decoded weights has the sum 1", wrong < 128 / 65535, wrong)
        wrong = page.run("""
            let largest = 0;
            for (let i = 0; i < 48; ++i)
              for (let t = 0; t < T; ++t)
                sumOf(i, t).keys.forEach(({weight}, s) => largest = Math.max(largest, Math.abs(weight - weights(i)[t * T + s])));
            return largest""")
        check("decoded queries and keys give the same weights", wrong < 2e-4, wrong)
        test_table_of_sum(page)
        test_lens_on_paper(page)
        check("the page says which losses it leaves out", "The losses at positions 0 to " in page.text("#gradient-note"))
    with AttentionPage(folder / "wide.html") as page:
        missing = page.run("return data.vectors.indexOf(null)")
        page.run("openHead(arguments[0])", missing)
        check("a head without queries, keys and values says so", missing >= 0 and "left out" in page.text("#sum-body"), missing)
        count = page.run("return data.vectors.filter(Boolean).length")
        check("head size 64: at least 12 heads have them", count >= 12, count)
    report = selftest("48 heads", folder / "many.html")
    print("\n".join(line for line in report.splitlines() if " ms" in line))


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "USB-Stick der Klasse 9b \u00e4\u00f6\u00fc \u00df"
        folder.mkdir()
        make_pages(folder)
        with AttentionPage(folder / "story.html") as page:
            T = page.run("return T")
            test_mouse(page, T)
            test_keys(page, T)
            test_controls(page)
            test_numbers(page, folder)
            errors = [e for e in page.errors() if "127.0.0.1:9" not in e]  # of the forbidden requests
            check("no error in the console", not errors, errors)
            test_print(page)
        selftest("desktop", folder / "story.html")
        selftest("dark", folder / "story.html", dark=True)
        selftest("phone", folder / "story.html", width=360, height=740)
        test_odd_texts(folder)
        test_long(folder)
        test_many(folder)
    finish()


os.environ["GOMP_SPINCOUNT"] = "10000"
main()
