/* SPDX-License-Identifier: MIT */
/* The bytes of .npy files: format versions 1 to 3, little-endian. Nothing in them is trusted. */
#include "tools/input/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char npy_no_memory[] = "out of memory";

static const char magic[] = "\x93NUMPY";

/* The kinds of elements whose number is their bytes; objects are pickled, and strings of characters have four each.
 */
static const char kinds[] = "biufcmMSV";

enum { MAGIC_LENGTH = 6, PREFIX_V1 = 10, PREFIX_V2 = 12, HEADER_ALIGNMENT = 64 };

/* --- reading --- */

/* The text after 'key': in the header's dictionary; NULL where there is none. */
static const char *find_key(const char *header, const char *key) {
  char quoted[32];
  snprintf(quoted, sizeof quoted, "'%s':", key);
  const char *at = strstr(header, quoted);
  if (at == NULL)
    return NULL;
  at += strlen(quoted);
  return at + strspn(at, " ");
}

static bool parse_dtype(const char *header, npy_array *array) {
  const char *at = find_key(header, "descr");
  if (at == NULL || *at != '\'')
    return false;
  size_t length = strcspn(at + 1, "'");
  if (length < 3 || length >= sizeof array->dtype || strchr("<|", at[1]) == NULL || strchr(kinds, at[2]) == NULL)
    return false;
  memcpy(array->dtype, at + 1, length);
  array->dtype[length] = '\0';
  char *end;
  long bytes = strtol(array->dtype + 2, &end, 10);
  if (bytes < 1 || bytes > 16 || (*end != '\0' && *end != '['))
    return false;
  array->element_bytes = (size_t)bytes;
  return true;
}

static bool parse_shape(const char *header, npy_array *array) {
  const char *at = find_key(header, "shape");
  if (at == NULL || *at != '(')
    return false;
  at++;
  for (array->rank = 0; array->rank < NPY_MAX_RANK; array->rank++) {
    at += strspn(at, " ,");
    if (*at == ')')
      return true;
    char *end;
    array->shape[array->rank] = strtoll(at, &end, 10);
    if (end == at || array->shape[array->rank] < 0)
      return false;
    at = end;
  }
  return false;
}

static bool byte_count(const npy_array *array, size_t *bytes) {
  *bytes = array->element_bytes;
  for (size_t i = 0; i < array->rank; i++) {
    if (__builtin_mul_overflow(*bytes, (size_t)array->shape[i], bytes))
      return false;
  }
  return true;
}

/* Where the header's text lies, before the data; false where there is no header. */
static bool find_header(const char *file, size_t size, size_t *begin, size_t *end) {
  if (size < PREFIX_V2 || memcmp(file, magic, MAGIC_LENGTH) != 0)
    return false;
  const unsigned char *bytes = (const unsigned char *)file;
  size_t prefix = bytes[6] == 1 ? PREFIX_V1 : PREFIX_V2;
  size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  if (bytes[6] != 1)
    length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (bytes[6] < 1 || bytes[6] > 3 || length > size - prefix)
    return false;
  *begin = prefix;
  *end = prefix + length;
  return true;
}

static const char *parse_header(const char *header, npy_array *array) {
  const char *order = find_key(header, "fortran_order");
  if (!parse_dtype(header, array))
    return "its element type is not supported";
  if (order == NULL || (strncmp(order, "False", 5) != 0 && strncmp(order, "True", 4) != 0))
    return "its order is malformed";
  array->is_fortran = order[0] == 'T';
  if (!parse_shape(header, array))
    return "its shape is malformed";
  return NULL;
}

const char *npy_parse(const char *file, size_t size, npy_array *array, size_t *data_begin) {
  *array = (npy_array){.rank = 0};
  size_t header_begin;
  if (!find_header(file, size, &header_begin, data_begin))
    return "it has no .npy header";
  char *header = strndup(file + header_begin, *data_begin - header_begin);
  if (header == NULL)
    return npy_no_memory;
  const char *why = parse_header(header, array);
  free(header);
  if (why != NULL)
    return why;
  if (!byte_count(array, &array->size) || array->size > size - *data_begin)
    return "it is shorter than its shape says";
  return NULL;
}

/* --- order --- */

/* Steps to the next index in C order; `offset` is the element's place in Fortran order. */
static void advance(const npy_array *array, int64_t index[], const size_t stride[], size_t *offset) {
  for (size_t i = array->rank; i-- > 0;) {
    *offset += stride[i];
    if (++index[i] < array->shape[i])
      return;
    *offset -= stride[i] * (size_t)array->shape[i];
    index[i] = 0;
  }
}

bool npy_make_c_order(npy_array *array) {
  size_t stride[NPY_MAX_RANK], offset = 0, bytes = array->element_bytes;
  int64_t index[NPY_MAX_RANK] = {0};
  if (!array->is_fortran)
    return true;
  char *ordered = malloc(array->size + 1);
  if (ordered == NULL)
    return false;
  for (size_t i = 0, next = bytes; i < array->rank; next *= (size_t)array->shape[i++])
    stride[i] = next;
  for (size_t at = 0; at < array->size; at += bytes) {
    memcpy(ordered + at, array->data + offset, bytes);
    advance(array, index, stride, &offset);
  }
  free(array->data);
  array->data = ordered;
  array->is_fortran = false;
  return true;
}

/* --- writing --- */

static size_t format_header(const npy_array *array, char *text, size_t capacity) {
  int used = snprintf(text, capacity, "{'descr': '%s', 'fortran_order': %s, 'shape': (", array->dtype,
                      array->is_fortran ? "True" : "False");
  for (size_t i = 0; i < array->rank; i++)
    used += snprintf(text + used, capacity - (size_t)used, "%" PRId64 ",%s", array->shape[i],
                     i + 1 < array->rank ? " " : "");
  used += snprintf(text + used, capacity - (size_t)used, "), }");
  return (size_t)used;
}

char *npy_format(const npy_array *array, size_t *size) {
  char header[NPY_MAX_RANK * 24 + 128];
  size_t length = format_header(array, header, sizeof header);
  while ((PREFIX_V1 + length + 1) % HEADER_ALIGNMENT != 0)
    header[length++] = ' ';
  header[length++] = '\n';
  *size = PREFIX_V1 + length + array->size;
  char *file = malloc(*size);
  if (file == NULL)
    return NULL;
  memcpy(file, magic, MAGIC_LENGTH);
  file[6] = 1;
  file[7] = 0;
  file[8] = (char)(length & 0xff);
  file[9] = (char)(length >> 8);
  memcpy(file + PREFIX_V1, header, length);
  if (array->size > 0)
    memcpy(file + PREFIX_V1 + length, array->data, array->size);
  return file;
}

void npy_free(npy_array *array) {
  free(array->data);
  array->data = NULL;
}
