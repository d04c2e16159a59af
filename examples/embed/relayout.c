/* SPDX-License-Identifier: MIT */
/* Embeds tilejit: a row-major matrix becomes one of 16 x 16 tiles, as matrix units like their operands.
 *
 *     relayout ROWS COLUMNS [DEVICE]        DEVICE: host (the default), hsa:0, sim:gfx942, …
 *
 * The shape is known at run time only. So is the kernel: it is written, compiled for the device, specialised for the
 * shape, and launched by this program, which then checks every element by a plain loop. Exit status 0: all are right;
 * otherwise one of tj_status. */
#include <tilejit/tilejit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 16 };

static const char program_text[] =
    "param M in 1..65536, N in 1..65536\n"
    "let down = ceil_div(M, 16)\n"
    "let across = ceil_div(N, 16)\n"
    "let padded = transform(packed((down, across, 16, 16)),\n"
    "                       [merge(down, 16), merge(across, 16)], [[0, 2], [1, 3]], [[0], [1]])\n"
    "let tiled = transform(padded, [slice(down * 16, 0, M), slice(across * 16, 0, N)], [[0], [1]], [[0], [1]])\n"
    "kernel relayout(src: f32 @ view((M, N):(N, 1)), dst: f32 @ tiled) = copy(src, dst)\n";

/* --- the library --- */

/* Everything that is made on the way, so that one place gives it back. */
typedef struct {
  tj_context *context;
  tj_device *device;
  tj_program *program;
  tj_code *code;
  tj_launch *launch;
} session;

static void close_session(session *s) {
  tj_launch_destroy(s->launch);
  tj_code_destroy(s->code);
  tj_program_destroy(s->program);
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

/* Says why a call failed, and returns its status. */
static tj_status report(const session *s, tj_status status) {
  char text[1024] = "out of memory\n";
  const tj_diagnostic *diagnostic = s->context != NULL ? tj_context_diagnostic(s->context) : NULL;
  if (status != TJ_OK && diagnostic != NULL)
    tj_diagnostic_format(diagnostic, 0, text, sizeof text);
  if (status != TJ_OK)
    fputs(text, stderr);
  return status;
}

/* Opens the device, and compiles the kernel for it and for this shape. */
static tj_status compile(session *s, const char *device, int64_t rows, int64_t columns) {
  const tj_parameter_value shape[] = {{"M", rows}, {"N", columns}};
  tj_status status = tj_context_create(NULL, &s->context);
  if (status == TJ_OK)
    status = tj_device_open(s->context, device, &s->device);
  if (status == TJ_OK)
    status = tj_program_create(s->context, "relayout", program_text, strlen(program_text), shape, 2, &s->program);
  if (status != TJ_OK)
    return status;
  const tj_compile_options options = {.kernel = "relayout", .target = tj_device_target(s->device)};
  return tj_code_compile(s->program, &options, &s->code);
}

/* How many elements the kernel's second argument holds, its padding included. */
static tj_status measure(session *s, size_t *elements) {
  const tj_argument *argument;
  tj_status status = tj_launch_create(s->context, s->code, &s->launch);
  if (status == TJ_OK)
    status = tj_launch_argument(s->launch, 1, &argument);
  if (status == TJ_OK)
    *elements = (size_t)argument->element_count;
  return status;
}

static tj_status launch(session *s, float *source, size_t source_bytes, float *tiles, size_t tile_bytes) {
  tj_status status = tj_launch_bind(s->launch, "src", source, source_bytes);
  if (status == TJ_OK)
    status = tj_launch_bind(s->launch, "dst", tiles, tile_bytes);
  if (status == TJ_OK)
    status = tj_launch_run(s->launch, s->device);
  return status;
}

/* --- the check --- */

/* The number of elements that are not where they should be. */
static size_t count_wrong(const float *source, const float *tiles, size_t rows, size_t columns) {
  size_t across = (columns + TILE - 1) / TILE, wrong = 0;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) {
      size_t tile = i / TILE * across + j / TILE;
      wrong += tiles[(tile * TILE + i % TILE) * TILE + j % TILE] != source[i * columns + j];
    }
  }
  return wrong;
}

static tj_status run(session *s, const char *device, size_t rows, size_t columns) {
  size_t elements = 0;
  tj_status status = compile(s, device, (int64_t)rows, (int64_t)columns);
  if (status == TJ_OK)
    status = measure(s, &elements);
  if (status != TJ_OK)
    return report(s, status);
  float *source = malloc(rows * columns * sizeof *source), *tiles = calloc(elements, sizeof *tiles);
  if (source == NULL || tiles == NULL)
    status = TJ_ERROR_MEMORY;
  for (size_t i = 0; status == TJ_OK && i < rows * columns; i++)
    source[i] = (float)(i % 1000003 + 1);
  if (status == TJ_OK)
    status = launch(s, source, rows * columns * sizeof *source, tiles, elements * sizeof *tiles);
  report(s, status);
  size_t wrong = status == TJ_OK ? count_wrong(source, tiles, rows, columns) : 0;
  if (status == TJ_OK)
    printf("%zu x %zu on %s (%s): %zu of %zu elements wrong, %zu with padding\n", rows, columns, device,
           tj_code_target(s->code), wrong, rows * columns, elements);
  free(source);
  free(tiles);
  return wrong > 0 ? TJ_ERROR_SYSTEM : status;
}

/* --- the command line --- */

static int read_extent(const char *word, size_t *extent) {
  char *end;
  errno = 0;
  long value = strtol(word, &end, 10);
  *extent = (size_t)value;
  return errno == 0 && *word != '\0' && *end == '\0' && value >= 1 && value <= 65536;
}

int main(int count, char **words) {
  size_t rows, columns;
  if (count < 3 || count > 4 || !read_extent(words[1], &rows) || !read_extent(words[2], &columns)) {
    fputs("usage: relayout ROWS COLUMNS [DEVICE]    each of ROWS and COLUMNS in 1..65536\n", stderr);
    return TJ_ERROR_USAGE;
  }
  session s = {0};
  tj_status status = run(&s, count == 4 ? words[3] : "host", rows, columns);
  close_session(&s);
  return (int)status;
}
