#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares --help with the man pages, for every verb and subcommand.

Usage: manual_test.py REPOSITORY CALPE
"""
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
calpe = pathlib.Path(sys.argv[2])
errors = []

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
OPTION = r"--[a-z][a-z0-9-]*"
HELP_COLUMNS_MAX = 80


def expect(claim, text):
    if not claim:
        errors.append(text)


def help_of(path):
    done = subprocess.run([calpe, *path, "--help"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and not done.stderr, f"{path} --help: exit {done.returncode}")
    return done.stdout


def sections_of(text):
    """The blocks of a help text by heading."""
    found, name = {}, None
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z].*:", line):
            name = line[:-1]
        elif name and line.startswith("  "):
            found.setdefault(name, []).append(line)
        else:
            name = None
    return found


def verbs_below(text):
    return [line.split()[0] for name, lines in sections_of(text).items()
            for line in lines if name not in ("Options", "Positionals") and line[2] != " "]


def options_of(text):
    lines = sections_of(text).get("Options", [])
    return {option for line in lines if line[2] == "-"
            for option in re.findall(OPTION, line[:line.find("  ", 3)])} - {"--help"}


def check_help(path, text):
    name = " ".join(["calpe", *path])
    expect("Example" in text, f"{name} --help has no example")
    expect(not re.search(r"\)\s+\(", text), f"{name} --help: two pairs of brackets in a row")
    expect("TEXT" not in text, f"{name} --help: an operand is called TEXT; use type_name()")
    for line in text.splitlines():
        expect(len(line) <= HELP_COLUMNS_MAX or line.startswith(("Example", " " * 9)),
               f"{name} --help is {len(line)} columns wide: {line}")
    return options_of(text)


def page_text(name):
    return (root / f"man/{name}.1").read_text().replace("\\-", "-")


def tagged_options(page):
    """Options that have their own paragraph."""
    lines = page.splitlines()
    return {option for tag, line in zip(lines, lines[1:]) if tag == ".TP"
            for option in re.findall(OPTION, line)}


def check_page(verb, options, verbs):
    """Compares a verb's page with its help and that of its subcommands."""
    name = f"calpe-{verb}"
    if not (root / f"man/{name}.1").exists():
        expect(False, f"man/{name}.1 is missing")
        return
    page = page_text(name)
    expect(tagged_options(page) == options,
           f"{name}.1 and --help list different options: "
           f"{sorted(tagged_options(page) ^ options)}")
    for below in verbs:
        expect(re.search(rf"\b{below}\b", page), f"{name}.1 does not name {below}")
    examples = page.split(".SH EXAMPLES")[-1].split(".SH")[0]
    used = re.findall(rf"^(?:\.B |\w+ \| )?(calpe {verb}.*)$", examples, re.M)
    expect(used, f"{name}.1 has no example of the verb")
    for line in used:
        strange = set(re.findall(OPTION, line.split("|")[0])) - options
        expect(not strange, f"{name}.1: an example uses unknown options {strange}: {line}")


def check_all_pages(verbs):
    names = {path.stem for path in root.glob("man/*.1")}
    others = {"calpe", "cauchyrs", "nbdkit-calpe-plugin"}
    expect(names == others | {f"calpe-{verb}" for verb in verbs},
           f"pages without a verb: {sorted(names - {f'calpe-{verb}' for verb in verbs})}")
    for name in sorted(names):
        page = page_text(name)
        for section in SECTIONS:
            expect(f"\n.SH {section}\n" in page, f"{name}.1 has no {section}")
        see_also = page.split(".SH SEE ALSO")[-1]
        expect(name == "calpe" or "calpe" in see_also, f"{name}.1: SEE ALSO does not name calpe")
        for other in re.findall(r"\b(calpe(?:-[a-z]+)*)\s*\(1\)", page):
            expect(other in names, f"{name}.1 refers to {other}(1), which is missing")
        warnings = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", f"man/{name}.1"],
                                  cwd=root, capture_output=True, text=True, check=False).stderr
        expect(not warnings, f"{name}.1: {warnings}")
    main = page_text("calpe")
    for verb in verbs:
        expect(main.count(f"calpe-{verb} (1)") == 2,
               f"calpe.1 must name calpe-{verb} in COMMANDS and in SEE ALSO")


def check_usage():
    """Usage errors exit with 3 and point to --help."""
    environment = dict(os.environ, COLUMNS="80")
    for words, code, said in (
            ([], 3, "calpe protect"), (["--help"], 0, "Usage: calpe"),
            (["unknown"], 3, "calpe: see: calpe --help"),
            (["codes", "--unknown"], 3, "calpe codes: see: calpe codes --help"),
            (["help"], 0, "Usage: calpe"), (["help", "protect"], 0, "Usage: calpe protect"),
            (["help", "codes", "check"], 0, "Usage: calpe codes check"),
            (["verfy"], 3, 'calpe: unknown command "verfy"; did you mean verify?'),
            (["protect", "x", "--dat", "4"], 3, "unknown option --dat; did you mean --data?"),
            (["protect", "--dat=4"], 3, "unknown option --dat; did you mean --data?"),
            (["report", "x", "y"], 3, 'calpe report: unexpected argument "y"'),
            (["protect", "x", "--data", "a"], 3, '--data is "a"; expected 1 to 255'),
            (["protect", "x", "--data"], 3, "calpe protect: --data needs a value"),
            (["protect", "x", "--io", "a"], 3, '--io is "a"; expected one of uring, threads'),
            (["verify", "--jobs", "1", "--jobs", "2"], 3, "--jobs is given more than once"),
            (["codes", "check", "--data", "0", "--parity", "1"], 3, "calpe codes check: --data"),
            (["verify", "--unknown"], 3, "calpe verify: see: calpe verify --help"),
            (["array", "create"], 3, "calpe array create: see: calpe array create --help")):
        done = subprocess.run([calpe, *words], capture_output=True, text=True, check=False,
                              env=environment)
        expect(done.returncode == code, f"calpe {words}: exit {done.returncode}; expected {code}")
        shown = done.stderr if code else done.stdout
        expect(said in shown, f"calpe {words} does not print {said!r}: {shown}")


def main():
    verbs = verbs_below(help_of([]))
    expect(len(verbs) >= 18, f"calpe --help lists only {verbs}")
    check_help([], help_of([]))
    count = 0
    for verb in verbs:
        text = help_of([verb])
        options = check_help([verb], text)
        for below in verbs_below(text):
            options |= check_help([verb, below], help_of([verb, below]))
        check_page(verb, options, verbs_below(text))
        count += len(options)
    check_all_pages(verbs)
    check_usage()
    print("\n".join(errors) or f"{len(verbs)} verbs, {count} options: --help and man pages agree")
    return bool(errors)


sys.exit(main())
