# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs: pages from outside docs/, and GitHub's Markdown made readable for mkdocs.

The repository's own documents, the man pages, the public headers and the Python package become
pages. Other files that documents link to are copied below source/, and links are rewritten.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from mkdocs.structure.files import File

sys.path.insert(0, os.path.dirname(__file__))
import api  # noqa: E402, pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Their paths on the site; a README.md there would be its index.
DOCUMENTS = {"README.md": "readme.md", "ARCHITECTURE.md": "architecture.md",
             "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
             "SECURITY.md": "security.md", "RELEASING.md": "releasing.md"}
STYLE = "assets/calpe.css"
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^([-*+]|\d+\.) ")
# First the headers to begin with.
HEADERS = {"C API": ["calpe.h", "streams.h", "gib.h"],
           "C++ API": ["codec.hpp", "code_spec.hpp", "result.hpp", "shard_list.hpp", "streams.hpp",
                       "matrix_product.hpp", "galois.hpp", "device_memory.hpp", "device_queue.hpp",
                       "stores.hpp", "techniques.hpp"]}

made = tempfile.TemporaryDirectory(prefix="calpe-site-")


def man_names():
    return sorted((path.stem for path in ROOT.glob("man/*.1")),
                  key=lambda name: (name != "calpe", name))


def command_title(name):
    """'calpe protect', from calpe-protect."""
    return re.sub("^calpe-", "calpe ", name)


def decision_title(path):
    """'18 The array', from 0018-array.md with the heading '# 0018: The array'."""
    heading = re.sub(r"^# \W*(?:ADR )?[\d]+[.:]? *", "", path.read_text().split("\n", 1)[0])
    return f"{int(path.name[:4])} {heading.replace('`', '')}"


def listed():
    """The parts of the navigation that follow from files."""
    missing = {path.name for path in ROOT.glob("include/calpe/*.h*")} - set(sum(HEADERS.values(),
                                                                                []))
    if missing:
        raise ValueError(f"tools/site/pages.py: HEADERS lacks {sorted(missing)}")
    return {
        "Commands": [{command_title(name): f"man/{name}.md"} for name in man_names()],
        "Decisions": [{decision_title(path): f"adr/{path.name}"}
                      for path in sorted(ROOT.glob("docs/adr/*.md"))],
        **{title: [{name: f"api/{name}.md"} for name in names] for title, names in HEADERS.items()},
    }


def fill(entries, lists):
    for entry in entries:
        for title, value in entry.items() if isinstance(entry, dict) else []:
            if title in lists:
                entry[title] = lists[title]
            elif isinstance(value, list):
                fill(value, lists)


def on_config(config):
    fill(config["nav"], listed())
    return config


def man_page(path):
    """A man page as HTML. Its sections are level 2, so that the table of contents has them."""
    shown = subprocess.run(["mandoc", "-Thtml", "-Ofragment", str(path)], check=True,
                           capture_output=True, text=True).stdout
    body = re.search(r'<div class="manual-text">(.*)</div>\s*<table class="foot">', shown, re.S)[1]
    names = set(man_names())

    def reference(found):
        name = found[1]
        return f'<a href="{name}.html">{found[0]}</a>' if name in names else found[0]

    body = re.sub(r"<b>([\w-]+)</b>\(1\)", reference, body)
    # Headings as Markdown: mkdocs makes the anchors and the table of contents of them.
    parts = re.split(r'<h1 class="Sh"[^>]*><a[^>]*>(.*?)</a></h1>', body, flags=re.S)
    out = [f"# {command_title(path.stem)}\n"]
    for title, content in zip(parts[1::2], parts[2::2]):
        content = re.sub(r"</?section[^>]*>", "", content)
        content = re.sub(r'<h2 class="Ss"[^>]*><a[^>]*>(.*?)</a></h2>', r"<h3>\1</h3>", content)
        content = re.sub(r"\s+\n|\n\s*\n", "\n", content) if "<pre" not in content else re.sub(
            r"(<pre[^>]*>.*?</pre>)|\n\s*\n", lambda found: found[1] or "\n", content, flags=re.S)
        content = re.sub(r"(<pre[^>]*>)(?:[ \t]*\n)+", r"\1", content)
        # A blank line inside <pre> would end the block of HTML.
        content = re.sub(r"<pre[^>]*>.*?</pre>",
                         lambda found: found[0].replace("\n\n", "\n&#32;\n"), content,
                         flags=re.S)
        title = " ".join(title.split()).capitalize()
        out += [f"## {title}\n", f'<div class="man">\n{content.strip()}\n</div>\n']
    return "\n".join(out)


def site_path(path):
    """The path of a file of the repository on the site."""
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if path in DOCUMENTS:
        return DOCUMENTS[path]
    if path.startswith("man/"):
        return path.removesuffix(".1") + ".md"
    if path.startswith("include/calpe/"):
        return f"api/{os.path.basename(path)}.md"
    return f"source/{path}"


def repository_path(page):
    """The inverse of site_path(), for pages with links."""
    documents = {there: name for name, there in DOCUMENTS.items()}
    return documents.get(page, f"docs/{page}")


def linked_files():
    for document in [*(ROOT / name for name in DOCUMENTS), *ROOT.glob("docs/**/*.md")]:
        for _, target, _, _ in LINK.findall(document.read_text()):
            path = os.path.relpath((document.parent / target).resolve(), ROOT)
            if site_path(path).startswith("source/"):
                yield path


def made_pages():
    """(path on the site, text) of each page that is not a file."""
    for name in man_names():
        yield f"man/{name}.md", man_page(ROOT / f"man/{name}.1")
    for name in sum(HEADERS.values(), []):
        yield f"api/{name}.md", api.header_page(ROOT / "include/calpe" / name)
    yield "api/python.md", api.python_page(ROOT / "python/calpe")


def copied_files():
    """(path on the site, file of the repository)."""
    yield STYLE, "tools/site/calpe.css"
    for name, there in DOCUMENTS.items():
        yield there, name
    for path in set(linked_files()):
        if (ROOT / path).is_file():
            yield f"source/{path}", path


def on_files(files, config):
    folder = pathlib.Path(made.name)
    added = []
    for name, text in made_pages():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        added.append(name)
    for name, path in copied_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / name)
        added.append(name)
    for name in added:
        files.append(File(name, str(folder), config["site_dir"], config["use_directory_urls"]))
    return files


def turned(match, page):
    before, target, anchor, after = match.groups()
    origin = repository_path(page)
    path = os.path.normpath(os.path.join(os.path.dirname(origin), target))
    there = os.path.relpath(site_path(path), os.path.dirname(page) or ".")
    return f"{before}{there}{anchor or ''}{after}"


def is_block(line):
    return ITEM.match(line) or line.startswith("|")


def with_gaps(markdown):
    """A list or a table may follow a line of text at once on GitHub; here it needs a blank line."""
    lines, in_fence = [], False
    for line in markdown.splitlines():
        if FENCE.match(line):
            in_fence = not in_fence
        elif not in_fence and is_block(line) and lines and lines[-1].strip():
            before = lines[-1]
            same = before.startswith("|") if line.startswith("|") else (
                ITEM.match(before) or before.startswith(" "))
            if not same:
                lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def on_page_markdown(markdown, page, config, files):
    path = page.file.src_path
    if path == "index.md":
        page.meta["hide"] = ["navigation"]
    if path.startswith(("man/", "api/")):
        return markdown
    return with_gaps(LINK.sub(lambda match: turned(match, path), markdown))
