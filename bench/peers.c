/* SPDX-License-Identifier: MIT */
/* The peers of bench_copy. oneDNN reorders tensors of any strides, with as many threads as OpenMP has. OpenBLAS
 * transposes matrices: a transposition whose contiguous modes differ is a loop over the other modes around it, by one
 * thread; where they are the same it has nothing. */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

/* --- oneDNN --- */

#ifdef TILEJIT_BENCH_DNNL
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

typedef struct {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_memory_t source, destination;
  dnnl_primitive_t primitive;
  int threads;
} dnnl_plan;

/* The type of as many bits whose reordering keeps them all: those of 16 bits go through arithmetic. */
static dnnl_data_type_t dnnl_type(const char *type) {
  size_t bytes = bytes_of_type(type);
  return bytes == 1 ? dnnl_u8 : bytes == 4 ? dnnl_f32 : dnnl_data_type_undef;
}

static void release_dnnl(peer_plan *plan) {
  dnnl_plan *p = (dnnl_plan *)plan;
  if (p->primitive != NULL)
    dnnl_primitive_destroy(p->primitive);
  if (p->source != NULL)
    dnnl_memory_destroy(p->source);
  if (p->destination != NULL)
    dnnl_memory_destroy(p->destination);
  if (p->stream != NULL)
    dnnl_stream_destroy(p->stream);
  if (p->engine != NULL)
    dnnl_engine_destroy(p->engine);
  free(p);
}

#if DNNL_VERSION_MAJOR >= 3
static bool make_reorder(dnnl_plan *p, int modes, const dnnl_dims_t extents, const dnnl_dims_t from,
                         const dnnl_dims_t to, dnnl_data_type_t type, void *source, void *destination) {
  dnnl_memory_desc_t a = NULL, b = NULL;
  dnnl_primitive_desc_t reorder = NULL;
  bool is_made = dnnl_memory_desc_create_with_strides(&a, modes, extents, type, from) == dnnl_success &&
                 dnnl_memory_desc_create_with_strides(&b, modes, extents, type, to) == dnnl_success &&
                 dnnl_memory_create(&p->source, a, p->engine, source) == dnnl_success &&
                 dnnl_memory_create(&p->destination, b, p->engine, destination) == dnnl_success &&
                 dnnl_reorder_primitive_desc_create(&reorder, a, p->engine, b, p->engine, NULL) == dnnl_success &&
                 dnnl_primitive_create(&p->primitive, reorder) == dnnl_success;
  dnnl_primitive_desc_destroy(reorder);
  dnnl_memory_desc_destroy(a);
  dnnl_memory_desc_destroy(b);
  return is_made;
}
#else
static bool make_reorder(dnnl_plan *p, int modes, const dnnl_dims_t extents, const dnnl_dims_t from,
                         const dnnl_dims_t to, dnnl_data_type_t type, void *source, void *destination) {
  dnnl_memory_desc_t a, b;
  dnnl_primitive_desc_t reorder = NULL;
  bool is_made = dnnl_memory_desc_init_by_strides(&a, modes, extents, type, from) == dnnl_success &&
                 dnnl_memory_desc_init_by_strides(&b, modes, extents, type, to) == dnnl_success &&
                 dnnl_memory_create(&p->source, &a, p->engine, source) == dnnl_success &&
                 dnnl_memory_create(&p->destination, &b, p->engine, destination) == dnnl_success &&
                 dnnl_reorder_primitive_desc_create(&reorder, &a, p->engine, &b, p->engine, NULL) == dnnl_success &&
                 dnnl_primitive_create(&p->primitive, reorder) == dnnl_success;
  if (reorder != NULL)
    dnnl_primitive_desc_destroy(reorder);
  return is_made;
}
#endif

