# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions in the hot loop of each vector kernel, from the object files.

The hot loop of a function is the innermost loop with the most vector instructions. Its column is
the enclosing loop, which for matrices and transforms goes from one column of vectors to the next.
Matrix passes are counted per 64 bytes of input (from the products, rows x inputs) and per 64 bytes
of each output (from the stores), so that different unrolling can be compared. Everything else is
counted per iteration.
"""
import re

import loops

# Per kernel; less is better.
COUNTS = ("instructions", "products", "xors", "loads", "stores", "spills", "column",
          "column_spills")

PRODUCTS = {"vgf2p8affineqb": 1.0, "vpshufb": 0.5, "pshufb": 0.5}
VECTOR = re.compile(r"%[xyz]mm\d+")
MEMORY = re.compile(r"(-?0x[0-9a-f]+|-?\d+)?\(([^)]*)\)")
WRITE = {"0": "over", "1": "add", "2": "stream"}
# Paths that callgrind cannot run; the others are in calls.PATHS.
VECTOR_BYTES = {"avx2-gfni": 32, "avx512": 64, "avx512-gfni": 64}


class Kernel:
    """For a matrix pass: products per input (0 for a plain sum) and outputs; otherwise None."""

    def __init__(self, name, rows=None, outputs=None):
        self.name = name
        self.rows = rows
        self.outputs = outputs


def kernel_of(symbol):
    """The kernel of a symbol, or None."""
    symbol = re.sub(r" \[clone [^\]]*\]", "", symbol)
    symbol = symbol.replace("calpe::backend::cpu::", "").replace("(anonymous namespace)::", "")
    found = re.match(r"(?:void )?(\w+)<(.*)>\(", symbol)
    if not found:
        return None
    # Skip the first argument, the Vector class, which the path implies.
    arguments = re.sub(r"\b(\d+)ul?\b", r"\1", found[2]).split(", ")[1:]
    if found[1] == "matrix_pass":
        rows, has_sum = int(arguments[0]), arguments[1] == "true"
        write = WRITE[arguments[2].removeprefix("(Write)")]
        table = "sum_and_products" if has_sum else "products"
        return Kernel(f"{table}[{rows + has_sum}] {write}", rows, rows + has_sum)
    words = [re.sub(r"<.*", "", each).removesuffix("Access").lower() for each in arguments]
    return Kernel(f"{found[1]}({', '.join(words)})" if words else found[1])


def is_vector(instruction):
    return VECTOR.search(instruction.operands) is not None


def touches(instruction):
    """(reads memory, writes memory, base register) of a vector instruction."""
    found = MEMORY.search(instruction.operands)
    if not found:
        return False, False, ""
    rest = instruction.operands[found.end():]
    writes = "," not in rest
    return not writes, writes, found[2].split(",")[0]


def frame_registers(function):
    """True if %rbp is the frame pointer of the function."""
    begins = function.instructions[:40]
    is_frame = any(each.name == "mov" and each.operands == "%rsp,%rbp" for each in begins)
    return {"%rsp", "%rbp"} if is_frame else {"%rsp"}


def count(instructions, frame):
    counts = dict.fromkeys(("instructions", "products", "xors", "loads", "stores", "spills"), 0)
    for each in instructions:
        counts["instructions"] += 1
        if not is_vector(each):
            continue
        counts["products"] += PRODUCTS.get(each.name, 0)
        counts["xors"] += each.name.startswith(("vpxor", "vpternlog", "pxor"))
        reads, writes, base = touches(each)
        if base in frame:
            counts["spills"] += 1
        else:
            counts["loads"] += reads
            counts["stores"] += writes
    return counts


def plain(value):
    """Writes 2 instead of 2.0, for a readable baseline."""
    return int(value) if value == int(value) else round(value, 3)


def scaled(counts, factor):
    return {name: value * factor for name, value in counts.items()}


def vector_inputs(kernel, counts):
    """Vectors of input per iteration of a matrix pass."""
    return counts["products"] / kernel.rows if kernel.rows else counts["loads"]


def counts_of(function, kernel, vector_bytes):
    """The counts, or None without a loop over vectors."""
    frame = frame_registers(function)
    all_loops = loops.find_loops(function)
    hot = None
    for loop in loops.innermost(all_loops):
        body = function.loop_instructions(loop)
        work = sum(map(is_vector, body))
        if work > 0 and (hot is None or work > hot[0]):
            hot = (work, loop, count(body, frame))
    if hot is None:
        return None
    around = loops.enclosing(all_loops, hot[1])
    column = count(function.loop_instructions(around), frame)
    counts = hot[2]
    if kernel.rows is not None:
        inputs, unroll = vector_inputs(kernel, counts), column["stores"] / kernel.outputs
        if inputs == 0 or unroll == 0:
            return None
        counts = scaled(counts, 64 / vector_bytes / inputs)
        column = scaled(column, 64 / vector_bytes / unroll)
    counts["column"] = column["instructions"]
    counts["column_spills"] = column["spills"]
    return {name: plain(counts[name]) for name in COUNTS}


def count_functions(functions, path):
    """{"avx512-gfni products[4] over": counts}; for clones, the one with the longer loop."""
    found = {}
    for function in functions:
        kernel = kernel_of(function.name)
        counts = counts_of(function, kernel, VECTOR_BYTES[path]) if kernel else None
        if counts is None:
            continue
        name = f"{path} {kernel.name}"
        if name not in found or counts["column"] > found[name]["column"]:
            found[name] = counts
    return found


def path_of(file):
    """The path of an object file name; None if its loops are not counted."""
    found = re.search(r"/kernels_(\w+)\.cpp\.o$", file)
    path = found[1].replace("_", "-") if found else None
    return path if path in VECTOR_BYTES else None


def count_objects(objects):
    found = {}
    for file in objects:
        found.update(count_functions(loops.disassemble(file), path_of(file)))
    return found
