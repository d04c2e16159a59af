/* SPDX-License-Identifier: MIT */
/* Primitives of oneDNN on one array and another of the same form, in the terms of its second and of its third
 * version.
 */
#include "row_peers.h"

#include <stddef.h>

#ifdef TILEJIT_BENCH_DNNL
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *program, *name;
  /* Fills the primitive's description for memory of one form. */
  dnnl_status_t (*describe)(dnnl_primitive_desc_t *made, dnnl_engine_t engine, const void *memory);
} row_kind;

struct row_peer {
  const row_kind *kind;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_memory_t source, destination;
  dnnl_primitive_t primitive;
  int threads;
};

static const float epsilon = 1e-6F;

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t form;

static dnnl_status_t describe_softmax(dnnl_primitive_desc_t *made, dnnl_engine_t engine, const void *memory) {
  form of = *(const form *)memory;
  return dnnl_softmax_forward_primitive_desc_create(made, engine, dnnl_forward_inference, dnnl_softmax_accurate, of,
                                                    of, 1, NULL);
}

static dnnl_status_t describe_norm(dnnl_primitive_desc_t *made, dnnl_engine_t engine, const void *memory) {
  form of = *(const form *)memory;
  return dnnl_layer_normalization_forward_primitive_desc_create(made, engine, dnnl_forward_inference, of, of, NULL,
                                                                epsilon, dnnl_normalization_flags_none, NULL);
}

static dnnl_status_t make_form(form *of, const dnnl_dims_t extents) {
  return dnnl_memory_desc_create_with_tag(of, 2, extents, dnnl_f32, dnnl_ab);
}

static dnnl_status_t make_memory(dnnl_memory_t *made, const form *of, dnnl_engine_t engine, void *data) {
  return dnnl_memory_create(made, *of, engine, data);
}

static void drop_form(form *of) {
  dnnl_memory_desc_destroy(*of);
}
#else
typedef dnnl_memory_desc_t form;

static dnnl_status_t describe_softmax(dnnl_primitive_desc_t *made, dnnl_engine_t engine, const void *memory) {
  dnnl_softmax_v2_desc_t softmax;
  dnnl_status_t status =
      dnnl_softmax_v2_forward_desc_init(&softmax, dnnl_forward_inference, dnnl_softmax_accurate, memory, memory, 1);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &softmax, NULL, engine, NULL);
}

static dnnl_status_t describe_norm(dnnl_primitive_desc_t *made, dnnl_engine_t engine, const void *memory) {
  dnnl_layer_normalization_desc_t norm;
  dnnl_status_t status = dnnl_layer_normalization_forward_desc_init(&norm, dnnl_forward_inference, memory, NULL,
                                                                    epsilon, dnnl_normalization_flags_none);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &norm, NULL, engine, NULL);
}

static dnnl_status_t make_form(form *of, const dnnl_dims_t extents) {
  return dnnl_memory_desc_init_by_tag(of, 2, extents, dnnl_f32, dnnl_ab);
}

static dnnl_status_t make_memory(dnnl_memory_t *made, const form *of, dnnl_engine_t engine, void *data) {
  return dnnl_memory_create(made, of, engine, data);
}

static void drop_form(form *of) {
  (void)of;
}
#endif

static const row_kind kinds[] = {
    {"softmax", "softmax", describe_softmax},
    {"rmsnorm", "layer normalization", describe_norm},
};

static dnnl_status_t make_primitive(row_peer *p, const form *of) {
  dnnl_primitive_desc_t description;
  dnnl_status_t status = p->kind->describe(&description, p->engine, of);
  if (status != dnnl_success)
    return status;
  status = dnnl_primitive_create(&p->primitive, description);
  dnnl_primitive_desc_destroy(description);
  return status;
}

static dnnl_status_t make_all(row_peer *p, const dnnl_dims_t extents, void *source, void *destination) {
  form of;
  dnnl_status_t status = dnnl_engine_create(&p->engine, dnnl_cpu, 0);
  if (status == dnnl_success)
    status = dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags);
  if (status != dnnl_success || (status = make_form(&of, extents)) != dnnl_success)
    return status;
  status = make_memory(&p->source, &of, p->engine, source);
  if (status == dnnl_success)
    status = make_memory(&p->destination, &of, p->engine, destination);
  if (status == dnnl_success)
    status = make_primitive(p, &of);
  drop_form(&of);
  return status;
}

row_peer *row_peer_open(const char *program, int64_t rows, int64_t columns, void *source, void *destination,
                        int threads) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    row_peer *p = strcmp(kinds[i].program, program) == 0 ? calloc(1, sizeof *p) : NULL;
    if (p == NULL)
      continue;
    p->kind = &kinds[i];
    p->threads = threads;
    omp_set_num_threads(threads);
    if (make_all(p, (dnnl_dims_t){rows, columns}, source, destination) == dnnl_success)
      return p;
    row_peer_close(p);
  }
  return NULL;
}

const char *row_peer_name(const row_peer *peer) {
  return peer->kind->name;
}

void row_peer_run(row_peer *peer) {
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, peer->source}, {DNNL_ARG_DST, peer->destination}};
  omp_set_num_threads(peer->threads);
  dnnl_primitive_execute(peer->primitive, peer->stream, 2, arguments);
  dnnl_stream_wait(peer->stream);
}

void row_peer_close(row_peer *peer) {
  if (peer->primitive != NULL)
    dnnl_primitive_destroy(peer->primitive);
  if (peer->source != NULL)
    dnnl_memory_destroy(peer->source);
  if (peer->destination != NULL)
    dnnl_memory_destroy(peer->destination);
  if (peer->stream != NULL)
    dnnl_stream_destroy(peer->stream);
  if (peer->engine != NULL)
    dnnl_engine_destroy(peer->engine);
  free(peer);
}
#else
row_peer *row_peer_open(const char *program, int64_t rows, int64_t columns, void *source, void *destination,
                        int threads) {
  (void)program, (void)rows, (void)columns, (void)source, (void)destination, (void)threads;
  return NULL;
}

const char *row_peer_name(const row_peer *peer) {
  (void)peer;
  return "";
}

void row_peer_run(row_peer *peer) {
  (void)peer;
}

void row_peer_close(row_peer *peer) {
  (void)peer;
}
#endif
