# SPDX-License-Identifier: Apache-2.0
"""Streams: the stripes of encode_object, lost blocks, files of all kinds, and exceptions. This file
must pass without NumPy."""
import array
import errno
import gc
import io
import itertools
import os
import threading

import calpe
import pytest
from stripes import randoms

CODECS = [
    (4, 2, {}), (1, 1, {}), (4, 3, {"profile": "lrc", "local_groups": 2}),
    (3, 2, {"profile": "hybrid", "layout": "packets"}),
    (3, 2, {"profile": "cauchy-good", "layout": "packets", "packet_bytes": 8})]


def reference_stripes(codec, content, block_bytes):
    """The blocks of every stripe, by split() and encode_object() alone."""
    step = block_bytes * codec.spec.data_shards
    for begin in range(0, len(content), step):
        part = content[begin:begin + step]
        yield [bytes(block) for block in [*codec.split(part), *codec.encode_object(part)]]


def stored(codec, content, block_bytes):
    """The shards: all blocks of a shard one after the other."""
    count = codec.spec.data_shards + codec.spec.parity_shards
    shards = [b""] * count
    for stripe in reference_stripes(codec, content, block_bytes):
        shards = [shard + block for shard, block in zip(shards, stripe)]
    return shards


def lengths(step):
    return [0, 1, 2, step - 1, step, step + 1, 3 * step - 1, 3 * step, 3 * step + 5]


@pytest.mark.parametrize("k, m, options", CODECS)
def test_every_form_gives_the_stripes_of_encode_object(k, m, options):
    codec = calpe.Codec(k, m, **options)
    rng = randoms("streams")
    block_bytes = 3 * codec.shard_bytes_multiple
    for size in lengths(k * block_bytes):
        content = rng.randbytes(size)
        expected = list(reference_stripes(codec, content, block_bytes))
        for depth in (1, 2, 5):
            stripes = []

            def keep(stripe):
                assert stripe.number == len(stripes)
                assert sum(map(len, stripe.blocks[:k])) == stripe.data_bytes
                stripes.append([bytes(block) for block in stripe.blocks])

            assert codec.encode_stream(
                io.BytesIO(content), keep, block_bytes=block_bytes, depth=depth) == size
            assert stripes == expected
        files = [io.BytesIO() for _ in range(k + m)]
        codec.encode_stream(io.BytesIO(content), files, block_bytes=block_bytes)
        assert [file.getvalue() for file in files] == stored(codec, content, block_bytes)
        chunks = [content[at:at + 7] for at in range(0, size, 7)]
        for source in (io.BytesIO(content), chunks, iter([content]), [b"", content, b""]):
            made = list(codec.encode_stripes(source, block_bytes=block_bytes))
            assert [stripe.number for stripe in made] == list(range(len(expected)))
            assert [[bytes(block) for block in stripe.blocks] for stripe in made] == expected
            assert b"".join(codec.decode_stripes(made, size, block_bytes=block_bytes)) == content


@pytest.mark.parametrize("k, m, options", CODECS)
def test_objects_are_read_with_lost_blocks(k, m, options):
    codec = calpe.Codec(k, m, **options)
    rng = randoms("lost blocks")
    block_bytes = 2 * codec.shard_bytes_multiple
    for size in lengths(k * block_bytes):
        content = rng.randbytes(size)
        stripes = list(reference_stripes(codec, content, block_bytes))
        lost = [rng.sample(range(k + m), codec.proof.losses) for _ in stripes]

        def fetch(block):
            found = stripes[block.stripe][block.shard]
            assert len(found) == block.size > 0
            return None if block.shard in lost[block.stripe] else found

        for depth in (1, 4):
            sink = io.BytesIO()
            codec.decode_stream(fetch, sink, size, block_bytes=block_bytes, depth=depth)
            assert sink.getvalue() == content
        left = [[None if i in gone else block for i, block in enumerate(stripe)]
                for stripe, gone in zip(stripes, lost)]
        assert b"".join(codec.decode_stripes(left, size, block_bytes=block_bytes)) == content
        mapped = [{i: block for i, block in enumerate(stripe) if block is not None}
                  for stripe in left]
        assert b"".join(codec.decode_stripes(mapped, size, block_bytes=block_bytes)) == content


