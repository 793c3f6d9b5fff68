"""What several test files need: the maintainers' scripts, packages from npm, the site, a browser.

TFS_SITE names a site that is already built; without it one is built here from the saved outputs.
TFS_FAILED holds what failed before pytest, a line each (tools/run_checks.py).
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT/"tools"))
from project import settings  # noqa: E402

CFG = settings()
CHROMIUM = next(filter(None, map(shutil.which, (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"))), None)
CHROMEDRIVER = shutil.which("chromedriver")


def pytest_terminal_summary(terminalreporter):
    "Name the steps that failed before pytest, so that the end of the log says why a run is red."
    for title in os.environ.get("TFS_FAILED", "").splitlines():
        terminalreporter.write_line(f"FAILED before pytest: {title}", red=True)


@pytest.fixture(scope="session")
def pairs():
    "An Arrow table of sentence pairs: the mirror's, or the bundled one."
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tfs.data import load_train
    from tfs.env import mirror
    if not mirror(): return pa.Table.from_pandas(load_train("sample")[["en", "ru"]].astype(str))
    place = "datasets/sentence-transformers/parallel-sentences-tatoeba/en-ru"
    return pa.concat_tables(map(pq.read_table, sorted((mirror()/place).glob("*.parquet"))))


@pytest.fixture(scope="session")
def texts(pairs):
    "The sentences of `pairs`, one column after the other."
    return [text for column in pairs.columns for text in column.to_pylist()]


@pytest.fixture(scope="session")
def whole(texts):
    "How often each word of `texts` occurs."
    from tfs.count import count_words
    return Counter(count_words(texts))


@pytest.fixture(scope="session")
def npm():
    "A function that gives the folder of an npm package; the test is skipped where there is no npm."
    def package(name, version):
        folder = ROOT/"work"/"npm"
        if not (folder/"node_modules"/name).exists():
            tool = shutil.which("npm")
            if not tool: pytest.skip("needs npm")
            folder.mkdir(parents=True, exist_ok=True)
            command = [tool, "install", "--prefix", str(folder), "--no-audit", "--no-fund",
                       f"{name}@{version}"]
            done = subprocess.run(command, capture_output=True, encoding="utf-8")
            if done.returncode: pytest.skip(f"npm can't install {name}: {done.stderr[-200:]}")
        return folder/"node_modules"/name
    return package


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    "The folder of the built site."
    if os.environ.get("TFS_SITE"): return ROOT/os.environ["TFS_SITE"]
    pytest.importorskip("nbdev")
    out = tmp_path_factory.mktemp("site")/"_site"
    build = [sys.executable, str(ROOT/"tools"/"build_site.py"), "--out", str(out)]
    subprocess.run(build, check=True)
    return out


class Quiet(SimpleHTTPRequestHandler):
    "Serves the site below the path that it has on the web."
    def log_message(self, *args): pass

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(CFG["doc_baseurl"]))


@pytest.fixture(scope="session")
def server(folder):
    "The address of the site on this machine."
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}{CFG['doc_baseurl']}/"
        httpd.shutdown()


class Browser:
    "Chromium, with what the tests ask of it."
    def __init__(self, profile):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        flags = ("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
                 "disable-background-networking", "disable-component-update", "disable-sync",
                 "hide-scrollbars", f"user-data-dir={profile}")
        for flag in flags: options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
        self.js, self.cdp = self.driver.execute_script, self.driver.execute_cdp_cmd

    def open(self, url, width=1280, dark=False):
        "Open a page at a width, in the mode that the system prefers."
        self.resize(width)
        mode = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        calm = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.cdp("Emulation.setEmulatedMedia", {"features": [mode, calm]})
        for log in ("browser", "performance"): self.driver.get_log(log)
        self.driver.get(url)

    def resize(self, width):
        "Give the page a width; a narrow one is a phone."
        self.cdp("Emulation.setDeviceMetricsOverride",
                 dict(width=width, height=900, deviceScaleFactor=1, mobile=width < 600))

    def asked(self):
        "The addresses that the page has asked for."
        rows = [json.loads(r["message"])["message"] for r in self.driver.get_log("performance")]
        return [r["params"]["request"]["url"] for r in rows
                if r["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        "What stands in the console."
        return [r["message"] for r in self.driver.get_log("browser")]

    def screenshot(self, path, width):
        "The whole page, down to 12,000 pixels."
        height = min(self.js("return document.documentElement.scrollHeight"), 12_000)
        clip = dict(x=0, y=0, width=width, height=height, scale=1)
        shot = self.cdp("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": clip, "format": "jpeg", "quality": 70,
            "optimizeForSpeed": True})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def until(self, script, seconds=5):
        "Wait for a script to be true."
        end = time.monotonic() + seconds
        while not (value := self.js(f"return {script}")) and time.monotonic() < end: time.sleep(.05)
        return value


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    "One browser for all tests."
    if not CHROMIUM or not CHROMEDRIVER: pytest.skip("needs Chromium and chromedriver on the PATH")
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.driver.quit()
