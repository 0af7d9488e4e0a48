#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules that clang-tidy cannot see. Run by ctest as `tidy`: tidy.py [repository]

A rule is a function that yields one message per violation; RULES lists them all.
"""
import pathlib
import re
import statistics
import sys

import layers

CODE = {".hpp", ".cpp", ".h", ".c"}
SCRIPTS = {".py", ".sh", ".cmake"}
# Directories without sources.
SKIPPED_FOLDERS = {".git", "build", "__pycache__"}

FILE_LINES_MAX = 600
LONG_FILES = {"include/calpe/calpe.h": 900}  # the C API is one header, mostly comments
FILE_LINES_MEDIAN_MAX = 200
COLUMNS_MAX = 100

# Plugins for other engines use only the C ABI of Calpe.
PLUGIN_HEADER = "<calpe/calpe.h>"
# The nbdkit plugin serves our own array and may use it directly (docs/adr/0018).
PLUGIN_FOLDERS = {"plugins/nbdkit": ["base", "array", "store"]}

# The linker could keep an inline function compiled with -mavx512f for the whole program. These
# headers have no such function.
KERNEL_HEADERS = {"<cstddef>", "<cstdint>", "<cstring>", "<immintrin.h>", "<arm_neon.h>"}
KERNEL_FOLDER = "backend/cpu/"

# The only files that may call getenv and similar functions.
ENVIRONMENT_FILES = {"platform_posix.cpp", "platform_windows.cpp"}
ENVIRONMENT_CALL = re.compile(r"\b(secure_|__secure_)?getenv\s*\(")

# The only files that may start a thread. Others keep what start_thread() returns.
THREAD_FILES = {"src/base/threads.hpp", "src/base/threads.cpp"}
THREAD_START = re.compile(
    r"std::thread(\s+\w+)?\s*[({]|std::jthread\b|std::async\b|\bpthread_create\s*\(")
THREAD_LIST = re.compile(r"std::vector<std::thread>&?\s+(\w+)")

# Windows' headers, which GoogleTest includes there, define these names as empty macros.
WINDOWS_MACROS = re.compile(r"\b(near|far)\b")

# Absolute paths of build machines. Split, so that this file does not break its own rule.
MACHINE_PATHS = re.compile(r"(?<![\w.])/" + r"(work|root|home)/")


class Source:
    """A text file and its path."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.suffix = path.suffix
        self.name = path.name
        self.lines = path.read_text(encoding="utf-8", errors="replace").splitlines()

    def is_code(self):
        return self.suffix in CODE

    def is_script(self):
        return (self.suffix in SCRIPTS or self.name == "CMakeLists.txt" or
                self.is_in(".ci", ".githooks"))

    def is_in(self, *folders):
        return self.path.startswith(tuple(folder + "/" for folder in folders))

    def layer(self):
        """The layer in layers.py; "include" for public headers, None if not layered."""
        return "include" if self.is_in("include") else layers.layer_of(self.path)

    def includes(self):
        for number, line in enumerate(self.lines, 1):
            found = re.match(r'\s*#\s*include\s*(<[^>]+>|"[^"]+")', line)
            if found:
                yield number, found[1]


def read_sources(root):
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if not SKIPPED_FOLDERS & set(inside.parts) and path.is_file():
            source = Source(root, path)
            if source.is_code() or source.is_script() or path.suffix in (".md", ".json", ".map"):
                yield source


def include_direction(sources):
    for layer in layers.circles():
        yield f"tests/layers.py: {layer}/ may include itself through other directories"
    for source in sources:
        layer = source.layer()
        if not source.is_code():
            continue
        if layer is None:
            if source.is_in("src", "tools"):
                folder = source.path.rsplit("/", 1)[0]
                yield f"{source.path}: {folder}/ is not in the table of layers (tests/layers.py)"
            continue
        for number, name in source.includes():
            message = forbidden_include(source, layer, name)
            if message:
                yield f"{source.path}:{number}: {message}"


def forbidden_include(source, layer, name):
    if layer == "plugins":
        return forbidden_in_plugin(source, name)
    if name.startswith("<"):
        return None
    target = name.strip('"')
    if layer == "include":
        return f"public headers include only <...>, not {name}"
    if "/" not in target or target.startswith(".."):
        return f"write the directory in the include: {name}"
    if layers.may_include(layer, target) or source.is_in(f"{layer}/{target.split('/')[0]}"):
        return other_backend(source, target)
    other = layers.layer_of_include(target)
    folder = layers.include_name(other) if other else target.rsplit("/", 1)[0]
    return f"{layers.include_name(layer)}/ may not include {folder}/"


def forbidden_in_plugin(source, name):
    folder = name.strip('"').split("/")[0]
    for plugin, folders in PLUGIN_FOLDERS.items():
        if source.is_in(plugin) and (name.startswith("<") or folder in folders):
            return None
    if name.startswith("<"):
        if name.startswith("<calpe/") and name != PLUGIN_HEADER:
            return f"plugins/ may include {PLUGIN_HEADER}, not {name}"
        return None
    if not source.is_in(f"plugins/{folder}"):
        return f"plugins/ may include only their own directory, not {name}"
    return None


