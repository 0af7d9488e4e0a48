#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds docs/ as a site. The build must not warn, every page must be reachable from the first one,
links and anchors must lead somewhere, and no page may fetch anything from another host.

Usage: site_test.py REPOSITORY FOLDER
77 without mkdocs, its theme (.ci/wheels.txt) or mandoc.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import wheels  # noqa: E402, pylint: disable=wrong-import-position

root, site = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
errors = []
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.names = [], [], set()
        self.count = {"table": 0, "li": 0, "pre": 0, "h2": 0}
        self.in_content = False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.names |= {of.get("id"), of.get("name")}
        if tag == "article":
            self.in_content = True
        if self.in_content and tag in self.count:
            self.count[tag] += 1
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])
        elif of.get(FETCHED.get(tag)) and of.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(of[FETCHED[tag]])

    def handle_endtag(self, tag):
        if tag == "article":
            self.in_content = False


def build(mkdocs):
    shutil.rmtree(site, ignore_errors=True)
    # Not --quiet: it hides warnings, and --strict then does not see them either.
    done = subprocess.run([mkdocs, "build", "--strict", "-d", str(site)], cwd=root,
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, NO_MKDOCS_2_WARNING="1"))
    if done.returncode != 0:
        sys.exit(f"mkdocs: exit {done.returncode}\n{done.stdout}{done.stderr}")


def is_outside(link):
    target = urllib.parse.urlparse(link)
    return bool(target.scheme or target.netloc)


def target_of(path, link):
    """(file, anchor) of a link of the site."""
    target = urllib.parse.urlparse(link)
    base = site if target.path.startswith("/") else path.parent
    name = urllib.parse.unquote(target.path.lstrip("/"))
    there = (base / name).resolve() if target.path else path
    return (there / "index.html" if there.is_dir() else there), target.fragment


def check_links(pages):
    for path, page in pages.items():
        errors.extend(f"{path}: fetches {link}" for link in page.fetched if is_outside(link))
        for link in [*page.links, *page.fetched]:
            if is_outside(link):
                continue
            there, anchor = target_of(path, link)
            if not there.exists():
                errors.append(f"{path}: link to {link} leads nowhere")
            elif anchor and there in pages and anchor not in pages[there].names:
                errors.append(f"{path}: there is no {anchor} in {there}")


def check_styles():
    """Style sheets fetch nothing from another host."""
    for path in site.rglob("*.css"):
        for link in re.findall(r"url\(([^)]+)\)|@import\s+[\"']([^\"']+)", path.read_text()):
            if re.match(r"[\"']?(https?:)?//", "".join(link)):
                errors.append(f"{path}: fetches {''.join(link)}")


def check_reachable(pages):
    seen, waiting = set(), [site / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in seen or path not in pages:
            continue
        seen.add(path)
        waiting += [target_of(path, link)[0] for link in pages[path].links if not is_outside(link)]
    errors.extend(f"{path} cannot be reached from index.html"
                  for path in pages if path not in seen and path.name != "404.html")


def without_fences(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def check_blocks(pages):
    """What is a table or a list item in the source is one on the page."""
    for source in [*root.glob("docs/*.md"), *root.glob("*.md")]:
        text = without_fences(source.read_text())
        name = source.stem if source.parent.name == "docs" else source.stem.lower()
        page = pages[site / f"{name}.html"]
        tables = len(re.findall(r"^ *\|(?: ?:?-+:? ?\|)+$", text, re.M))
        items = len(re.findall(r"^(?:[-*]|\d+\.) ", text, re.M))
        if page.count["table"] != tables:
            errors.append(f"{source.name}: {page.count['table']} of {tables} tables are shown")
        if page.count["li"] < items:
            errors.append(f"{source.name}: {page.count['li']} of {items} list items are shown")


def check_made_pages(pages):
    """Every man page, public header and decision has a page with sections."""
    wanted = [f"man/{path.stem}.html" for path in root.glob("man/*.1")]
    wanted += [f"api/{path.name}.html" for path in root.glob("include/calpe/*.h*")]
    for name in [*wanted, "api/python.html"]:
        page = pages.get(site / name)
        if page is None or page.count["h2"] == 0:
            errors.append(f"{name}: there is no such page, or it has no sections")
    for path in root.glob("docs/adr/*.md"):
        if site / f"adr/{path.stem}.html" not in pages:
            errors.append(f"{path.name} has no page")


def main():
    mkdocs = wheels.program("mkdocs")
    if mkdocs is None or wheels.find("material/__init__.py") is None:
        print("skipped: no mkdocs-material; .ci/install installs it")
        return 77
    if shutil.which("mandoc") is None:
        print("skipped: no mandoc")
        return 77
    build(mkdocs)
    pages = {path: Page(path) for path in site.rglob("*.html")}
    check_links(pages)
    check_styles()
    check_reachable(pages)
    check_blocks(pages)
    check_made_pages(pages)
    print("\n".join(errors) or f"{len(pages)} pages, no warning")
    return bool(errors)


sys.exit(main())
