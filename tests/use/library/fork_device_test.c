/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a codec on a device forks. Driver, queues and memory belong to the parent. In the
 * child, every use fails with a message, inherited objects can be destroyed, and a codec on the CPU
 * can be created. The argument is the backend (default: opencl). */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <calpe/calpe.h>

#include "c/check.h"

#define DATA 4
#define PARITY 2
#define SHARDS (DATA + PARITY)
#define BYTES ((size_t)64 << 10)
#define HANG_SECONDS 60U /* a child needs milliseconds; a loaded machine gets this long */

static calpe_error error;
static unsigned char stripe[SHARDS][BYTES];
static unsigned char spare[SHARDS][BYTES];
static const void* data[DATA];
static void* parity[PARITY];
static void* spares[PARITY];

typedef struct inherited {
  calpe_codec* codec;
  calpe_plan* plan;
  calpe_pending* pending;
  calpe_device_memory* memory;
  calpe_registered_memory* registered;
} inherited;

static calpe_codec* make_codec(const char* backend) {
  calpe_spec spec = {sizeof spec, 0, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_options options = {sizeof options, backend, 0, 0, 0, 0};
  calpe_codec* codec = NULL;
  if (calpe_codec_create(&spec, &options, &codec, &error) != CALPE_OK) return NULL;
  return codec;
}

static void check_refused(const char* what, calpe_status status) {
  if (status == CALPE_ERROR_DEVICE_FAILED && strstr(error.message, "fork()") != NULL) return;
  (void)fprintf(stderr, "%s in a child: status %d; expected a refusal that names fork(): %s\n",
                what, (int)status, status == CALPE_OK ? "" : error.message);
  ++failures;
}

static int child(inherited all, const char* backend) {
  (void)alarm(HANG_SECONDS);
  failures = 0;
  check_refused("calpe_encode", calpe_encode(all.codec, data, spares, BYTES, &error));
  const void* in[DATA] = {stripe[0], stripe[1], stripe[2], stripe[4]};
  check_refused("calpe_run", calpe_run(all.codec, all.plan, in, spares, BYTES, 0, &error));
  static const uint16_t available[] = {0, 1, 2, 5}, wanted[] = {3};
  calpe_plan* other = NULL;
  check_refused("calpe_plan_decode",
                calpe_plan_decode(all.codec, available, 4, wanted, 1, NULL, &other, &error));
  check_refused("calpe_wait", calpe_wait(all.pending, &error));
  calpe_device_memory* more = NULL;
  check_refused("calpe_device_memory_allocate",
                calpe_device_memory_allocate(all.codec, BYTES, &more, &error));
  check_refused("calpe_device_memory_read",
                calpe_device_memory_read(all.memory, 0, spare[0], BYTES, &error));
  CHECK(calpe_codec_backend(all.codec) != NULL);
  calpe_device_profile profile = {sizeof profile, 0, 0, 0, 0, 0, 0, 0, 0};
  calpe_codec_device_profile(all.codec, &profile);

  calpe_unregister_memory(all.registered);
  calpe_device_memory_destroy(all.memory);
  calpe_plan_destroy(all.plan);
  calpe_codec_destroy(all.codec);

  calpe_codec* again = make_codec(backend);
  CHECK(again == NULL && error.status == CALPE_ERROR_BACKEND_UNAVAILABLE);
  CHECK(strstr(error.message, "fork()") != NULL);
  calpe_backend_info info = {sizeof info, "", "", "", 0};
  for (size_t i = 0; calpe_backend_at(i, &info) != 0; ++i)
    CHECK(strncmp(info.name, backend, strlen(backend)) != 0 || info.available == 0);

  calpe_codec* const cpu = make_codec("cpu");
  CHECK(cpu != NULL);
  (void)memset(spare, 0, sizeof spare);
  CHECK_OK(calpe_encode(cpu, data, spares, BYTES, &error));
  CHECK(memcmp(spare[0], stripe[DATA], PARITY * BYTES) == 0);
  calpe_codec_destroy(cpu);
  return failures;
}

int main(int count, char** arguments) {
  const char* const backend = count > 1 ? arguments[1] : "opencl";
  for (unsigned i = 0; i < DATA; ++i) {
    for (size_t j = 0; j < BYTES; ++j)
      stripe[i][j] = (unsigned char)((i + 7) * (j + 3) >> 2);
    data[i] = stripe[i];
  }
  for (size_t i = 0; i < PARITY; ++i) {
    parity[i] = stripe[DATA + i];
    spares[i] = spare[i];
  }
  inherited all = {0};
  all.codec = make_codec(backend);
  if (all.codec == NULL) {
    (void)printf("skipped: %s\n", error.message);
    return 77;
  }
  CHECK_OK(calpe_encode(all.codec, data, parity, BYTES, &error));
  static const uint16_t available[] = {0, 1, 2, 4, 5}, wanted[] = {3};
  CHECK_OK(calpe_plan_decode(all.codec, available, 5, wanted, 1, NULL, &all.plan, &error));
  CHECK_OK(calpe_device_memory_allocate(all.codec, BYTES, &all.memory, &error));
  CHECK_OK(calpe_register_memory(all.codec, spare[2], BYTES, &all.registered, &error));
  const int forks = 5;
  for (int i = 0; i < forks; ++i) {
    calpe_stripe one = {data, parity, BYTES};
    calpe_plan* encode = NULL;
    CHECK_OK(calpe_plan_encode(all.codec, &encode, &error));
    CHECK_OK(calpe_submit(all.codec, encode, &one, 1, 0, &all.pending, &error));
    (void)fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) _exit(child(all, backend));
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(calpe_wait(all.pending, &error)); /* the parent's work is unaffected */
    calpe_plan_destroy(encode);
    CHECK_OK(calpe_encode(all.codec, data, spares, BYTES, &error));
    CHECK(memcmp(spare[0], stripe[DATA], PARITY * BYTES) == 0);
    CHECK(strstr(calpe_codec_backend(all.codec), "failed") == NULL);
  }
  (void)printf("%s: %d children refused and destroyed what they inherited\n", backend, forks);
  calpe_unregister_memory(all.registered);
  calpe_device_memory_destroy(all.memory);
  calpe_plan_destroy(all.plan);
  calpe_codec_destroy(all.codec);
  return failures != 0;
}
