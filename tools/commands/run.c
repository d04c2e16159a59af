/* SPDX-License-Identifier: MIT */
/* tilejit run: compiles a kernel, runs it on a device, with arrays from and to .npy files. */
#include "tools/input/kernel.h"
#include "tools/input/npy.h"
#include "tools/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One run: the library's objects, and an array for each argument of the kernel. */
typedef struct {
  const arguments *given;
  tj_context *context;
  tj_device *device;
  kernel kernel;
  npy_array *array;
  size_t array_count;
} session;

static int check(session *run, tj_status status) {
  return status == TJ_OK ? 0 : fail_library(run->context, status);
}

/* --- arrays --- */

/* The file that --in or --out names for an argument; NULL where there is none. */
static const char *file_of(const arguments *given, const char *option_name, const char *argument) {
  size_t length = strlen(argument);
  const char *path = NULL;
  for (size_t i = 0; i < given->option_count; i++) {
    const char *value = given->option[i].value;
    bool matches = strcmp(given->option[i].name, option_name) == 0 && strncmp(value, argument, length) == 0 &&
                   value[length] == '=';
    if (matches)
      path = value + length + 1;
  }
  return path;
}

/* An unsigned integer or bytes, as elements are saved whose type NumPy lacks. */
static bool holds_bits(const npy_array *array) {
  return strchr("uV", array->dtype[1]) != NULL;
}

/* Those that may have any type of their width: raw bits, and floats of 8 bits. */
static bool is_raw(const tj_argument *argument) {
  return argument->dtype[0] == 'b' || (argument->element_bytes == 1 && strchr("iu", argument->dtype[0]) == NULL);
}

static bool dtype_matches(const tj_argument *argument, const npy_array *array) {
  bool has_width = array->element_bytes == argument->element_bytes;
  if (strcmp(argument->dtype, "bf16") == 0)
    return has_width && holds_bits(array);
  if (is_raw(argument))
    return has_width;
  return strcmp(argument->numpy, array->dtype) == 0;
}

/* Whether an array in Fortran order holds at each index the element of the coordinate of that name, as it is. */
static bool has_shape(const tj_argument *argument, const npy_array *array) {
  return argument->is_column_major && argument->rank == array->rank &&
         memcmp(argument->lengths, array->shape, array->rank * sizeof *array->shape) == 0;
}

static int check_array(const tj_argument *argument, npy_array *array) {
  if (!dtype_matches(argument, array))
    return fail_tool(TJ_ERROR_INPUT, 6003, "convert the array, or change the argument's type",
                     "the array for '%s' has elements %s, the argument is %s", argument->name, array->dtype,
                     argument->dtype);
  return has_shape(argument, array) || npy_make_c_order(array) ? 0 : fail_memory();
}

/* The pattern of a source without a file, which is no output: element i is i, reduced so that the type holds it
 * exactly. */
static void fill_element(const char *dtype, size_t bytes, uint64_t i, char *at) {
  if (strcmp(dtype, "f64") == 0) {
    double value = (double)(i & 0xfffffffffffff);
    memcpy(at, &value, sizeof value);
  } else if (strcmp(dtype, "f32") == 0 || strcmp(dtype, "bf16") == 0) {
    float value = (float)(i & (bytes == 4 ? 0xffffff : 0xff));
    memcpy(at, (const char *)&value + (sizeof value - bytes), bytes);
  } else if (strcmp(dtype, "f16") == 0) {
    _Float16 value = (_Float16)(float)(i & 0x7ff);
    memcpy(at, &value, sizeof value);
  } else {
    memset(at, 0, bytes);
    memcpy(at, &i, bytes < sizeof i ? bytes : sizeof i);
  }
}

static int make_array(const tj_argument *argument, npy_array *array) {
  const char *numpy = argument->numpy[0] != '\0' ? argument->numpy : "<u2";
  snprintf(array->dtype, sizeof array->dtype, "%s", numpy);
  array->element_bytes = argument->element_bytes;
  array->size = argument->element_bytes * (size_t)argument->element_count;
  array->rank = 1;
  array->shape[0] = argument->element_count;
  if ((argument->is_row_major || argument->is_column_major) && argument->rank <= NPY_MAX_RANK) {
    array->is_fortran = !argument->is_row_major;
    array->rank = argument->rank;
    memcpy(array->shape, argument->lengths, argument->rank * sizeof *argument->lengths);
  }
  array->data = calloc(array->size > 0 ? array->size : 1, 1);
  if (array->data == NULL)
    return fail_tool(TJ_ERROR_SYSTEM, 7001, "use smaller arrays", "out of memory for '%s'", argument->name);
  bool has_pattern = argument->is_read && !argument->is_written;
  for (int64_t i = 0; has_pattern && i < argument->element_count; i++)
    fill_element(argument->dtype, argument->element_bytes, (uint64_t)i,
                 array->data + (size_t)i * argument->element_bytes);
  return 0;
}

static int check_files(session *run) {
  static const char *const names[] = {"in", "out"};
  for (size_t i = 0; i < run->given->option_count; i++) {
    const struct given_option *o = &run->given->option[i];
    if (strcmp(o->name, names[0]) != 0 && strcmp(o->name, names[1]) != 0)
      continue;
    bool found = false;
    for (size_t k = 0; k < run->array_count && !found; k++) {
      const char *name = tj_code_argument_name(run->kernel.code, k);
      found = strncmp(o->value, name, strlen(name)) == 0 && o->value[strlen(name)] == '=';
    }
    if (!found)
      return fail_usage("--%s %s: the form is ARGUMENT=FILE.npy, with an argument of kernel '%s'", o->name, o->value,
                        tj_code_kernel(run->kernel.code));
  }
  return 0;
}

