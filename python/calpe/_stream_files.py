# SPDX-License-Identifier: Apache-2.0
"""Files and similar objects as input and output of streams."""
from __future__ import annotations

import io
import operator
from typing import TYPE_CHECKING, Any, Callable, Optional

from ._errors import IoError

if TYPE_CHECKING:
    from typing import Protocol, Union

    class ReadableInto(Protocol):
        def readinto(self, buffer: Any, /) -> Optional[int]: ...

    class ReadableCopy(Protocol):
        def read(self, size: int, /) -> Any: ...

    # Files, BytesIO, sockets' makefile(), responses of urllib, ...
    Readable = Union[ReadableInto, ReadableCopy]

    class Writable(Protocol):
        def write(self, data: Any, /) -> Any: ...


def reader_of(source: Any) -> Callable[[memoryview], int]:
    """A function that fills a part of a view and returns its length; 0 at the end."""
    if hasattr(source, "readinto"):
        def read_into(view: memoryview) -> int:
            count = source.readinto(view)
            if count is None:
                raise BlockingIOError(f"{_name(source)} has no bytes yet; expected a blocking file")
            return int(count)
        return read_into
    if not hasattr(source, "read"):
        raise TypeError(f"{_name(source)} has neither readinto() nor read()")

    def read(view: memoryview) -> int:
        data = source.read(len(view))
        if len(data) > len(view):
            raise IoError(f"read() of {_name(source)} returned {len(data)} bytes; expected at most "
                          f"{len(view)}")
        view[:len(data)] = data
        return len(data)
    return read


def write_all(target: Any, data: memoryview) -> None:
    """Writes all bytes, also if write() takes only a part of them."""
    while len(data) > 0:
        count = target.write(data)
        if count is None and isinstance(target, io.RawIOBase):
            raise BlockingIOError(f"{_name(target)} takes no bytes yet; expected a blocking file")
        if count is None:  # the caller's own class, which takes everything
            return
        count = operator.index(count)
        if count >= len(data):
            return
        if count <= 0:
            raise IoError(f"write() of {_name(target)} returned {count}")
        data = data[count:]


def _name(thing: object) -> str:
    return type(thing).__name__


class ShardInput:
    """Reads the blocks of a shard, which begins where the file is now. After an error of its disk
    or connection the shard has ended; `error` keeps it.
    """

    error: Optional[OSError] = None

    def __init__(self, file: Any) -> None:
        self._file = file
        self._read = reader_of(file)
        is_seekable = hasattr(file, "seekable") and file.seekable()
        self._begin: Optional[int] = file.tell() if is_seekable else None
        self._position = 0  # relative to the begin
        self._has_ended = False

    def read(self, offset: int, view: memoryview) -> bool:
        """Fills the view, or returns False if the shard ends or fails before that."""
        if self._has_ended:
            return False
        try:
            return self._move(offset) and self._fill(view)
        except (BlockingIOError, IoError):  # misuse of the file, or a wrong result of its read()
            raise
        except OSError as error:
            self._has_ended = True
            self.error = error
            return False

    def _move(self, offset: int) -> bool:
        if self._position == offset:
            return True
        if self._begin is not None:
            self._file.seek(self._begin + offset)
            self._position = offset
            return True
        skipped = memoryview(bytearray(min(offset - self._position, 1 << 20)))
        while self._position < offset:
            if not self._fill(skipped[:offset - self._position]):
                return False
        return True

    def _fill(self, view: memoryview) -> bool:
        filled = 0
        while filled < len(view):
            count = self._read(view[filled:])
            if count == 0:
                self._has_ended = True  # so are all later blocks
                return False
            filled += count
            self._position += count
        return True
