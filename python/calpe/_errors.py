# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as one hierarchy; messages are the library's."""
from __future__ import annotations


class Error(Exception):
    """Base of all errors of the library. `code` is its name for the kind, "unrecoverable"."""

    code = ""


class InvalidArgumentError(Error, ValueError):
    """The caller broke a documented requirement."""

    code = "invalid_argument"


class UnrecoverableError(Error):
    """Too many shards are missing for this code."""

    code = "unrecoverable"


class BackendUnavailableError(Error):
    """No such device, driver or compiler on this machine."""

    code = "backend_unavailable"


class CompileFailedError(Error):
    """The emitted kernel was rejected; the message holds the compiler's log."""

    code = "compile_failed"


class DeviceFailedError(Error):
    """The device reported an error at run time."""

    code = "device_failed"


class IoError(Error, OSError):
    """The system could not read or write."""

    code = "io"


class CorruptError(Error):
    """A checksum, header or hash does not match."""

    code = "corrupt"


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""

    code = "out_of_memory"


class UnprovenError(Error):
    """The matrix cannot rebuild some loss that it promises, or nothing proves that it can."""

    code = "unproven"


class AmbiguousError(Error):
    """The damage has more than one explanation; nothing is accused."""

    code = "ambiguous"


# By calpe::ErrorCode, whose numbers never change.
_BY_NUMBER: dict[int, type[Error]] = {
    1: InvalidArgumentError,
    2: UnrecoverableError,
    3: BackendUnavailableError,
    4: CompileFailedError,
    5: DeviceFailedError,
    6: IoError,
    7: CorruptError,
    8: OutOfMemoryError,
    9: UnprovenError,
    10: AmbiguousError,
}


def error_of(number: int, message: str) -> Error:
    return _BY_NUMBER.get(number, Error)(message)