def test_shards_may_be_missing_or_end_early():
    codec = calpe.Codec(3, 2)
    content = randoms("files").randbytes(3 * 10 * 4 + 7)
    shards = stored(codec, content, 10)

    def decoded(inputs):
        sink = io.BytesIO()
        codec.decode_stream(inputs, sink, len(content), block_bytes=10)
        return sink.getvalue()

    files = [io.BytesIO(shard) for shard in shards]
    assert decoded([None, *files[1:4], None]) == content
    assert decoded({1: io.BytesIO(shards[1]), 3: io.BytesIO(shards[3]),
                    4: io.BytesIO(shards[4])}) == content
    cut = [io.BytesIO(shards[0][:25]), io.BytesIO(b""), *map(io.BytesIO, shards[2:])]
    assert decoded(cut) == content
    # A shard begins where its file is.
    later = [io.BytesIO(b"header" + shard) for shard in shards]
    for file in later:
        file.seek(6)
    later[1] = None
    assert decoded(later) == content
    with pytest.raises(calpe.UnrecoverableError, match="stripe 2 has lost the blocks of shards "
                                                       "0, 1, 4: shards 0, 1 cannot"):
        decoded([io.BytesIO(shards[0][:29]), None, *map(io.BytesIO, shards[2:4]), None])