/* Reads the files of --in, and tells the launch their shapes. */
static int read_arrays(session *run) {
  int status = check_files(run);
  for (size_t i = 0; status == 0 && i < run->array_count; i++) {
    const char *name = tj_code_argument_name(run->kernel.code, i);
    const char *path = file_of(run->given, "in", name);
    if (path == NULL)
      continue;
    status = npy_read(path, &run->array[i]);
    if (status == 0)
      status = check(run, tj_launch_set_shape(run->kernel.launch, name, run->array[i].shape, run->array[i].rank));
  }
  return status;
}

static int bind_arrays(session *run) {
  int status = 0;
  for (size_t i = 0; status == 0 && i < run->array_count; i++) {
    const tj_argument *argument;
    status = check(run, tj_launch_argument(run->kernel.launch, i, &argument));
    if (status != 0)
      break;
    status =
        run->array[i].data != NULL ? check_array(argument, &run->array[i]) : make_array(argument, &run->array[i]);
    if (status == 0)
      status = check(run, tj_launch_bind(run->kernel.launch, argument->name, run->array[i].data, run->array[i].size));
  }
  return status;
}

static int write_arrays(session *run) {
  int status = 0;
  for (size_t i = 0; status == 0 && i < run->array_count; i++) {
    const char *path = file_of(run->given, "out", tj_code_argument_name(run->kernel.code, i));
    if (path != NULL)
      status = npy_write(path, &run->array[i]);
  }
  return status;
}

/* --- the run --- */

/* Adds what a simulated device has counted. */
static void add_counters(const session *run, json_t **object) {
  size_t count = tj_launch_counter_count(run->kernel.launch);
  json_t *counters = json_object();
  for (size_t i = 0; i < count; i++) {
    const char *name;
    json_int_t value = (json_int_t)tj_launch_counter(run->kernel.launch, i, &name);
    add_member(&counters, name, json_integer(value));
  }
  if (count > 0)
    add_member(object, "counters", counters);
  else
    json_decref(counters);
}

static int print_stats(session *run) {
  json_int_t nanoseconds = (json_int_t)tj_launch_nanoseconds(run->kernel.launch);
  static const char *const origins[] = {"compiled", "memory", "disk", "kernel"};
  json_t *object = json_pack("{s:s,s:s,s:s,s:I}", "kernel", tj_code_kernel(run->kernel.code), "target",
                             tj_code_target(run->kernel.code), "origin", origins[tj_code_origin_of(run->kernel.code)],
                             "nanoseconds", nanoseconds);
  add_counters(run, &object);
  return print_json(object);
}

static int prepare(session *run, const program_text *text) {
  const char *device = option_value(run->given, "device");
  int status = check(run, tj_device_open(run->context, device != NULL ? device : "host", &run->device));
  if (status != 0)
    return status;
  status = open_kernel(run->given, text, tj_device_target(run->device), run->context, &run->kernel);
  if (status != 0)
    return status;
  run->array_count = tj_code_argument_count(run->kernel.code);
  run->array = calloc(run->array_count, sizeof *run->array);
  return run->array != NULL ? 0 : fail_memory();
}

static int execute(session *run, const program_text *text) {
  int status = prepare(run, text);
  if (status == 0)
    status = read_arrays(run);
  if (status == 0)
    status = bind_arrays(run);
  if (status == 0)
    status = check(run, tj_launch_run(run->kernel.launch, run->device));
  if (status == 0)
    status = write_arrays(run);
  if (status == 0 && (option_given(run->given, "stats") || option_given(run->given, "json")))
    status = print_stats(run);
  return status;
}

static void close_session(session *run) {
  for (size_t i = 0; i < run->array_count && run->array != NULL; i++)
    npy_free(&run->array[i]);
  free(run->array);
  close_kernel(&run->kernel);
  tj_device_close(run->device);
  tj_context_destroy(run->context);
}

static int run_text(const arguments *given, const program_text *text, void *data) {
  (void)data;
  session run = {.given = given, .context = open_context()};
  if (run.context == NULL)
    return TJ_ERROR_SYSTEM;
  int status = execute(&run, text);
  close_session(&run);
  return status;
}

static int run(const arguments *given) {
  return with_text(given, run_text, NULL);
}

static const option options[] = {
    {"kernel", VALUE_KERNEL, "K", "which kernel, where the program has several", NULL, false},
    {"device", VALUE_DEVICE, "D", "where to run; host by default, see tilejit devices", NULL, false},
    {"arg", VALUE_PARAMETER, "P=V", "pass a parameter at launch", NULL, true},
    {"in", VALUE_ARRAY, "A=FILE.npy", "the array of an argument", NULL, true},
    {"out", VALUE_ARRAY, "A=FILE.npy", "where to write an argument's array after the run", NULL, true},
    {"stats", VALUE_NONE, NULL, "print JSON: what the run took, and what a simulated device counted; --json does too",
     NULL, false},
    {0}};

static const operand operands[] = {PROGRAM_OPERAND, {0}};

const command command_run = {
    "run",
    "Compile a kernel and run it",
    "An array's elements in C order are the buffer that the argument's view addresses; those of an array in Fortran\n"
    "order as they are, where the argument is column-major and has its shape. An output without --in starts as\n"
    "zeros. It has the lengths of the view as its shape where the view is row-major, or column-major, which is\n"
    "Fortran order; elsewhere one dimension. Another source without --in holds its element numbers: element i is i,\n"
    "modulo 2^bits for integers and modulo 2^52, 2^24, 2^11 or 2^8 for f64, f32, f16 and bf16, which hold that\n"
    "exactly; floats of 8 bits have the codes 0 to 255 in turn. Parameters with neither --set nor --arg are taken\n"
    "from the arrays' shapes where an argument's view is plain row-major.",
    program_input,
    options,
    operands,
    run};
