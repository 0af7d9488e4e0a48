/* SPDX-License-Identifier: Apache-2.0 */
/* calpe/streams.h from C: both forms, every small length, lost blocks and failing callbacks. */
#include <calpe/streams.h>

#include "check.h"

#define DATA 3
#define PARITY 2
#define SHARDS (DATA + PARITY)
#define BLOCK 8
#define OBJECT_MAX 100
#define STRIPES_MAX 5

static calpe_error error;
static calpe_codec* codec;
static calpe_stream_options options = CALPE_STREAM_OPTIONS_INIT;

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0')
#define SAYS(text) CHECK(strcmp(error.message, text) == 0)

/* An object and its stripes in memory. */
typedef struct {
  unsigned char object[OBJECT_MAX];
  size_t object_bytes, position, read_most;
  unsigned char blocks[STRIPES_MAX][SHARDS][BLOCK];
  size_t block_bytes[STRIPES_MAX][SHARDS];
  unsigned lost[STRIPES_MAX]; /* sets of shards */
  size_t stripes;
  size_t reads, writes;               /* calls; input and output run at the same time */
  size_t failing_read, failing_write; /* this call returns 1234; 0 = none */
} Store;

static calpe_status read_bytes(void* user, void* to, size_t capacity, size_t* count) {
  Store* store = user;
  size_t left = store->object_bytes - store->position;
  if (++store->reads == store->failing_read) return 1234;
  CHECK(*count == 0 && capacity > 0);
  *count = capacity < left ? capacity : left;
  if (*count > store->read_most) *count = store->read_most;
  (void)memcpy(to, store->object + store->position, *count);
  store->position += *count;
  return CALPE_OK;
}

static calpe_status write_stripe(void* user, const calpe_stream_stripe* stripe) {
  Store* store = user;
  size_t i, total = 0;
  if (++store->writes == store->failing_write) return 1234;
  CHECK(stripe->struct_size == sizeof *stripe && stripe->number == store->stripes);
  CHECK(stripe->block_count == SHARDS && stripe->shard_bytes <= BLOCK);
  for (i = 0; i < SHARDS; ++i) {
    CHECK((stripe->blocks[i] == NULL) == (stripe->block_bytes[i] == 0));
    CHECK(stripe->block_bytes[i] <= stripe->shard_bytes);
    if (i < DATA) total += stripe->block_bytes[i];
    store->block_bytes[stripe->number][i] = stripe->block_bytes[i];
    if (stripe->block_bytes[i] == 0) continue;
    (void)memcpy(store->blocks[stripe->number][i], stripe->blocks[i], stripe->block_bytes[i]);
  }
  CHECK(total == stripe->data_bytes);
  ++store->stripes;
  return CALPE_OK;
}

static calpe_status read_block(void* user, const calpe_stream_block* block, void* to) {
  Store* store = user;
  if (++store->reads == store->failing_read) return 1234;
  CHECK(block->struct_size == sizeof *block && block->offset == block->stripe * BLOCK);
  CHECK(block->bytes == store->block_bytes[block->stripe][block->shard] && block->bytes > 0);
  if (store->lost[block->stripe] >> block->shard & 1) return CALPE_BLOCK_LOST;
  (void)memcpy(to, store->blocks[block->stripe][block->shard], block->bytes);
  return CALPE_OK;
}

static calpe_status write_bytes(void* user, const void* bytes, size_t count) {
  Store* store = user;
  if (++store->writes == store->failing_write) return 1234;
  CHECK(count > 0 && store->position + count <= store->object_bytes);
  CHECK(memcmp(store->object + store->position, bytes, count) == 0);
  store->position += count;
  return CALPE_OK;
}

static void fill(Store* store, size_t object_bytes) {
  size_t i;
  (void)memset(store, 0, sizeof *store);
  store->object_bytes = object_bytes;
  store->read_most = 5;
  for (i = 0; i < object_bytes; ++i)
    store->object[i] = (unsigned char)(i * i + 11 * i + 3);
}

