# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs: pages that lie outside of docs/, and the Markdown that GitHub reads and mkdocs
does not.

The repository's own documents and the man pages become pages, files that documents link to are
copied below source/, and links are turned to where all of that is on the site.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where they are on the site; a README.md there would be its index.
DOCUMENTS = {"README.md": "readme.md", "ARCHITECTURE.md": "architecture.md",
             "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
             "SECURITY.md": "security.md", "RELEASING.md": "releasing.md"}
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^([-*+]|\d+\.) ")

made = tempfile.TemporaryDirectory(prefix="calpe-site-")


def on_config(config):
    """The commands of the navigation: a page for every man page, calpe itself first."""
    names = sorted((path.stem for path in ROOT.glob("man/*.1")), key=lambda name: (
        name != "calpe", name))
    for entry in config["nav"]:
        if "Commands" in entry:
            entry["Commands"] = [{name.replace("-", " ", 1): f"man/{name}.md"} for name in names]
    return config


def man_page(path):
    """As a terminal shows it: what is bold or underlined there is plain here."""
    shown = subprocess.run(["groff", "-man", "-Tutf8", "-P-c", "-rLL=96n", str(path)], check=True,
                           capture_output=True, text=True).stdout
    plain = re.sub(r".\x08", "", shown)
    return f"# {path.stem.replace('-', ' ', 1)}\n\n~~~text\n{plain.strip()}\n~~~\n"


def site_path(path):
    """Where a file of the repository is on the site."""
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if path in DOCUMENTS:
        return DOCUMENTS[path]
    if path.startswith("man/"):
        return path.removesuffix(".1") + ".md"
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


def on_files(files, config):
    folder = pathlib.Path(made.name)
    (folder / "man").mkdir(exist_ok=True)
    added = list(DOCUMENTS.values())
    for name, there in DOCUMENTS.items():
        shutil.copy(ROOT / name, folder / there)
    for path in ROOT.glob("man/*.1"):
        (folder / f"man/{path.stem}.md").write_text(man_page(path))
        added.append(f"man/{path.stem}.md")
    for path in set(linked_files()):
        if (ROOT / path).is_file():
            (folder / "source" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / "source" / path)
            added.append(f"source/{path}")
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
    """A list or a table may follow a line of text at once on GitHub; here it needs a gap."""
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
    if path.startswith("man/"):
        return markdown
    return with_gaps(LINK.sub(lambda match: turned(match, path), markdown))