static peer_plan *plan_dnnl(const transposition *t, const char *type, void *source, void *destination, int threads) {
  dnnl_plan *p = calloc(1, sizeof *p);
  dnnl_dims_t extents, from, to;
  if (p == NULL || dnnl_type(type) == dnnl_data_type_undef) {
    free(p);
    return NULL;
  }
  p->threads = threads;
  omp_set_num_threads(threads);
  memcpy(extents, t->extent, sizeof t->extent);
  transposition_strides(t, NULL, from, to);
  if (dnnl_engine_create(&p->engine, dnnl_cpu, 0) == dnnl_success &&
      dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags) == dnnl_success &&
      make_reorder(p, transposition_modes(t), extents, from, to, dnnl_type(type), source, destination))
    return (peer_plan *)p;
  release_dnnl((peer_plan *)p);
  return NULL;
}

static void run_dnnl(peer_plan *plan) {
  dnnl_plan *p = (dnnl_plan *)plan;
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, p->source}, {DNNL_ARG_TO, p->destination}};
  omp_set_num_threads(p->threads);
  dnnl_primitive_execute(p->primitive, p->stream, 2, arguments);
  dnnl_stream_wait(p->stream);
}
#endif

/* --- OpenBLAS --- */

#ifdef TILEJIT_BENCH_OPENBLAS
#include <cblas.h>

/* A matrix of the contiguous modes of both tensors, for each index of the others. */
typedef struct {
  const char *source;
  char *destination;
  size_t element_bytes;
  int64_t rows, columns, source_pitch, destination_pitch;
  int others;
  int64_t extent[TRANSPOSITION_MODES], from[TRANSPOSITION_MODES], to[TRANSPOSITION_MODES];
} blas_plan;

static peer_plan *plan_openblas(const transposition *t, const char *type, void *source, void *destination,
                                int threads) {
  (void)threads;
  size_t bytes = bytes_of_type(type);
  int columns = t->permutation[0] - '0';
  blas_plan *p = calloc(1, sizeof *p);
  if (p == NULL || columns == 0 || (bytes != 4 && bytes != 8)) {
    free(p);
    return NULL;
  }
  int64_t from[TRANSPOSITION_MODES], to[TRANSPOSITION_MODES];
  transposition_strides(t, NULL, from, to);
  *p = (blas_plan){source, destination, bytes, t->extent[0], t->extent[columns], from[columns], to[0],
                   0,      {0},         {0},   {0}};
  for (int m = 1; m < transposition_modes(t); m++) {
    if (m == columns)
      continue;
    p->extent[p->others] = t->extent[m];
    p->from[p->others] = from[m];
    p->to[p->others++] = to[m];
  }
  return (peer_plan *)p;
}

static void transpose_matrix(const blas_plan *p, int64_t from, int64_t to) {
  const char *a = p->source + (size_t)from * p->element_bytes;
  char *b = p->destination + (size_t)to * p->element_bytes;
  blasint rows = (blasint)p->rows, columns = (blasint)p->columns;
  blasint lda = (blasint)p->source_pitch, ldb = (blasint)p->destination_pitch;
  if (p->element_bytes == 4)
    cblas_somatcopy(CblasColMajor, CblasTrans, rows, columns, 1, (const float *)(const void *)a, lda,
                    (float *)(void *)b, ldb);
  else
    cblas_domatcopy(CblasColMajor, CblasTrans, rows, columns, 1, (const double *)(const void *)a, lda,
                    (double *)(void *)b, ldb);
}

static void run_openblas(peer_plan *plan) {
  const blas_plan *p = (const blas_plan *)plan;
  int64_t count = 1;
  for (int m = 0; m < p->others; m++)
    count *= p->extent[m];
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, from = 0, to = 0;
    for (int m = 0; m < p->others; m++) {
      from += rest % p->extent[m] * p->from[m];
      to += rest % p->extent[m] * p->to[m];
      rest /= p->extent[m];
    }
    transpose_matrix(p, from, to);
  }
}

static void release_openblas(peer_plan *plan) {
  free(plan);
}
#endif

const peer peers[MOST_PEERS] = {
#ifdef TILEJIT_BENCH_DNNL
    {"oneDNN", true, plan_dnnl, run_dnnl, release_dnnl},
#endif
#ifdef TILEJIT_BENCH_OPENBLAS
    {"OpenBLAS", false, plan_openblas, run_openblas, release_openblas},
#endif
    {NULL, false, NULL, NULL, NULL},
};