/* Every stripe is what calpe_split() and calpe_encode_object() give. */
static void check_stripes(const Store* store) {
  size_t stripe, i, at = 0;
  for (stripe = 0; at < store->object_bytes; ++stripe) {
    const size_t left = store->object_bytes - at;
    const size_t bytes = left < DATA * BLOCK ? left : DATA * BLOCK;
    const size_t shard_bytes = calpe_shard_bytes_for(codec, bytes);
    const void* data[DATA];
    size_t data_bytes[DATA];
    unsigned char parity[PARITY][BLOCK];
    void* const outputs[PARITY] = {parity[0], parity[1]};
    const unsigned char* const part = store->object + at;
    CHECK_OK(calpe_split(codec, part, bytes, shard_bytes, data, data_bytes, &error));
    CHECK_OK(calpe_encode_object(codec, part, bytes, outputs, shard_bytes, &error));
    for (i = 0; i < DATA; ++i) {
      CHECK(store->block_bytes[stripe][i] == data_bytes[i]);
      CHECK(data_bytes[i] == 0 || !memcmp(store->blocks[stripe][i], data[i], data_bytes[i]));
    }
    for (i = 0; i < PARITY; ++i) {
      CHECK(store->block_bytes[stripe][DATA + i] == shard_bytes);
      CHECK(memcmp(store->blocks[stripe][DATA + i], parity[i], shard_bytes) == 0);
    }
    at += bytes;
  }
  CHECK(store->stripes == stripe);
}

static calpe_status push_object(Store* store, uint64_t* object_bytes) {
  calpe_stream_encoder* encoder = NULL;
  size_t at, count;
  calpe_status status;
  CHECK_OK(calpe_stream_encoder_create(codec, &options, write_stripe, store, &encoder, &error));
  for (at = 0; at < store->object_bytes; at += count) {
    count = store->object_bytes - at < 7 ? store->object_bytes - at : 7;
    status = calpe_stream_encoder_write(encoder, store->object + at, count, &error);
    if (status != CALPE_OK) break;
  }
  status = calpe_stream_encoder_finish(encoder, object_bytes, &error);
  calpe_stream_encoder_destroy(encoder);
  return status;
}

static calpe_status push_stripes(Store* store) {
  calpe_stream_decoder* decoder = NULL;
  size_t stripe, i;
  calpe_status status = CALPE_OK;
  CHECK_OK(calpe_stream_decoder_create(codec, &options, store->object_bytes, write_bytes, store,
                                       &decoder, &error));
  for (stripe = 0; stripe < store->stripes && status == CALPE_OK; ++stripe) {
    const void* blocks[SHARDS];
    for (i = 0; i < SHARDS; ++i) {
      CHECK(calpe_stream_decoder_block_bytes(decoder, (uint16_t)i) ==
            store->block_bytes[stripe][i]);
      blocks[i] = store->lost[stripe] >> i & 1 ? NULL : store->blocks[stripe][i];
    }
    status = calpe_stream_decoder_write(decoder, blocks, &error);
  }
  if (status == CALPE_OK) status = calpe_stream_decoder_finish(decoder, &error);
  calpe_stream_decoder_destroy(decoder);
  return status;
}

static void test_lengths(void) {
  size_t bytes;
  for (bytes = 0; bytes <= OBJECT_MAX; ++bytes) {
    static Store store;
    uint64_t object_bytes = 1;
    fill(&store, bytes);
    options.depth = (uint32_t)bytes % 4; /* 0 is the default */
    CHECK_OK(calpe_encode_stream(codec, &options, read_bytes, write_stripe, &store, &object_bytes,
                                 &error));
    CHECK(object_bytes == bytes);
    check_stripes(&store);
    store.lost[0] = 3;
    store.lost[1] = 20;
    store.position = 0;
    CHECK_OK(calpe_decode_stream(codec, &options, bytes, read_block, write_bytes, &store, &error));
    CHECK(store.position == bytes);
    store.position = 0;
    CHECK_OK(push_stripes(&store));
    CHECK(store.position == bytes);
    fill(&store, bytes);
    object_bytes = 1;
    CHECK_OK(push_object(&store, &object_bytes));
    CHECK(object_bytes == bytes);
    check_stripes(&store);
  }
}

