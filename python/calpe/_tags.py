# SPDX-License-Identifier: Apache-2.0
"""Tags of shards (docs/tags.md)."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from ._buffers import Shards, WritableShards


class Tags:
    """The part of `Codec` for tags."""

    __slots__ = ()
    _native: _native.Codec

    def tag(self, shards: Shards) -> list[bytes]:
        """Returns the tags of shards, 8 bytes each: linear hashes, for layout bytes with
        `word_bits` 8. The tags of parity are the parity of the tags, so tags tell whether parity
        matches data. They never change, and are no signature.

        >>> codec = Codec(2, 1)
        >>> data = [b"abc", b"ABC"]
        >>> tags = codec.tag(data)
        >>> codec.verify(tags, codec.tag(codec.encode(data)))
        ()
        """
        return self._native.tag(shards)

    def encode_tagged(self, data: Shards, parity: WritableShards) -> list[bytes]:
        """`encode` into the given parity shards. Returns the tags of all k+m shards, and reads the
        data once.

        >>> codec = Codec(2, 1)
        >>> parity = [bytearray(3)]
        >>> tags = codec.encode_tagged([b"abc", b"ABC"], parity)
        >>> tags == codec.tag([b"abc", b"ABC", *parity])
        True
        """
        return self._native.encode_tagged(data, parity)
