# SPDX-License-Identifier: Apache-2.0
"""Exceptions, one per error code of the library."""
from __future__ import annotations


class Error(Exception):
    """Base class of all errors of the library. `code` names the kind, such as "unrecoverable"."""

    code = ""


class InvalidArgumentError(Error, ValueError):
    """The caller violated a documented requirement."""

    code = "invalid_argument"


class UnrecoverableError(Error):
    """Too many shards are missing for this code."""

    code = "unrecoverable"


class BackendUnavailableError(Error):
    """This machine lacks the device, driver or compiler."""

    code = "backend_unavailable"


class CompileFailedError(Error):
    """The compiler rejected a generated kernel; the message holds its log."""

    code = "compile_failed"


class DeviceFailedError(Error):
    """The device reported an error at run time."""

    code = "device_failed"


class IoError(Error, OSError):
    """A read or write failed."""

    code = "io"


class CorruptError(Error):
    """A checksum, header or hash does not match."""

    code = "corrupt"


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""

    code = "out_of_memory"


class UnprovenError(Error):
    """The matrix cannot rebuild a promised loss, or was not proven to."""

    code = "unproven"


class AmbiguousError(Error):
    """The damage has more than one explanation."""

    code = "ambiguous"


# Keys are values of calpe::ErrorCode, which never change.
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
