# SPDX-License-Identifier: Apache-2.0
"""Finds the loops of disassembled functions: objdump output -> basic blocks -> natural loops.

A back edge is a jump to a dominator of its block; the loop is everything between them. Addresses
between target and jump would be wrong, because compilers move parts of a loop to the end of the
function.
"""
import re
import subprocess

HEADER = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
JUMP = re.compile(r"^([0-9a-f]+) <(.*?)(\+0x[0-9a-f]+)?>$")
ENDS = ("ret", "hlt", "ud2")
PREFIXES = {"notrack", "bnd", "rep", "repz", "lock", "cs", "ds", "data16"}


class Instruction:
    """`target` is the jump address within the function, otherwise None."""

    def __init__(self, address, name, operands):
        self.address = address
        self.name = name
        self.operands = operands
        self.target = None


class Loop:
    def __init__(self, head, blocks):
        self.head = head
        self.blocks = blocks  # indices, a frozenset


class Function:
    def __init__(self, name):
        self.name = name
        self.instructions = []
        self.blocks = []      # lists of instructions
        self.successors = []  # indices, per block

    def loop_instructions(self, loop):
        return [each for index in sorted(loop.blocks) for each in self.blocks[index]]


def disassemble(path):
    done = subprocess.run(["objdump", "-drC", "--no-show-raw-insn", "--wide", path],
                          capture_output=True, text=True, check=True)
    return parse(done.stdout)


def parse(text):
    """All functions in the objdump output, with their blocks."""
    functions = []
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            functions.append(Function(header[1]))
            continue
        found = INSTRUCTION.match(line)
        if found and found[2].startswith("R_"):
            # A relocated jump leaves the function; its address is a placeholder.
            if functions and functions[-1].instructions:
                functions[-1].instructions[-1].target = None
        elif found and functions:
            functions[-1].instructions.append(read_instruction(functions[-1].name, found))
    for function in functions:
        split_blocks(function)
    return functions


def read_instruction(function_name, found):
    name, operands = found[2], found[3].split("#")[0].strip()
    while name in PREFIXES and operands:
        name, _, operands = operands.partition(" ")
        operands = operands.strip()
    instruction = Instruction(int(found[1], 16), name, operands)
    # Compare names too, because a jump to another section shows an address of this one.
    jump = JUMP.match(operands) if name.startswith("j") else None
    if jump and jump[2] == function_name:
        instruction.target = int(jump[1], 16)
    return instruction


def split_blocks(function):
    instructions = function.instructions
    known = {each.address for each in instructions}
    starts = {each.target for each in instructions if each.target in known}
    block_of = {}
    for number, each in enumerate(instructions):
        ended = number > 0 and instructions[number - 1].name.startswith(("j", *ENDS))
        if number == 0 or ended or each.address in starts:
            block_of[each.address] = len(function.blocks)
            function.blocks.append([])
        function.blocks[-1].append(each)
    for index, block in enumerate(function.blocks):
        last = block[-1]
        successors = []
        if last.target in block_of:
            successors.append(block_of[last.target])
        falls = last.name != "jmp" and not last.name.startswith(ENDS)
        if falls and index + 1 < len(function.blocks):
            successors.append(index + 1)
        function.successors.append(successors)


def predecessors(function):
    found = [[] for _ in function.blocks]
    for index, successors in enumerate(function.successors):
        for successor in successors:
            found[successor].append(index)
    return found


def reverse_postorder(function):
    order, seen, stack = [], {0}, [(0, iter(function.successors[0]))]
    while stack:
        index, rest = stack[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(function.successors[successor])))
                break
        else:
            order.append(index)
            stack.pop()
    return order[::-1]


def immediate_dominators(function, before):
    """Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm."""
    order = reverse_postorder(function)
    rank = {index: number for number, index in enumerate(order)}
    dominator = {0: 0}
    changed = True
    while changed:
        changed = False
        for index in order[1:]:
            new = None
            for other in before[index]:
                if other in dominator:
                    new = other if new is None else common(dominator, rank, other, new)
            if dominator.get(index) != new:
                dominator[index] = new
                changed = True
    return dominator


def common(dominator, rank, a, b):
    while a != b:
        while rank[a] > rank[b]:
            a = dominator[a]
        while rank[b] > rank[a]:
            b = dominator[b]
    return a


def dominates(dominator, head, index):
    while index != head and index != 0:
        index = dominator[index]
    return index == head


def find_loops(function):
    """All natural loops; back edges to the same head form one loop."""
    if not function.blocks:
        return []
    before = predecessors(function)
    dominator = immediate_dominators(function, before)
    bodies = {}
    for index, successors in enumerate(function.successors):
        for head in successors:
            if index in dominator and dominates(dominator, head, index):
                bodies.setdefault(head, {head}).update(loop_body(before, head, index))
    return [Loop(head, frozenset(body)) for head, body in sorted(bodies.items())]


def loop_body(before, head, last):
    body, waiting = {head, last}, [last] if last != head else []
    while waiting:
        for other in before[waiting.pop()]:
            if other not in body:
                body.add(other)
                waiting.append(other)
    return body


def innermost(loops):
    return [loop for loop in loops
            if not any(other.blocks < loop.blocks for other in loops)]


def enclosing(loops, inner):
    """The smallest loop around `inner`, or `inner` itself."""
    around = [loop for loop in loops if inner.blocks < loop.blocks]
    return min(around, key=lambda loop: len(loop.blocks), default=inner)
