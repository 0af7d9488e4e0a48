#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/ as a site: built without a warning, links and anchors lead somewhere, nothing is fetched
from elsewhere, and tables and lists are tables and lists.

Usage: site_test.py REPOSITORY FOLDER
77 without mkdocs.
"""
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

root, site = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
errors = []


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.names = [], [], set()
        self.count = {"table": 0, "li": 0, "pre": 0}
        self.in_main = False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.names |= {of.get("id"), of.get("name")}
        if of.get("role") == "main" or tag == "footer":
            self.in_main = tag != "footer"  # behind it are the theme's own
        if self.in_main and tag in self.count:
            self.count[tag] += 1
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])
        elif tag in ("script", "img") and of.get("src"):
            self.fetched.append(of["src"])
        elif tag == "link" and of.get("href") and of.get("rel") != "canonical":
            self.fetched.append(of["href"])


def build():
    done = subprocess.run([shutil.which("mkdocs"), "build", "--strict", "--quiet", "-d", str(site)],
                          cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stdout or done.stderr:
        sys.exit(f"mkdocs: exit {done.returncode}\n{done.stdout}{done.stderr}")


def check_links(pages):
    for path, page in pages.items():
        for link in [*page.links, *page.fetched]:
            target = urllib.parse.urlparse(link)
            if target.scheme in ("http", "https", "mailto") or target.netloc:
                if link in page.fetched:
                    errors.append(f"{path}: fetches {link}")
                continue
            base = site if target.path.startswith("/") else path.parent
            there = (base / target.path.lstrip("/")).resolve() if target.path else path
            if not (site / there).exists():
                errors.append(f"{path}: link to {link} leads nowhere")
            elif target.fragment and there in pages:
                if target.fragment not in pages[there].names:
                    errors.append(f"{path}: there is no {target.fragment} in {there}")


def without_fences(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def check_blocks(pages):
    """What is a table or a list item in the source is one on the page."""
    for source in [*root.glob("docs/*.md"), *root.glob("*.md")]:
        text = without_fences(source.read_text())
        name = source.stem if source.parent.name == "docs" else source.stem.lower()
        page = pages[site / f"{name}.html"]
        tables = len(re.findall(r"^\|(?: ?:?-+:? ?\|)+$", text, re.M))
        items = len(re.findall(r"^(?:[-*]|\d+\.) ", text, re.M))
        if page.count["table"] != tables:
            errors.append(f"{source.name}: {page.count['table']} of {tables} tables are shown")
        if page.count["li"] < items:
            errors.append(f"{source.name}: {page.count['li']} of {items} list items are shown")


def main():
    if shutil.which("mkdocs") is None:
        print("skipped: no mkdocs")
        return 77
    build()
    pages = {path: Page(path) for path in site.rglob("*.html")}
    check_links(pages)
    check_blocks(pages)
    for source in root.glob("man/*.1"):
        if site / f"man/{source.stem}.html" not in pages:
            errors.append(f"{source.name} has no page")
    print("\n".join(errors) or f"{len(pages)} pages, no warning")
    return bool(errors)


sys.exit(main())
