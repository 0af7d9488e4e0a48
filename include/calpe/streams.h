/* SPDX-License-Identifier: Apache-2.0 */
/* calpe/streams.h — objects of any length in little memory, in C. The conventions of calpe.h hold.
 *
 *   calpe_status read(void* user, void* to, size_t capacity, size_t* count);
 *   calpe_status write(void* user, const calpe_stream_stripe* stripe);
 *   ...
 *   calpe_stream_options options = CALPE_STREAM_OPTIONS_INIT;
 *   options.block_bytes = 65536;
 *   if (calpe_encode_stream(codec, &options, read, write, &files, &object_bytes, &error)) ...
 *
 * Stripe s holds bytes [s * k * block_bytes, (s + 1) * k * block_bytes) of the object, and data
 * block i of it the i-th block_bytes of them. The blocks of the last stripe are those of
 * calpe_split() and calpe_encode_object() with calpe_shard_bytes_for(its bytes): data blocks may be
 * short or empty, and their missing bytes count as zeros. An empty object has no stripes. To read
 * an object you need its length, block_bytes and the spec.
 *
 * Callbacks return CALPE_OK, or another number, which stops the stream and is the result of the
 * call. Use CALPE_ERROR_IO, or numbers of your own above 1000. Each callback is called by one
 * thread at a time, but by several threads in turn; input and output callbacks run at the same
 * time. None is called after the call returns. Buffers are valid until the callback returns. A
 * callback must not use the stream that calls it.
 *
 * calpe/streams.hpp describes streams in more detail. */
#ifndef CALPE_STREAMS_H
#define CALPE_STREAMS_H
#include <calpe/calpe.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct calpe_stream_options {
  size_t struct_size;
  size_t block_bytes;  /* 0 = 65536; a multiple of calpe_shard_bytes_multiple() */
  void* memory;        /* NULL = allocated by the call; must outlive an encoder or decoder */
  size_t memory_bytes; /* at least calpe_stream_memory_bytes() */
  uint32_t depth;      /* stripes in memory, each with a thread, at most 256; 0 = 4 */
  uint32_t reserved;   /* 0; another value is refused */
} calpe_stream_options;
#define CALPE_STREAM_OPTIONS_INIT \
  { sizeof(calpe_stream_options), 0, NULL, 0, 0, 0 }

/* One coded stripe. The library sets struct_size; later versions only append fields. */
typedef struct calpe_stream_stripe {
  size_t struct_size;
  uint64_t number;
  size_t data_bytes;         /* bytes of the object in the stripe, at least 1 */
  size_t shard_bytes;        /* block_bytes, or less in the last stripe */
  size_t block_count;        /* k + m */
  const void* const* blocks; /* data, then parity; an empty one is NULL */
  const size_t* block_bytes; /* their lengths */
} calpe_stream_stripe;

/* A block that a decoder needs. The library sets struct_size; later versions only append fields. */
typedef struct calpe_stream_block {
  size_t struct_size;
  uint64_t stripe;
  uint64_t offset; /* in its shard, if the blocks of a shard are stored one after the other */
  size_t bytes;
  uint16_t shard;
  uint16_t reserved[3]; /* 0 */
} calpe_stream_block;

/* Reads at most `capacity` bytes of the object and sets *count, which is 0 before; 0 = the end. */
typedef calpe_status (*calpe_read_bytes)(void* user, void* to, size_t capacity, size_t* count);
/* Stores the blocks of a stripe. Called in order. */
typedef calpe_status (*calpe_write_stripe)(void* user, const calpe_stream_stripe* stripe);
/* Reads block->bytes bytes, or returns CALPE_BLOCK_LOST. Stripes are read in order, and of each
 * stripe all data blocks in order; parity blocks only to replace lost ones. */
typedef calpe_status (*calpe_read_block)(void* user, const calpe_stream_block* block, void* to);
#define CALPE_BLOCK_LOST (-1)
/* Takes the next bytes of the object. */
typedef calpe_status (*calpe_write_bytes)(void* user, const void* bytes, size_t count);

