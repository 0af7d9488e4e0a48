# SPDX-License-Identifier: Apache-2.0
"""Tensors with __dlpack__ are shards, in place: PyTorch's, and ones made here by the standard."""
import ctypes
import gc
import weakref

import calpe
import pytest
from stripes import randoms

SIZE = 4096
CPU, CUDA = 1, 2
UINT, FLOAT = 1, 2


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", DELETER), ("flags", ctypes.c_uint64),
                ("tensor", DLTensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor:
    """A producer of capsules over `content`; counts them and their releases."""

    def __init__(self, content, shape=None, strides=None, version=None, read_only=False, bits=8,
                 code=UINT, offset=0, device=CPU, fails=None):
        self.content = content
        self.memory = (ctypes.c_ubyte * len(content)).from_buffer(content)
        shape = (len(content) - offset,) if shape is None else shape
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.version, self.read_only, self.bits, self.code = version, read_only, bits, code
        self.offset, self.device, self.fails = offset, device, fails
        self.given, self.deleted, self.alive = 0, 0, []

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **named):
        if self.fails:
            raise self.fails
        if named and not self.version:  # as exporters before version 1
            raise TypeError("unexpected keyword argument 'max_version'")
        if self.version:
            assert named == {"max_version": (1, 0), "copy": False}
        tensor = DLTensor(
            ctypes.addressof(self.memory), self.device, 0, len(self.shape), self.code, self.bits, 1,
            self.shape, self.strides or None, self.offset)
        deleter = DELETER(self.delete)
        made = (Versioned(*self.version, None, deleter, int(self.read_only), tensor)
                if self.version else Managed(tensor, None, deleter))
        self.alive.append((made, deleter))
        self.given += 1
        name = b"dltensor_versioned" if self.version else b"dltensor"
        return new_capsule(ctypes.addressof(made), name, None)

    def delete(self, _):
        self.deleted += 1


def bytes_of(seed, size=SIZE):
    return randoms(f"dlpack {seed}").randbytes(size)


@pytest.mark.parametrize("version", [None, (1, 0), (1, 7)])
def test_tensors_are_read_and_written_in_place(version):
    codec = calpe.Codec(2, 2)
    plain = [bytes_of("a"), bytes_of("b")]
    data = [Tensor(bytearray(content), version=version) for content in plain]
    parity = [Tensor(bytearray(SIZE), version=version) for _ in range(2)]
    assert codec.encode(data, parity) is parity
    assert [tensor.content for tensor in parity] == codec.encode(plain)
    assert codec.verify(data, parity) == ()
    lost = Tensor(bytearray(SIZE), version=version)
    codec.rebuild([None, data[1], *parity], [lost])
    assert lost.content == plain[0]
    calpe.add(lost, data[0])
    assert not any(lost.content)
    for tensor in (*data, *parity, lost):
        assert tensor.given == tensor.deleted > 0


@pytest.mark.parametrize("strides", [None, (128, 1)])
def test_rows_of_a_tensor_are_shards(strides):
    codec = calpe.Codec(3, 1)
    content = bytearray(bytes_of("rows", 3 * 128))
    rows = [bytes(content[i * 128:(i + 1) * 128]) for i in range(3)]
    tensor = Tensor(content, (3, 128), strides)
    assert codec.encode(tensor) == codec.encode(rows)
    narrow = Tensor(content, (3, 100), (128, 1))  # rows with gaps between them
    assert codec.encode(narrow) == codec.encode([row[:100] for row in rows])
    assert narrow.given == narrow.deleted == 1
    with pytest.raises(calpe.InvalidArgumentError, match="data is one buffer of 1 dimension"):
        codec.encode(Tensor(content))


def test_wider_items_and_offsets():
    codec = calpe.Codec(2, 1)
    content = bytearray(bytes_of("wide", 264))
    floats = [Tensor(content, (32,), (1,), bits=64, code=FLOAT, offset=8), bytes(256)]
    assert codec.encode(floats) == [content[8:]]
    assert codec.encode([Tensor(content, (4, 8), bits=64, offset=8), bytes(256)]) == [content[8:]]
    assert codec.encode([Tensor(content, (), bits=32), bytes(4)]) == [content[:4]]
    assert codec.encode([Tensor(content, (0,)), b""]) == [b""]