/* Runs a stream whose failing callback is set; returns whether it failed, and checks how. */
static int is_stopped(Store* store, int encodes) {
  const calpe_status status =
      encodes ? calpe_encode_stream(codec, &options, read_bytes, write_stripe, store, NULL, &error)
              : calpe_decode_stream(codec, &options, OBJECT_MAX, read_block, write_bytes, store,
                                    &error);
  CHECK(status == CALPE_OK || status == 1234);
  CHECK(error.status == status);
  CHECK(status == CALPE_OK || strstr(error.message, " returned 1234") != NULL);
  return status != CALPE_OK;
}

/* Each call of each callback fails once, and its number is returned. */
static void test_failures(void) {
  static Store whole, store;
  size_t call;
  int encodes, reads, failed;
  fill(&whole, OBJECT_MAX);
  CHECK_OK(push_object(&whole, NULL));
  whole.lost[2] = 5;
  whole.writes = 0;
  for (options.depth = 1; options.depth <= 3; ++options.depth) {
    for (encodes = 0; encodes < 2; ++encodes) {
      for (reads = 0; reads < 2; ++reads) {
        failed = 1;
        for (call = 1; failed; ++call) {
          if (encodes) {
            fill(&store, OBJECT_MAX);
          } else {
            store = whole;
          }
          *(reads ? &store.failing_read : &store.failing_write) = call;
          failed = is_stopped(&store, encodes);
        }
        CHECK(call >= (size_t)(reads ? 15 : 6));
      }
    }
  }
  options.depth = 0;
  for (call = 1; call < 5; ++call) {
    fill(&store, OBJECT_MAX);
    store.failing_write = call;
    CHECK(push_object(&store, NULL) == 1234);
    CHECK(store.writes == call); /* no call after the failure */
    store = whole;
    store.failing_write = call;
    CHECK(push_stripes(&store) == 1234);
    CHECK(store.writes == call);
  }
}

static void test_losses(void) {
  static Store store;
  fill(&store, OBJECT_MAX);
  CHECK_OK(push_object(&store, NULL));
  store.lost[1] = 1 + 4 + 16;
  CHECK(calpe_decode_stream(codec, &options, OBJECT_MAX, read_block, write_bytes, &store, &error) ==
        CALPE_ERROR_UNRECOVERABLE);
  CHECK(strstr(error.message, "stripe 1 has lost the blocks of shards 0, 2, 4") != NULL);
  CHECK(store.position == DATA * BLOCK);
  store.position = 0;
  CHECK(push_stripes(&store) == CALPE_ERROR_UNRECOVERABLE);
}

static void test_memory(void) {
  static Store store;
  static unsigned char memory[2 * 64];
  fill(&store, OBJECT_MAX);
  options.depth = 2;
  CHECK(calpe_stream_memory_bytes(codec, &options) == sizeof memory);
  options.memory = memory;
  options.memory_bytes = sizeof memory - 1;
  REFUSED(calpe_encode_stream(codec, &options, read_bytes, write_stripe, &store, NULL, &error));
  SAYS("memory has 127 bytes; expected at least 128");
  options.memory_bytes = sizeof memory;
  CHECK_OK(calpe_encode_stream(codec, &options, read_bytes, write_stripe, &store, NULL, &error));
  check_stripes(&store);
  options.memory = NULL;
  REFUSED(calpe_encode_stream(codec, &options, read_bytes, write_stripe, &store, NULL, &error));
  SAYS("memory is NULL, but memory_bytes is 128");
  options.memory_bytes = 0;
  options.depth = 257;
  CHECK(calpe_stream_memory_bytes(codec, &options) == 0);
  options.depth = 0;
  CHECK(calpe_stream_memory_bytes(NULL, &options) == 0);
  CHECK(calpe_stream_memory_bytes(codec, NULL) == (size_t)4 * SHARDS * 65536);
}