/* Returns the length of `memory`. A stripe takes k * block_bytes + m * calpe_parity_bytes(),
 * rounded up to 64 bytes; there are `depth` of them, and one with an encoder or decoder. Returns 0
 * if an option is out of range. options may be NULL here and below. */
CALPE_API size_t calpe_stream_memory_bytes(const calpe_codec* codec,
                                           const calpe_stream_options* options);
/* Codes everything that `read` returns; different stripes are read, coded and written at the same
 * time. Returns the error that comes first in the order of stripes. All stripes before it have been
 * written, and none after it. Sets *object_bytes to the length of the object; may be NULL. */
CALPE_API CALPE_CHECKED calpe_status calpe_encode_stream(
    const calpe_codec* codec, const calpe_stream_options* options, calpe_read_bytes read,
    calpe_write_stripe write, void* user, uint64_t* object_bytes, calpe_error* error);
/* Reads an object and rebuilds its lost data blocks, which may differ from stripe to stripe.
 * Returns CALPE_ERROR_UNRECOVERABLE, and names the stripe and shards, if too many are lost. */
CALPE_API CALPE_CHECKED calpe_status calpe_decode_stream(
    const calpe_codec* codec, const calpe_stream_options* options, uint64_t object_bytes,
    calpe_read_block read, calpe_write_bytes write, void* user, calpe_error* error);

/* The same as bytes or stripes arrive, on the calling thread, with the memory of one stripe. These
 * handles are not thread-safe. They keep what they need of the codec. */
typedef struct calpe_stream_encoder calpe_stream_encoder;
typedef struct calpe_stream_decoder calpe_stream_decoder;

CALPE_API CALPE_CHECKED calpe_status calpe_stream_encoder_create(
    const calpe_codec* codec, const calpe_stream_options* options, calpe_write_stripe write,
    void* user, calpe_stream_encoder** out, calpe_error* error);
/* Takes any number of bytes and calls `write` for each stripe that is complete. After a failure,
 * further calls return the same error. */
CALPE_API CALPE_CHECKED calpe_status calpe_stream_encoder_write(calpe_stream_encoder* encoder,
                                                                const void* bytes, size_t count,
                                                                calpe_error* error);
/* Writes the last stripe and sets *object_bytes; may be NULL. */
CALPE_API CALPE_CHECKED calpe_status calpe_stream_encoder_finish(calpe_stream_encoder* encoder,
                                                                 uint64_t* object_bytes,
                                                                 calpe_error* error);
/* Destroys an encoder. Without calpe_stream_encoder_finish() the last stripe is not written. */
CALPE_API void calpe_stream_encoder_destroy(calpe_stream_encoder* encoder);

CALPE_API CALPE_CHECKED calpe_status calpe_stream_decoder_create(
    const calpe_codec* codec, const calpe_stream_options* options, uint64_t object_bytes,
    calpe_write_bytes write, void* user, calpe_stream_decoder** out, calpe_error* error);
/* Returns the length of a shard's block in the next stripe; 0 after the last. */
CALPE_API size_t calpe_stream_decoder_block_bytes(const calpe_stream_decoder* decoder,
                                                  uint16_t shard);
/* Takes the k + m blocks of the next stripe, NULL if lost, and calls `write` with its bytes. If it
 * fails, it can be repeated with other blocks of the same stripe, unless `write` failed. */
CALPE_API CALPE_CHECKED calpe_status calpe_stream_decoder_write(calpe_stream_decoder* decoder,
                                                                const void* const* blocks,
                                                                calpe_error* error);
/* Returns CALPE_ERROR_INVALID_ARGUMENT if stripes are missing. */
CALPE_API CALPE_CHECKED calpe_status calpe_stream_decoder_finish(calpe_stream_decoder* decoder,
                                                                 calpe_error* error);
/* Destroys a decoder. */
CALPE_API void calpe_stream_decoder_destroy(calpe_stream_decoder* decoder);

#ifdef __cplusplus
}
#endif
#endif
