# SPDX-License-Identifier: Apache-2.0
"""Markdown pages of the public headers and of the Python package.

Headers are read line by line, as clang-format leaves them: a comment belongs to the declarations
below it, up to the next comment or blank line. Classes become a heading with their public members.
"""
import ast
import html
import pathlib
import re
import textwrap

COMMENT = re.compile(r"\s*(//|/\*)")
SKIPPED = re.compile(r"#(?!define )|namespace |extern \"C\"|\}\s*(//.*)?$|template <>$|$")
SECTION = re.compile(r"-{3,} (.+?) -{3,}")
# A word that is code: calpe_run, codec.hpp, run(), Codec::spec, CALPE_LOG.
CODE = re.compile(r"(?<![\w`/.])((?:\w+(?:::|\.|->))*\w*_\w+(?:\(\))?|(?:\w+(?:::|\.))*\w+\(\)|"
                  r"\w+(?:::\w+)+)")
FUNCTION = re.compile(r"([\w~]+|operator[^\s(]+)\((?!\*)")
TYPE = re.compile(r"^(?:template <.*> )?(?:typedef )?(?:struct|class|enum class|enum|union)"
                  r"(?: \[\[\w+\]\])? (\w+)(?:<(\w+)>)?|^using (\w+) =")
CONSTANT = re.compile(r"^#define (\w+)|^inline constexpr [\w:]+ (\w+)")


def prose(text):
    """Markdown of a comment's words: names are set as code, the rest is escaped."""
    parts = text.split("`")
    for number in range(0, len(parts), 2):
        pieces = CODE.split(parts[number])
        for at, piece in enumerate(pieces):
            pieces[at] = (f"`{piece}`" if at % 2 else
                          re.sub(r"([*_\[\]])", r"\\\1", html.escape(piece, quote=False)))
        parts[number] = "".join(pieces)
    return "".join(part if number % 2 == 0 else f"`{part}`" for number, part in enumerate(parts))


def comment_lines(lines):
    """The words of a comment, without its marks."""
    result = []
    for line in lines:
        line = re.sub(r"\s*\*/\s*$", "", line.strip())
        result.append(re.sub(r"^(?:// ?|/\* ?|\* ?|//$|\*$)", "", line))
    return result


def comment_markdown(lines, language):
    """Paragraphs, numbered lists and indented code of a comment."""
    out, code = [], []

    def end_code():
        if code:
            out.extend(["", f"```{language}", *textwrap.dedent("\n".join(code)).splitlines(),
                        "```", ""])
            code.clear()

    for line in comment_lines(lines):
        is_list = out and re.match(r"\d+\. ", next((old for old in reversed(out) if old), ""))
        if line.startswith("  ") and not is_list and not re.match(r"\s+\d+\. ", line):
            code.append(line)
            continue
        end_code()
        if re.match(r"\d+\. ", line) and out and out[-1]:
            out.append("")
        # A name and a full stop begin a paragraph: "Threads. Any number ..."
        if re.match(r"[A-Z]\w+\. [A-Z]", line) and out and out[-1]:
            out.append("")
        if out and out[-1] and not out[-1].startswith("```") and line:
            out[-1] += " " + line.strip()
        else:
            out.append(line.strip())
    end_code()
    in_code, result = False, []
    for line in out:
        in_code ^= line.startswith("```")
        result.append(line if in_code or line.startswith("```") else
                      re.sub(r"^([A-Z]\w+\.|`fork\(\)`\.)(?= [A-Z])", r"**\1**", prose(line)))
    return "\n".join(result).strip()


def without_comments(line):
    return re.sub(r"/\*.*?\*/", "", re.sub(r"//.*", "", line)).rstrip()


def comment_end(lines, start):
    """The line after the comment that begins in line `start`."""
    at = start
    if lines[at].lstrip().startswith("/*"):
        while "*/" not in lines[at]:
            at += 1
        return at + 1
    while at < len(lines) and lines[at].lstrip().startswith("//"):
        at += 1
    return at


def declaration_end(lines, start):
    """The line after the declaration that begins in line `start`."""
    if lines[start].startswith("#define"):
        return start + 1
    depth, at = 0, start
    while at < len(lines):
        line = without_comments(lines[at])
        depth += sum(line.count(mark) for mark in "({") - sum(line.count(mark) for mark in ")}")
        at += 1
        if depth == 0 and line.endswith((";", "}")):
            break
    if "/*" in lines[at - 1] and "*/" not in lines[at - 1]:
        return comment_end(lines, at - 1)
    return at


