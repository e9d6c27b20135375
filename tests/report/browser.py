"""Headless Chromium through its driver, with what it logs and asks of the network."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ENTER, ESCAPE = "\ue007", "\ue00c"  # keys, as WebDriver writes them
MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
MISSING += [] if find_spec("selenium") else ["selenium"]


@contextmanager
def chromium(width: int = 1200, height: int = 900) -> Iterator[Any]:
    """A driver of a browser with a profile of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
            options.add_argument(f"--{flag}")
        options.add_argument(f"--user-data-dir={profile}")
        options.add_argument(f"--window-size={width},{height}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
        try:
            yield driver
        finally:
            driver.quit()


def show(driver: Any, path: Path, address: str = "") -> None:
    """Load a page from its file, afresh, and wait until it shows its claims if it has any."""
    driver.get("about:blank")
    driver.get(path.as_uri() + address)
    driver.set_script_timeout(30)
    driver.execute_async_script(
        """
        const done = arguments[0];
        const wait = () => !document.getElementById("claims") || performance.getEntriesByName("claims shown").length
          ? done() : setTimeout(wait, 5);
        wait();
        """
    )


def problems(driver: Any) -> list[str]:
    """What the browser has logged since last asked: errors of scripts, refusals of the page's policy."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver: Any) -> list[str]:
    """Addresses that pages have asked for since last asked, those of the browser's own pages left out."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith(("chrome:", "data:", "about:"))]
