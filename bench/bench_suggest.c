/* SPDX-License-Identifier: MIT */
/* How long the search for layouts in LDS takes, for operands of matrix instructions as CUTLASS and CK Tile store and
 * load them: A of ldmatrix, and of MFMA by ds_read_b128, of f16, f8 and f32.
 *
 * usage: bench_suggest [ITERATIONS]. Prints one JSON object: milliseconds from text to suggestions, medians. */
#include "failing.h"
#include "tilejit/tilejit.h"
#include "timing.h"
#include "tools/input/import.h"

#include <jansson.h>
#include <string.h>

enum { MOST_ITERATIONS = 1000 };

static const char declarations[] =
    "import \"atoms\"\n"
    "let A(m, mk) = thrfrg_A(tiled_mma(m), make_identity_layout(mk))\n"
    "let rows(bits, columns) = tiled_copy(universal_copy(128, bits), (128 * 128 / bits / columns, columns * bits / "
    "128):"
    "(columns * bits / 128, 1), (1, 128 / bits))\n"
    "let stored(bits, mk) = tidfrg_S(rows(bits, get(mk, 1)), make_identity_layout(mk))\n"
    "let lanes(columns, vector) = distribution(hs=[[256 * vector / columns, 128 * columns / (256 * vector)], "
    "[columns / vector, vector]], ps_major=[[1, 2]], ps_minor=[[0, 0]], ys_major=[1, 2], ys_minor=[1, 1])\n"
    "let mfma(columns, vector) = ((32,2,4),(vector,columns / vector / 2,1)):((1@0,vector@1,32@0),"
    "(1@1,(2 * vector)@1,128@0))\n";

static const struct {
  const char *name, *store, *load, *dtype, *target;
} tiles[] = {
    {"ldmatrix, f16", "stored(16, (128,64))", "A(SM80_16x8x16_F32F16F16F32_TN, (128,64))", "f16", "sm_90"},
    {"ldmatrix, f8", "stored(8, (128,128))", "A(SM89_16x8x32_F32E4M3E4M3F32_TN, (128,128))", "b8", "sm_90"},
    {"ldmatrix, f32", "stored(32, (128,32))", "A(SM80_16x8x8_F32TF32TF32F32_TN, (128,32))", "f32", "sm_90"},
    {"ds_read_b128, f16", "lanes(64, 8)", "mfma(64, 8)", "f16", "gfx942"},
    {"ds_read_b128, f8", "lanes(128, 16)", "mfma(128, 16)", "b8", "gfx942"},
    {"ds_read_b128, f32", "lanes(32, 4)", "mfma(32, 4)", "f32", "gfx942"},
    {"ds_read_b128, f16", "lanes(64, 8)", "mfma(64, 8)", "f16", "gfx950"},
    {"ds_read_b128, f8", "lanes(128, 16)", "mfma(128, 16)", "b8", "gfx950"},
    {"ds_read_b128, f32", "lanes(32, 4)", "mfma(32, 4)", "f32", "gfx950"},
};

static double suggest_once(const tj_lds_question *question) {
  tj_context *context = NULL;
  tj_blob text;
  if (tj_context_create(NULL, &context) != TJ_OK)
    fail("out of memory");
  import_files(context, NULL);
  double begin = now();
  expect(context, tj_suggest_lds_layouts(context, question, &text));
  double took = now() - begin;
  tj_blob_release(context, &text);
  tj_context_destroy(context);
  return took;
}

static json_t *measure(size_t number, size_t iterations) {
  static double took[MOST_ITERATIONS];
  const tj_lds_question question = {.declarations = declarations,
                                    .store = tiles[number].store,
                                    .load = tiles[number].load,
                                    .target = tiles[number].target,
                                    .dtype = tiles[number].dtype,
                                    .form = TJ_CHECK_JSON};
  for (size_t i = 0; i < iterations; i++)
    took[i] = suggest_once(&question);
  return json_pack("{s:s,s:s,s:f}", "tile", tiles[number].name, "target", tiles[number].target, "milliseconds",
                   median(took, iterations) / 1e3);
}

int main(int count, char **words) {
  size_t iterations = count > 1 ? strtoul(words[1], NULL, 10) : 21;
  if (iterations < 1 || iterations > MOST_ITERATIONS) {
    fprintf(stderr, "usage: bench_suggest [ITERATIONS (1 to %d)]\n", MOST_ITERATIONS);
    return 2;
  }
  json_t *results = json_array();
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
    json_array_append_new(results, measure(i, iterations));
  json_t *report =
      json_pack("{s:s,s:i,s:o}", "benchmark", "suggest", "iterations", (int)iterations, "tiles", results);
  json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
  putchar('\n');
  json_decref(report);
  return 0;
}