def entries(lines):
    """("section", title) or ("entry", comment, code) for each group of declarations."""
    comment, code, at = [], [], 0
    while at < len(lines):
        line = lines[at]
        if COMMENT.match(line):
            end = comment_end(lines, at)
            section = SECTION.search(line)
            if code or section:
                yield "entry", comment, code
                comment, code = [], []
            if section:
                yield "section", section[1], None
            else:
                comment = [*comment, *lines[at:end]]
            at = end
        elif SKIPPED.match(line):
            if code or not line.strip():
                yield "entry", comment, code
                comment, code = [], []
            at += 2 if line == "namespace gf {" else 1
        else:
            end = declaration_end(lines, at)
            code += lines[at:end]
            at = end
    yield "entry", comment, code


def names_of(code):
    """What a heading says about declarations: functions, else types, else constants."""
    text = "\n".join(map(without_comments, code))
    flat = re.sub(r"\{.*?\}", "", text, flags=re.S) if "{" in text else text
    starts = [line for line in flat.splitlines() if line and not line.startswith(" ")]
    types, functions, constants = [], [], []
    for line in starts:
        found, constant = TYPE.match(line), CONSTANT.match(line)
        if constant:
            constants.append(constant[1] or constant[2])
        elif found:
            types.append((found[1] or found[3]) + (f"<{found[2]}>" if found[2] else ""))
        elif line.startswith("typedef"):
            types += re.findall(r"\(\*(\w+)\)|(\w+);", line) and [
                next(filter(None, re.findall(r"\(\*(\w+)\)|(\w+);", line)[0]))]
        else:
            function = FUNCTION.search(line)
            if function:
                functions.append(f"{function[1]}()")
    if len(constants) > 3:
        constants = [constants[0][:constants[0].rfind("_") + 1] + "*"]
    return list(dict.fromkeys(functions or types or constants))


def public_part(code):
    """The public members of a class, or None for other declarations."""
    marks = [number for number, line in enumerate(code) if line == " public:"]
    if not marks:
        return None
    end = next((number for number, line in enumerate(code) if line == " private:"), len(code) - 1)
    return [line[2:] if line.startswith("  ") else line for line in code[marks[0] + 1:end]]


def entry_markdown(comment, code, level, language, owner=""):
    names = names_of(code)
    out = []
    if names and not owner.startswith("Result"):
        title = ", ".join(f"{owner}::{name}" if owner else name for name in names[:3])
        out += [f"{'#' * level} `{title}`" + (" ..." if len(names) > 3 else ""), ""]
    members = public_part(code)
    if comment:
        out += [comment_markdown(comment, language), ""]
    if members is None or not any(COMMENT.match(line) for line in members):
        shown = code if members is None else [code[0], " public:",
                                              *("  " + line if line else "" for line in members),
                                              "};"]
        return [*out, f"```{language}", *shown, "```", ""]
    for kind, what, group in entries(members):
        if kind == "section":
            continue
        if group:
            out += entry_markdown(what, group, level + 1, language, names[0])
    return out


def header_page(path):
    """A page of a header: its introduction, then everything that it declares."""
    lines = path.read_text(encoding="utf-8").splitlines()
    language = "c" if path.suffix == ".h" else "cpp"
    out = [f"# calpe/{path.name}", "", f"`#include <calpe/{path.name}>`", ""]
    start = 1
    if COMMENT.match(lines[start]):
        end = comment_end(lines, start)
        introduction = [re.sub(rf"(//|/\*) (?:calpe/)?{re.escape(path.name)} — (\w)",
                               lambda found: f"{found[1]} {found[2].upper()}", lines[start]),
                        *lines[start + 1:end]]
        out += [comment_markdown(introduction, language), ""]
        start = end
    body = [line.removeprefix("CALPE_API ") for line in lines[start:]
            if not re.match(r"#define CALPE\w*_H$", line)]
    body = "\n".join(body)
    body = re.sub(r"#if defined\(__GNUC__\)\n.*?#endif\n", "", body, flags=re.S).splitlines()
    for kind, what, code in entries(body):
        if kind == "section":
            out += [f"## {what[0].upper()}{what[1:]}", ""]
        elif code:
            out += entry_markdown(what, code, 3, language)
    text = "\n".join(out)
    # Without sections there is no level between the title and the declarations.
    return (text if "\n## " in text else re.sub(r"^#(##+ )", r"\1", text, flags=re.M)) + "\n"


