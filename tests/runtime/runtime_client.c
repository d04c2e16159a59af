/* SPDX-License-Identifier: MIT */
/* A program that runs kernels of a bundle, and is linked with libtilejit-runtime alone.
 *
 *     runtime_client describe BUNDLE KERNEL TARGET P=V…
 *         prints of each argument its name, NumPy's type string, element count, and whether it is read and written
 *     runtime_client prepare BUNDLE KERNEL TARGET P=V…
 *         prints the symbol, the grid, the block and the bytes of LDS of a launch, and its argument block in
 * hexadecimal runtime_client run BUNDLE KERNEL DEVICE P=V… ARGUMENT=FROM:TO… each argument's memory is as long as the
 * file FROM, and holds what is in there; what it holds after the launch goes to TO. The kernel runs on host memory
 * first, then on buffers, and must do the same runtime_client damage BUNDLE STEP every STEP-th byte is changed in
 * turn: the bundle must be refused each time
 *
 * Exit status 1, and a line on standard error, where anything fails. */
#include "../client_files.h"

#include <tilejit/runtime.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 8, BUNDLE_IS_DAMAGED = 6017 };

static tj_context *context;

static void expect(tj_status status) {
  if (status == TJ_OK)
    return;
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  char text[1024] = "no diagnostic";
  if (diagnostic != NULL)
    tj_diagnostic_format(diagnostic, 0, text, sizeof text);
  fail(text);
}

/* --- launches --- */

/* What a call names: a launch of some code of a bundle, with its parameters, and the arguments' files. */
typedef struct {
  tj_bundle *bundle;
  tj_code *code;
  tj_launch *launch;
  struct {
    const char *name, *to;
    bytes memory;
    tj_buffer *buffer;
  } argument[MOST_ARGUMENTS];
  size_t argument_count;
} call;

static void add_argument(call *c, char *word, char *equals) {
  char *colon = strchr(equals, ':');
  if (c->argument_count == MOST_ARGUMENTS)
    fail("too many arguments");
  *equals = *colon = '\0';
  c->argument[c->argument_count].name = word;
  c->argument[c->argument_count].memory = read_file(equals + 1);
  c->argument[c->argument_count++].to = colon + 1;
}

static call make_call(const char *path, const char *kernel, const char *target, char **word) {
  call c = {0};
  expect(tj_bundle_open_file(context, path, &c.bundle));
  expect(tj_bundle_code(c.bundle, kernel, target, &c.code));
  expect(tj_launch_create(context, c.code, &c.launch));
  for (; *word != NULL; word++) {
    char *equals = strchr(*word, '=');
    if (equals == NULL)
      fail(*word);
    if (strchr(equals, ':') != NULL) {
      add_argument(&c, *word, equals);
      continue;
    }
    *equals = '\0';
    expect(tj_launch_set_parameter(c.launch, *word, strtoll(equals + 1, NULL, 0)));
  }
  return c;
}

/* Code outlives its bundle. */
static void end_call(call *c) {
  tj_bundle_destroy(c->bundle);
  tj_launch_destroy(c->launch);
  tj_code_destroy(c->code);
  for (size_t i = 0; i < c->argument_count; i++)
    free(c->argument[i].memory.data);
}

static void describe(char **word) {
  call c = make_call(word[0], word[1], word[2], word + 3);
  for (size_t i = 0; i < tj_code_argument_count(c.code); i++) {
    const tj_argument *argument;
    expect(tj_launch_argument(c.launch, i, &argument));
    printf("%s %s %" PRId64 " %d %d\n", argument->name, argument->numpy, argument->element_count, argument->is_read,
           argument->is_written);
  }
  end_call(&c);
}