def other_backend(source, target):
    """backend/cpu may include backend/, but not backend/reference. Only the registry includes all;
    backend/gpu is shared by the backends behind drivers."""
    here, there = source.path.split("/"), target.split("/")
    if source.is_in("src/backend") and there[0] == "backend" and len(here) > 3 and len(there) > 2:
        if there[1] not in (here[2], "gpu"):
            return f"backend/{here[2]}/ may not include backend/{there[1]}/"
    return None


def kernel_includes(sources):
    """Checks kernel files and every header that they include."""
    by_name = {source.path.removeprefix("src/"): source for source in sources}
    waiting = [name for name in by_name if re.match(KERNEL_FOLDER + r"kernels_\w+\.cpp$", name)]
    seen = set(waiting)
    while waiting:
        source = by_name[waiting.pop()]
        for number, name in source.includes():
            target = name.strip('"')
            if name in KERNEL_HEADERS:
                continue
            if not target.startswith(KERNEL_FOLDER):
                yield f"{source.path}:{number}: a kernel file may not include {name}"
            elif target in by_name and target not in seen:
                seen.add(target)
                waiting.append(target)


def file_length(sources):
    for source in sources:
        most = LONG_FILES.get(str(source.path), FILE_LINES_MAX)
        if (source.is_code() or source.is_script()) and len(source.lines) > most:
            yield f"{source.path}: {len(source.lines)} lines, limit {most}"


def median_length(sources):
    lengths = [len(source.lines) for source in sources if source.is_code()]
    median = statistics.median(lengths) if lengths else 0
    if median >= FILE_LINES_MEDIAN_MAX:
        yield f"the median file has {median:.0f} lines, limit {FILE_LINES_MEDIAN_MAX}"


def line_length(sources):
    for source in sources:
        if source.is_code() or source.is_script():
            for number, line in enumerate(source.lines, 1):
                if len(line) > COLUMNS_MAX:
                    yield f"{source.path}:{number}: {len(line)} columns, limit {COLUMNS_MAX}"


def todo_has_issue(sources):
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))")
    for source in sources:
        if source.is_code() or source.is_script():
            for number, line in enumerate(source.lines, 1):
                if words.search(line):
                    yield f"{source.path}:{number}: TO" "DO without issue, write TO" "DO(#12)"


def licence_line(sources):
    for source in sources:
        if source.is_code() or source.is_script() or source.suffix == ".map":
            start = 1 if source.lines and source.lines[0].startswith("#!") else 0
            first = source.lines[start] if len(source.lines) > start else ""
            if "SPDX-License-Identifier: Apache-2.0" not in first:
                yield f"{source.path}: does not start with an SPDX line"


def machine_path(sources):
    for source in sources:
        for number, line in enumerate(source.lines, 1):
            if MACHINE_PATHS.search(line):
                yield f"{source.path}:{number}: names a path of one machine"


def reads_environment(sources):
    """Privileged processes must ignore the environment; base/env implements this."""
    for source in sources:
        if not source.is_code() or not source.is_in("src", "tools", "plugins", "python"):
            continue
        if source.is_in("src/base") and source.name in ENVIRONMENT_FILES:
            continue
        for number, line in enumerate(source.lines, 1):
            if ENVIRONMENT_CALL.search(line.split("//")[0]):
                yield f"{source.path}:{number}: read the environment through base/env.hpp"


def starts_thread(sources):
    """Our threads take no signals and have a name: base/threads sees to that."""
    for source in sources:
        if not source.is_code() or not source.is_in("src", "tools", "plugins", "python", "bench"):
            continue
        if source.path in THREAD_FILES:
            continue
        lists = THREAD_LIST.findall("\n".join(source.lines))
        for number, line in enumerate(source.lines, 1):
            code = line.split("//")[0]
            # A list makes a thread of whatever it gets.
            is_in_list = any(re.search(rf"\b{name}\.emplace_back\(", code) for name in lists)
            if THREAD_START.search(code) or is_in_list:
                yield f"{source.path}:{number}: start threads through base/threads.hpp"


def windows_macro(sources):
    """The tests of the core are also built for Windows, in the nightly run."""
    for source in sources:
        if not source.is_code() or not source.is_in("tests"):
            continue
        for number, line in enumerate(source.lines, 1):
            code = re.split("//|/[*]", re.sub(r'"[^"]*"', '""', line))[0]
            found = WINDOWS_MACROS.search(code)
            if found:
                yield (f"{source.path}:{number}: '{found[1]}' is a macro of Windows; "
                       "choose another name")


RULES = [
    include_direction,
    kernel_includes,
    file_length,
    median_length,
    line_length,
    todo_has_issue,
    licence_line,
    machine_path,
    reads_environment,
    starts_thread,
    windows_macro,
]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    sources = list(read_sources(root))
    messages = [message for rule in RULES for message in rule(sources)]
    print("\n".join(messages) if messages else f"tidy: {len(sources)} files, {len(RULES)} rules")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