def test_split_keeps_the_tensor():
    codec = calpe.Codec(4, 2)
    content = bytearray(b"0123456789")
    tensor = Tensor(content)
    views = codec.split(tensor)
    assert [bytes(view) for view in views] == [b"012", b"345", b"678", b"9"]
    assert tensor.deleted < tensor.given
    views[0][0] = 65
    assert content == b"A123456789"
    del views
    gc.collect()
    assert tensor.deleted == tensor.given
    assert codec.encode_object(tensor) == codec.encode_object(bytes(content))


def test_read_only_tensors_are_inputs_only():
    codec = calpe.Codec(2, 1)
    locked = Tensor(bytearray(b"abcd"), version=(1, 0), read_only=True)
    assert codec.encode([locked, b"ABCD"]) == [b"    "]
    with pytest.raises(calpe.InvalidArgumentError, match=r"parity\[0\] is read-only \(Tensor\)"):
        codec.encode([b"abcd", b"ABCD"], [locked])
    assert locked.content == b"abcd" and locked.given == locked.deleted == 2


@pytest.mark.parametrize("fault, message", [
    ({"device": CUDA}, r"data\[1\] \(Tensor\) is on DLPack device type 2; expected CPU memory"),
    ({"version": (2, 0)}, r"data\[1\] exports DLPack version 2.0; expected 1.x"),
    ({"bits": 4}, r"data\[1\] has items of 4 bits; expected whole bytes"),
    ({"shape": (4,), "strides": (2,)}, r"data\[1\] is not contiguous: shape \(4\)"),
    ({"shape": (4,), "strides": (-1,), "offset": 3}, r"data\[1\] is not contiguous"),
    ({"shape": (2,), "strides": (2,), "bits": 16}, r"data\[1\] is not contiguous"),
    ({"fails": BufferError("needs grad")}, r"data\[1\] cannot be exported by DLPack: needs grad$"),
])
def test_unusable_tensors_are_refused(fault, message):
    tensor = Tensor(bytearray(8), **fault)
    with pytest.raises(calpe.InvalidArgumentError, match=message):
        calpe.Codec(2, 1).encode([bytes(8), tensor])
    # A capsule of an unknown version is left to its exporter.
    assert tensor.deleted == (0 if fault.get("version") == (2, 0) else tensor.given)


def test_what_is_no_tensor_is_refused():
    class NoCapsule(Tensor):
        def __dlpack__(self, **named):
            return 7

    with pytest.raises(calpe.InvalidArgumentError, match=r"data\[0\]: __dlpack__ returned no"):
        calpe.Codec(2, 1).encode([NoCapsule(bytearray(4)), bytes(4)])
    with pytest.raises(TypeError, match=r"data\[0\] is int; expected .* tensor with __dlpack__"):
        calpe.Codec(2, 1).encode([7, bytes(4)])


def test_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: .ci/install --nightly")
    codec = calpe.Codec(4, 2)
    stripe = torch.zeros((6, SIZE), dtype=torch.uint8)
    stripe[:4] = torch.randint(0, 256, (4, SIZE), dtype=torch.uint8)
    plain = [bytes(row.tolist()) for row in stripe[:4]]
    codec.encode(stripe[:4], stripe[4:])
    assert [bytes(row.tolist()) for row in stripe[4:]] == codec.encode(plain)
    lost = stripe[1].clone()
    stripe[1] = 0
    codec.rebuild([stripe[0], None, *stripe[2:]], [stripe[1]])
    assert torch.equal(stripe[1], lost)
    # Weights: any type, a shard per tensor.
    weights = [torch.randn(256, 4) for _ in range(4)]
    parity = [torch.empty(1024) for _ in range(2)]
    codec.encode(weights, parity)
    found = torch.zeros(1024)
    codec.rebuild([None, *weights[1:], *parity], [found])
    assert torch.equal(found.reshape(256, 4), weights[0])
    with pytest.raises(calpe.InvalidArgumentError, match="not contiguous"):
        codec.encode(stripe[:4, ::2])
    with pytest.raises(calpe.InvalidArgumentError, match=r"data\[0\] cannot be exported"):
        codec.encode([torch.zeros(4, requires_grad=True)] * 4)


def test_pytorch_memory_is_freed():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: .ci/install --nightly")
    tensor = torch.ones(64, dtype=torch.uint8)
    gone = weakref.ref(tensor)
    views = calpe.Codec(2, 1).split(tensor)
    del tensor
    assert bytes(views[1]) == b"\1" * 32  # the memory outlives the object
    del views
    gc.collect()
    assert gone() is None
