# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant in the Python binding. See mutations.py."""
from mutation import Mutation

BUFFERS = "python:buffers"
CODEC = "python:codec"
THREADS = "python:threads"
REFERENCE = "python:reference"
TEXTS = "python:texts"
HOLD = "python/native/buffers.cpp"
WORK = "python/native/codec_work.cpp"

PYTHON_MUTATIONS = [
    Mutation("python: the interpreter's lock is kept", "python/native/failure.hpp",
             "  const py::gil_scoped_release released;\n", "", (THREADS,)),
    Mutation("python: buffers are released before the work", HOLD,
             "  return view;\n}\n\ntemplate <class View>\nvoid HeldShards<View>::take(",
             "  PyBuffer_Release(&view);\n  return view;\n}\n\n"
             "template <class View>\nvoid HeldShards<View>::take(", (THREADS, BUFFERS)),
    Mutation("python: buffers are never released", HOLD,
             "    PyBuffer_Release(&view);\n}\n", "    (void)view;\n}\n", (THREADS,)),
    Mutation("python: outputs need not be writable", HOLD,
             "is_written ? PyBUF_RECORDS : PyBUF_RECORDS_RO", "PyBUF_RECORDS_RO", (BUFFERS,)),
    Mutation("python: gaps are not seen", HOLD, "view.strides[dimension] != bytes",
             "view.strides[dimension] < 0", (BUFFERS,)),
    Mutation("python: rows are taken for packed", HOLD, "bytes) : view.strides[0];",
             "bytes) : static_cast<Py_ssize_t>(bytes);", (BUFFERS,)),
    Mutation("python: Python objects are taken for bytes", HOLD,
             "if (*format == 'O' && !in_name) return true;",
             "if (*format == 'O' && in_name) return true;", (BUFFERS,)),
    Mutation("python: shards that are None are not missing", HOLD,
             "      missing_.push_back(static_cast<ShardIndex>(i));\n", "", (CODEC,)),
    Mutation("python: new parity has the length of data", WORK,
             "is_data ? shard_bytes : codec.parity_bytes(shard_bytes)", "shard_bytes",
             (BUFFERS,)),
    Mutation("python: rebuilt parity has the length of data", "python/native/rebuild_work.cpp",
             "is_data ? data_bytes : request.codec.parity_bytes(data_bytes)", "data_bytes",
             ("python:rebuild",)),
    Mutation("python: wide parity gives the length of data", "python/native/codec_work.hpp",
             "return spec.layout == Layout::packets || spec.word_bits == 16;",
             "return spec.layout == Layout::packets;", (BUFFERS,)),
    Mutation("python: accumulate is forgotten", WORK, "options{.accumulate = accumulate}",
             "options{.accumulate = false && accumulate}", (CODEC,)),
    Mutation("python: new bytes of an update are taken for its delta", WORK,
             "codec.update(what, held, holds, outputs.get())",
             "codec.update(what, holds, outputs.get())", (CODEC,)),
    Mutation("python: the polynomial is not passed on", "python/native/numbers.cpp",
             "  spec.polynomial = field_of<std::uint32_t>(object, \"polynomial\");\n", "",
             (REFERENCE,)),
    Mutation("python: another input of durability", "python/native/durability_bindings.cpp",
             "{\"detect_hours\", &Inputs::detect_hours}",
             "{\"detect_hours\", &Inputs::replace_hours}", (TEXTS,)),
    Mutation("python: survivors come in the order of the mapping",
             "python/calpe/_shard_lists.py",
             "return [survivors[index] for index in plan.reads]",
             "return [survivors[index] for index in survivors if index in plan.reads]",
             (CODEC,)),
]