def docstring_markdown(text):
    """A docstring, its examples as code."""
    out, in_code = [], False
    for line in textwrap.dedent(text).strip().splitlines():
        if line.startswith(">>>") and not in_code:
            out += ["", "```python"]
            in_code = True
        elif in_code and not line.strip():
            out.append("```")
            in_code = False
        out.append(line)
    return "\n".join([*out, "```"] if in_code else out)


def split_arguments(text):
    """Splits at the commas that are outside all brackets."""
    parts, depth = [""], 0
    for part in re.split(r"(, |[\[\]()])", text):
        depth += (part in "[(" and part != "") - (part in "])" and part != "")
        if part == ", " and depth == 0:
            parts.append("")
        else:
            parts[-1] += part
    return parts


def signature(node, name):
    arguments = ast.unparse(node.args)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if node.name == "__init__":
        returns = ""
    arguments = re.sub(r"^(?:self|cls)(?:: \w+)?(?:, /)?(?:, )?", "", arguments)
    line = f"{name}({arguments}){returns}"
    if len(line) > 88:
        parts = ast.parse(f"def f({arguments}): pass").body[0].args
        one = split_arguments(ast.unparse(parts))
        line = f"{name}(\n    " + ",\n    ".join(one) + f",\n){returns}"
    return ["```python", line, "```", ""]


def members_of(node, functions):
    """The functions of a class, also those that it takes from a module: `run = _module.run`."""
    for member in node.body:
        if isinstance(member, ast.Assign) and isinstance(member.value, ast.Attribute):
            member = functions.get(member.value.attr)
        if isinstance(member, ast.FunctionDef):
            yield member


def class_markdown(node, functions):
    out = [f"## `{node.name}`", ""]
    bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) != "object"]
    if bases:
        out += ["Bases: " + ", ".join(f"`{base}`" for base in bases), ""]
    fields = [line for line in node.body if isinstance(line, ast.AnnAssign)]
    if ast.get_docstring(node):
        out += [docstring_markdown(ast.get_docstring(node)), ""]
    if fields:
        out += ["```python", *(ast.unparse(field) for field in fields), "```", ""]
    for member in members_of(node, functions):
        decorators = [ast.unparse(decorator) for decorator in member.decorator_list]
        if "overload" in decorators or (member.name.startswith("_") and member.name != "__init__"):
            continue
        name = node.name if member.name == "__init__" else f"{node.name}.{member.name}"
        if member.name != "__init__":
            out += [f"### `{name}`", ""]
        if "property" in decorators:
            out += ["```python", f"{name}: {ast.unparse(member.returns)}", "```", ""]
        else:
            out += signature(member, name)
        if ast.get_docstring(member):
            out += [docstring_markdown(ast.get_docstring(member)), ""]
    return out


def python_page(folder):
    """A page of the Python package: what `__all__` names, classes first."""
    folder = pathlib.Path(folder)
    found, exported = {}, []
    for path in [folder / "_native.pyi", *sorted(folder.glob("*.py"))]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                decorators = [ast.unparse(line) for line in getattr(node, "decorator_list", [])]
                if "overload" not in decorators and (node.name not in found or
                                                     path.suffix == ".py"):
                    found[node.name] = node
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                exported = ast.literal_eval(node.value)
    nodes = [found[name] for name in exported if name in found]
    nodes.sort(key=lambda node: (node.name != "Codec", node.name.endswith("Error"),
                                 isinstance(node, ast.FunctionDef)))
    out = ["# Python API", "", "The guide with examples is [Python](../python.md). This page lists "
           "every class and function of the package `calpe`.", ""]
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            out += class_markdown(node, found)
        else:
            out += [f"## `{node.name}`", "", *signature(node, f"calpe.{node.name}")]
            if ast.get_docstring(node):
                out += [docstring_markdown(ast.get_docstring(node)), ""]
    return "\n".join(out) + "\n"