static void prepare(char **word) {
  const tj_recipe *recipe;
  call c = make_call(word[0], word[1], word[2], word + 3);
  expect(tj_launch_prepare(c.launch, &recipe));
  printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " ", recipe->symbol,
         recipe->grid[0], recipe->grid[1], recipe->grid[2], recipe->block[0], recipe->block[1], recipe->block[2],
         recipe->lds_bytes);
  for (size_t i = 0; i < recipe->kernarg_bytes; i++)
    printf("%02x", ((const unsigned char *)recipe->kernarg)[i]);
  printf("\n");
  end_call(&c);
}

/* --- running --- */

/* Buffers hold what memory holds before the kernel runs on that. */
static void make_buffers(call *c, tj_device *device) {
  for (size_t i = 0; i < c->argument_count; i++) {
    expect(tj_buffer_create(context, device, c->argument[i].memory.size, &c->argument[i].buffer));
    expect(tj_buffer_write(c->argument[i].buffer, 0, c->argument[i].memory.data, c->argument[i].memory.size));
  }
}

static void run_on_memory(call *c, tj_device *device) {
  for (size_t i = 0; i < c->argument_count; i++)
    expect(tj_launch_bind(c->launch, c->argument[i].name, c->argument[i].memory.data, c->argument[i].memory.size));
  expect(tj_launch_run(c->launch, device));
}

static void run_on_buffers(call *c, tj_device *device) {
  tj_fence *fence;
  for (size_t i = 0; i < c->argument_count; i++)
    expect(tj_launch_bind_buffer(c->launch, c->argument[i].name, c->argument[i].buffer));
  expect(tj_launch_submit(c->launch, device, &fence));
  expect(tj_fence_wait(fence, NULL));
  tj_fence_destroy(fence);
}

static void compare_and_write(call *c) {
  for (size_t i = 0; i < c->argument_count; i++) {
    bytes memory = c->argument[i].memory, copy = {malloc(memory.size + 1), memory.size};
    if (copy.data == NULL)
      fail("no memory");
    expect(tj_buffer_read(c->argument[i].buffer, 0, copy.data, copy.size));
    if (memcmp(copy.data, memory.data, copy.size) != 0)
      fail("buffers and memory differ");
    write_file(c->argument[i].to, memory);
    tj_buffer_destroy(c->argument[i].buffer);
    free(copy.data);
  }
}

static void run(char **word) {
  tj_device *device;
  expect(tj_device_open(context, word[2], &device));
  call c = make_call(word[0], word[1], tj_device_target(device), word + 3);
  make_buffers(&c, device);
  run_on_memory(&c, device);
  run_on_buffers(&c, device);
  compare_and_write(&c);
  end_call(&c);
  tj_device_close(device);
}

/* --- damage --- */

static void damage(char **word) {
  bytes file = read_file(word[0]);
  size_t step = strtoull(word[1], NULL, 0);
  tj_bundle *bundle;
  for (size_t i = 0; step > 0 && i < file.size; i += step) {
    file.data[i] ^= (char)0xff;
    if (tj_bundle_open(context, file.data, file.size, &bundle) == TJ_OK ||
        tj_context_diagnostic(context)->code != BUNDLE_IS_DAMAGED)
      fail("a damaged bundle was accepted");
    file.data[i] ^= (char)0xff;
  }
  expect(tj_bundle_open(context, file.data, file.size, &bundle));
  printf("%zu bundles refused\n", (file.size + step - 1) / step);
  tj_bundle_destroy(bundle);
  free(file.data);
}

/* --- which --- */

static const struct {
  const char *name;
  void (*body)(char **word);
  int least;
} calls[] = {{"describe", describe, 3}, {"prepare", prepare, 3}, {"run", run, 3}, {"damage", damage, 2}};

int main(int argc, char **argv) {
  if (argc < 2 || tj_context_create(NULL, &context) != TJ_OK)
    fail("usage: runtime_client describe|prepare|run|damage BUNDLE …");
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (strcmp(argv[1], calls[i].name) == 0 && argc - 2 >= calls[i].least) {
      calls[i].body(argv + 2);
      tj_context_destroy(context);
      return 0;
    }
  }
  fail("no such call");
}
