# SPDX-License-Identifier: Apache-2.0
"""Codec.prepare_queue: plans in a CUDA stream, whose driver is the PTX interpreter."""
import ctypes
import os

import calpe
import pytest
from stripes import randoms

K, M, SIZE = 4, 2, 1000


class Driver:
    """Memory and a stream of the codec's context, through the driver's own functions."""

    def __init__(self, codec):
        self.library = ctypes.CDLL(os.environ["CALPE_CUDA_DRIVER"])
        self.call("cuCtxPushCurrent_v2", ctypes.c_void_p(codec.native_context()))
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)
        self.stream = stream.value

    def call(self, name, *arguments):
        assert getattr(self.library, name)(*arguments) == 0, name

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def write(self, address, data):
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), data,
                  ctypes.c_size_t(len(data)), ctypes.c_void_p(self.stream))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoHAsync_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size),
                  ctypes.c_void_p(self.stream))
        self.call("cuStreamSynchronize", ctypes.c_void_p(self.stream))
        return data.raw


@pytest.fixture(name="codec")
def cuda_codec():
    try:
        return calpe.Codec(K, M, backend="cuda")
    except calpe.BackendUnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("stripes", [1, 3])
def test_work_is_done_in_the_stream(codec, stripes):
    driver = Driver(codec)
    plan = codec.prepare_queue(codec.plan_encode(), SIZE)
    assert plan.shard_bytes == SIZE
    data = randoms("queues").randbytes(stripes * K * SIZE)
    expected = b"".join(
        bytes(shard) for s in range(stripes) for shard in calpe.Codec(K, M).encode(
            [data[(s * K + i) * SIZE:(s * K + i + 1) * SIZE] for i in range(K)]))
    start, parity = driver.allocate(len(data)), driver.allocate(len(expected))
    space = plan.workspace_bytes(stripes)
    workspace = driver.allocate(space)
    driver.write(start, data)
    plan.enqueue_cuda(driver.stream, [start + i * SIZE for i in range(stripes * K)],
                      [parity + i * SIZE for i in range(stripes * M)], workspace, space)
    assert driver.read(parity, len(expected)) == expected
    driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


def test_operands_are_checked(codec):
    plan = codec.prepare_queue(codec.plan_encode(), SIZE)
    with pytest.raises(calpe.InvalidArgumentError, match="outputs has 1 addresses"):
        plan.enqueue_cuda(0, [1] * K, [1], 1, 1)
    with pytest.raises(calpe.InvalidArgumentError, match="inputs has 3 addresses"):
        plan.enqueue_cuda(0, [1] * 3, [1] * M, 1, 1)
    with pytest.raises(calpe.InvalidArgumentError, match=r"inputs\[1\] is -1"):
        plan.enqueue_cuda(0, [1, -1, 1, 1], [1] * M, 1, 1)
    with pytest.raises(calpe.InvalidArgumentError, match="workspace has 1 bytes"):
        plan.enqueue_cuda(0, [2**20 * i for i in range(K)], [2**30, 2**31], 1, 1)
    with pytest.raises(calpe.InvalidArgumentError, match="is not in memory of cuda:0"):
        plan.enqueue_cuda(0, [2**20 * i for i in range(1, 5)], [2**30, 2**31], 64, 4096)
    with pytest.raises(calpe.InvalidArgumentError, match="CUDA streams only"):
        driver = Driver(codec)
        memory = driver.allocate(2**16)
        plan.enqueue_opencl(0, [memory] * K, [memory + 4096, memory + 8192], memory + 2**15, 512)
    driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
    with pytest.raises(TypeError):
        plan.enqueue_cuda("0", [], [], 0, 0)


def test_the_cpu_takes_no_stream():
    codec = calpe.Codec(K, M, backend="cpu")
    assert codec.native_context() == 0
    with pytest.raises(calpe.InvalidArgumentError, match="takes no stream or queue"):
        codec.prepare_queue(codec.plan_encode(), SIZE)