class OnlyRead:
    """No readinto() and no seek(), and a few bytes at a time, like some network streams."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, size):
        return self.file.read(min(size, 3))


class ShortWrites:
    """Takes some of the bytes, like raw files."""

    def __init__(self):
        self.data = bytearray()

    def write(self, data):
        self.data += data[:4]
        return min(4, len(data))


def test_files_of_all_kinds(tmp_path):
    codec = calpe.Codec(3, 2)
    content = randoms("kinds").randbytes(1234)
    expected = stored(codec, content, 50)
    sinks = [ShortWrites() for _ in range(5)]
    assert codec.encode_stream(OnlyRead(content), sinks, block_bytes=50) == 1234
    assert [bytes(sink.data) for sink in sinks] == expected
    sink = ShortWrites()
    inputs = [None, *map(OnlyRead, expected[1:])]
    inputs[2] = None
    codec.decode_stream(inputs, sink, 1234, block_bytes=50)
    assert sink.data == content

    (tmp_path / "object").write_bytes(content)
    with open(tmp_path / "object", "rb", buffering=0) as source:
        files = [open(tmp_path / f"shard{i}", "wb", buffering=0) for i in range(5)]
        codec.encode_stream(source, files, block_bytes=50)
    for file in files:
        file.close()
    assert [(tmp_path / f"shard{i}").read_bytes() for i in range(5)] == expected
    files = [open(tmp_path / f"shard{i}", "rb") for i in range(5)]
    with open(tmp_path / "again", "wb") as target:
        codec.decode_stream([None, files[1], None, *files[3:]], target, 1234, block_bytes=50)
    for file in files:
        file.close()
    assert (tmp_path / "again").read_bytes() == content

    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as target, os.fdopen(reading, "rb") as source:
        target.write(content)
        target.close()
        stripes = list(codec.encode_stripes(source, block_bytes=50))
    assert [b"".join(stripe.blocks[i] for stripe in stripes) for i in range(5)] == expected
    words = array.array("I", range(100))
    parts = list(codec.encode_stripes([words], block_bytes=50))
    assert b"".join(codec.decode_stripes(parts, 400, block_bytes=50)) == words.tobytes()
    # None: a shard that is not stored.
    some = [None, io.BytesIO(), None, None, None]
    codec.encode_stream(io.BytesIO(content), some, block_bytes=50)
    assert some[1].getvalue() == expected[1]


class Failing:
    """Raises at one call of one method."""

    def __init__(self, file, at):
        self.file, self.at, self.calls = file, at, 0
        self.error = RuntimeError(f"call {at}")

    def count(self):
        assert self.calls <= self.at, "called after its failure"
        self.calls += 1
        if self.calls > self.at:
            raise self.error

    def readinto(self, view):
        self.count()
        return self.file.readinto(view)

    def write(self, data):
        self.count()
        return self.file.write(data)


@pytest.mark.parametrize("depth", [1, 3])
def test_exceptions_pass_unchanged(depth):
    codec = calpe.Codec(2, 1)
    content = randoms("exceptions").randbytes(100)
    shards = stored(codec, content, 8)
    options = {"block_bytes": 8, "depth": depth}

    def everywhere(run):
        for at in range(100):
            failing = Failing(io.BytesIO(content), at)
            try:
                run(failing)
            except RuntimeError as raised:
                assert raised is failing.error
            else:
                assert failing.calls == at > 5
                return
        raise AssertionError("always fails")

    everywhere(lambda file: codec.encode_stream(file, lambda stripe: None, **options))
    everywhere(lambda file: codec.encode_stream(
        io.BytesIO(content), [io.BytesIO(), file, io.BytesIO()], **options))
    everywhere(lambda file: codec.decode_stream(
        [io.BytesIO(shard) for shard in shards], file, 100, **options))

    def read_first(file):
        file.file = io.BytesIO(shards[0])
        codec.decode_stream([file, *map(io.BytesIO, shards[1:])], io.BytesIO(), 100, **options)

    everywhere(read_first)


class FailingDisk(io.BytesIO):
    """Raises EIO for each use after a number of reads, in seek() too."""

    def __init__(self, content, reads):
        super().__init__(content)
        self.reads = reads
        self.error = OSError(errno.EIO, "Input/output error")

    def readinto(self, view):
        self.reads -= 1
        if self.reads < 0:
            view[:1] = b"?"  # of a read that failed halfway
            raise self.error
        return super().readinto(view)

    def seek(self, *position):
        if self.reads < 0:
            raise AssertionError("used after an error")
        return super().seek(*position)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_failing_disk_is_a_lost_shard(depth):
    codec = calpe.Codec(3, 2)
    content = randoms("failing disks").randbytes(100)
    options = {"block_bytes": 8, "depth": depth}
    for lost in itertools.combinations(range(5), 2):
        for reads in range(7):
            files = [FailingDisk(shard, reads if index in lost else 100)
                     for index, shard in enumerate(stored(codec, content, 8))]
            sink = io.BytesIO()
            failed = codec.decode_stream(files, sink, 100, **options)
            assert sink.getvalue() == content
            assert failed == {index: file.error for index, file in enumerate(files)
                              if file.reads < 0}
            assert set(failed) <= set(lost)
            assert reads > 3 or lost[0] > 2 or lost[0] in failed


def test_too_many_failing_disks():
    codec = calpe.Codec(2, 1)
    content = bytes(range(40))
    files = [FailingDisk(shard, 1) for shard in stored(codec, content, 8)]
    sink = io.BytesIO()
    with pytest.raises(calpe.UnrecoverableError, match="stripe 1 has lost") as raised:
        codec.decode_stream(files[:2] + [None], sink, 40, block_bytes=8, depth=1)
    assert raised.value.__cause__ is files[0].error
    assert sink.getvalue() == content[:16]
    with pytest.raises(calpe.UnrecoverableError) as raised:
        codec.decode_stream([None] * 3, sink, 40)
    assert raised.value.__cause__ is None
    taking_nothing = type("Empty", (), {"readinto": lambda self, view: None})()
    with pytest.raises(BlockingIOError):
        codec.decode_stream([taking_nothing, None, files[2]], sink, 40)


def test_views_outlive_the_stream():
    codec = calpe.Codec(2, 1)
    kept = []
    codec.encode_stream(io.BytesIO(bytes(1000)), lambda stripe: kept.append(stripe.blocks[0]),
                        block_bytes=16)
    gc.collect()
    assert all(view.readonly and len(view) <= 16 for view in kept)
    assert b"".join(kept) == bytes(sum(map(len, kept)))


def test_other_threads_run_meanwhile():
    codec = calpe.Codec(4, 2)
    began, may_end = threading.Event(), threading.Event()

    class Slow(io.RawIOBase):
        def readinto(self, view):
            began.set()
            assert may_end.wait(60)
            return 0

    result = []
    thread = threading.Thread(target=lambda: result.append(codec.encode_stream(Slow(), [None] * 6)))
    thread.start()
    assert began.wait(60)
    may_end.set()
    thread.join()
    assert result == [0]


def test_refusals():
    codec = calpe.Codec(2, 1)
    source, sink = io.BytesIO(b"x" * 20), io.BytesIO()
    refused = calpe.InvalidArgumentError
    with pytest.raises(refused, match="shards has 2 entries; expected 3"):
        codec.encode_stream(source, [None, None])
    with pytest.raises(refused, match="shards has 4 entries; expected 3"):
        codec.decode_stream([None] * 4, sink, 10)
    with pytest.raises(refused, match="shards has index 3"):
        codec.decode_stream({3: source}, sink, 10)
    with pytest.raises(refused, match="block_bytes is 0; expected 1 to"):
        codec.encode_stream(source, [None] * 3, block_bytes=0)
    with pytest.raises(refused, match="block_bytes is -1"):
        codec.decode_stream([None] * 3, sink, 10, block_bytes=-1)
    with pytest.raises(refused, match="block_bytes is 0"):
        codec.encode_stripes([], block_bytes=0)  # not only when it is iterated
    with pytest.raises(refused, match="depth is 0; expected 1 to 256"):
        codec.encode_stream(source, [None] * 3, depth=0)
    with pytest.raises(TypeError, match="depth is float; expected an int"):
        codec.encode_stream(source, [None] * 3, depth=1.5)
    with pytest.raises(TypeError, match="int has neither readinto"):
        codec.encode_stream(7, [None] * 3)
    with pytest.raises(refused, match="object_bytes is -1"):
        codec.decode_stream([None] * 3, sink, -1)
    with pytest.raises(refused, match="block of shard 1 has 3 bytes; expected 4 in stripe 0"):
        codec.decode_stream(lambda block: b"abcd"[:4 - block.shard], sink, 8, block_bytes=4)
    with pytest.raises(refused, match="the result of read is -1"):
        codec.encode_stream(type("Odd", (), {"readinto": lambda self, view: -1})(), [None] * 3)
    blocks = [b"abcd", b"ABCD", b"    "]
    with pytest.raises(refused, match="stripes has 1 stripes; expected 2"):
        list(codec.decode_stripes([blocks], 9, block_bytes=4))
    with pytest.raises(refused, match="stripes has more than 1 stripes"):
        list(codec.decode_stripes([blocks] * 2, 8, block_bytes=4))
    with pytest.raises(refused, match="blocks has 2 entries; expected 3"):
        list(codec.decode_stripes([blocks[:2]], 8, block_bytes=4))
    with pytest.raises(refused, match="block of shard 0 has 4 bytes; expected 3 in stripe 0"):
        list(codec.decode_stripes([blocks], 6, block_bytes=4))
    with pytest.raises(calpe.UnrecoverableError, match="stripe 0 has lost the blocks of shards 0"):
        list(codec.decode_stripes([[None, b"ABCD", None]], 8, block_bytes=4))
    with pytest.raises(BlockingIOError, match="expected a blocking file"):
        codec.encode_stream(type("None_", (), {"readinto": lambda self, view: None})(), [None] * 3)
    with pytest.raises(calpe.IoError, match="returned 0"):
        stuck = type("Stuck", (), {"write": lambda self, data: 0})()
        codec.encode_stream(io.BytesIO(b"x" * 20), [stuck, None, None])


class Full(io.RawIOBase):
    """A non-blocking file that takes nothing."""

    def writable(self):
        return True

    def write(self, data):
        return None


def test_a_file_that_takes_nothing_is_an_error():
    codec = calpe.Codec(2, 1)
    with pytest.raises(BlockingIOError, match="Full takes no bytes yet"):
        codec.encode_stream(io.BytesIO(b"abcdef"), [Full(), Full(), Full()], block_bytes=2)


def test_a_negative_length_is_refused():
    with pytest.raises(calpe.InvalidArgumentError, match="object_bytes is -5"):
        calpe.Codec(2, 1).decode_stripes([], -5)