static void test_refusals(void) {
  static Store store;
  calpe_stream_options unset = CALPE_STREAM_OPTIONS_INIT;
  calpe_stream_encoder* encoder = NULL;
  calpe_stream_decoder* decoder = NULL;
  const void* blocks[SHARDS] = {NULL, NULL, NULL, NULL, NULL};
  CHECK(unset.struct_size == sizeof unset && unset.block_bytes == 0 && unset.depth == 0);
  unset.struct_size = 0;
  fill(&store, 0);
  REFUSED(calpe_encode_stream(NULL, NULL, read_bytes, write_stripe, &store, NULL, &error));
  REFUSED(calpe_encode_stream(codec, NULL, NULL, write_stripe, &store, NULL, &error));
  REFUSED(calpe_encode_stream(codec, NULL, read_bytes, NULL, &store, NULL, &error));
  REFUSED(calpe_encode_stream(codec, &unset, read_bytes, write_stripe, &store, NULL, &error));
  CHECK_OK(calpe_encode_stream(codec, NULL, read_bytes, write_stripe, &store, NULL, &error));
  REFUSED(calpe_decode_stream(NULL, NULL, 0, read_block, write_bytes, &store, &error));
  REFUSED(calpe_decode_stream(codec, NULL, 0, NULL, write_bytes, &store, &error));
  REFUSED(calpe_decode_stream(codec, NULL, 0, read_block, NULL, &store, &error));
  REFUSED(calpe_decode_stream(codec, &unset, 0, read_block, write_bytes, &store, &error));
  CHECK_OK(calpe_decode_stream(codec, NULL, 0, read_block, write_bytes, &store, &error));

  REFUSED(calpe_stream_encoder_create(NULL, NULL, write_stripe, &store, &encoder, &error));
  REFUSED(calpe_stream_encoder_create(codec, NULL, NULL, &store, &encoder, &error));
  REFUSED(calpe_stream_encoder_create(codec, NULL, write_stripe, &store, NULL, &error));
  REFUSED(calpe_stream_encoder_create(codec, &unset, write_stripe, &store, &encoder, &error));
  CHECK_OK(calpe_stream_encoder_create(codec, NULL, write_stripe, &store, &encoder, &error));
  REFUSED(calpe_stream_encoder_write(NULL, store.object, 1, &error));
  REFUSED(calpe_stream_encoder_write(encoder, NULL, 1, &error));
  CHECK_OK(calpe_stream_encoder_write(encoder, NULL, 0, &error));
  REFUSED(calpe_stream_encoder_finish(NULL, NULL, &error));
  CHECK_OK(calpe_stream_encoder_finish(encoder, NULL, &error));
  REFUSED(calpe_stream_encoder_write(encoder, store.object, 1, &error));
  calpe_stream_encoder_destroy(encoder);
  calpe_stream_encoder_destroy(NULL);

  REFUSED(calpe_stream_decoder_create(NULL, NULL, 1, write_bytes, &store, &decoder, &error));
  REFUSED(calpe_stream_decoder_create(codec, NULL, 1, NULL, &store, &decoder, &error));
  REFUSED(calpe_stream_decoder_create(codec, NULL, 1, write_bytes, &store, NULL, &error));
  REFUSED(calpe_stream_decoder_create(codec, &unset, 1, write_bytes, &store, &decoder, &error));
  CHECK_OK(calpe_stream_decoder_create(codec, NULL, 1, write_bytes, &store, &decoder, &error));
  REFUSED(calpe_stream_decoder_write(NULL, blocks, &error));
  REFUSED(calpe_stream_decoder_write(decoder, NULL, &error));
  CHECK(calpe_stream_decoder_write(decoder, blocks, &error) == CALPE_ERROR_UNRECOVERABLE);
  REFUSED(calpe_stream_decoder_finish(NULL, &error));
  REFUSED(calpe_stream_decoder_finish(decoder, &error));
  SAYS("0 of 1 stripes of the object were written; expected all");
  CHECK(calpe_stream_decoder_block_bytes(decoder, 0) == 1);
  CHECK(calpe_stream_decoder_block_bytes(decoder, 1) == 0);
  CHECK(calpe_stream_decoder_block_bytes(decoder, SHARDS) == 0);
  calpe_stream_decoder_destroy(decoder);
  calpe_stream_decoder_destroy(NULL);
}

int main(void) {
  calpe_spec spec = CALPE_SPEC_INIT;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  options.block_bytes = BLOCK;
  test_lengths();
  test_failures();
  test_losses();
  test_memory();
  test_refusals();
  calpe_codec_destroy(codec);
  return failures == 0 ? 0 : 1;
}
