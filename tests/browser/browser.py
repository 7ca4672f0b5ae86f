"""browser.py: drives pages in Debian's chromium, with real mouse and keys, for the tests of this folder.

Exits with 77 (skipped) without chromium, its driver or selenium, or if chromium cannot be started.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    print("python3-selenium is not installed")
    sys.exit(77)

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    print("chromium or chromium-driver is not installed")
    sys.exit(77)

HEED = pathlib.Path(sys.argv[1]).resolve() / "heed"
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage"]

failures, number_of_checks = [], 0


def check(name, passed, detail=""):
    global number_of_checks
    number_of_checks += 1
    if not passed:
        failures.append(f"FAILED: {name} {detail}")
        print(failures[-1], flush=True)


def heed(folder, *arguments):
    done = subprocess.run([HEED, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"heed {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def started(options):
    """A new browser. If a busy machine cannot start one, the test is skipped, unless a check has failed."""
    for attempt in range(2):
        try:
            return webdriver.Chrome(service=Service(DRIVER), options=options)
        except (WebDriverException, OSError) as error:
            reason = str(error).strip().splitlines()[0]
    print(f"chromium cannot be started here: {reason}")
    finish(skipped=True)


def finish(skipped=False):
    print(f"{number_of_checks - len(failures)} of {number_of_checks} checks passed")
    sys.exit(1 if failures else 77 if skipped else 0)


class Page:
    """A page in a browser of its own, which ends with the `with` statement."""

    ready = "return document.readyState === 'complete'"  # the script that says whether the page can be used

    def __init__(self, path, width=1400, height=1000, dark=False):
        self.path, self.size, self.dark = path, (width, height), dark

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in FLAGS + [f"--user-data-dir={self.profile.name}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.browser = started(options)
        width, height = self.size
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        if self.dark:
            self.media(features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.browser.set_script_timeout(120)  # seconds
        self.browser.get("file://" + urllib.parse.quote(str(self.path)))
        self.wait(self.ready)
        return self

    def __exit__(self, *_):
        self.browser.quit()
        with contextlib.suppress(OSError):
            self.profile.cleanup()

    def media(self, **settings):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", settings)

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait(self, script, seconds=60):
        end = time.time() + seconds
        while not self.run(script):
            if time.time() > end:
                sys.exit(f"{self.path}: {script} stays false; {self.errors()}")
            time.sleep(0.05)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def mouse(self):
        return ActionChains(self.browser, duration=0)

    def show(self, element):
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        return element

    def click(self, selector):
        self.mouse().move_to_element(self.show(self.find(selector))).click().perform()

    def keys(self, *keys):
        self.mouse().send_keys(*keys).perform()

    def text(self, selector):
        return self.find(selector).text

    def errors(self):
        return [line["message"] for line in self.browser.get_log("browser")]

    def requests(self):
        addresses = []
        for line in self.browser.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] != "Network.requestWillBeSent":
                continue
            if message["params"].get("documentURL", "").startswith("file:"):  # not the browser's own
                addresses.append(message["params"]["request"]["url"])
        return [a for a in addresses if not a.startswith(("file:", "data:", "blob:"))]
