/* SPDX-License-Identifier: MIT */
/* tilejit launch: what it takes to launch a kernel from somebody else's program. */
#include "tools/input/kernel.h"
#include "tools/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- as JSON --- */

static json_t *sizes_json(const uint64_t size[3]) {
  return json_pack("[I,I,I]", (json_int_t)size[0], (json_int_t)size[1], (json_int_t)size[2]);
}

static json_t *longs_json(const uint64_t value[], size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    add_item(&list, json_integer((json_int_t)value[i]));
  return list;
}

static json_t *words32_json(const uint32_t value[], size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    add_item(&list, json_integer((json_int_t)value[i]));
  return list;
}

/* The parameters of cuTensorMapEncodeTiled. */
static json_t *map_json(const tj_tensor_map *map) {
  char type[16], swizzle[16] = "NONE";
  snprintf(type, sizeof type, "UINT%" PRIu32, 8 * map->element_bytes);
  if (map->swizzle != 0)
    snprintf(swizzle, sizeof swizzle, "%" PRIu32 "B", map->swizzle);
  return json_pack("{s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:s,s:s,s:s,s:s}", "tensorDataType", type, "tensorRank",
                   (json_int_t)map->rank, "globalAddress", (json_int_t)map->address, "globalDim",
                   longs_json(map->extent, map->rank), "globalStrides", longs_json(map->stride, map->rank - 1),
                   "boxDim", words32_json(map->box, map->rank), "elementStrides",
                   words32_json(map->element_stride, map->rank), "interleave", "NONE", "swizzle", swizzle,
                   "l2Promotion", "NONE", "oobFill", "NONE");
}

/* Values are the words as signed integers; null: an address that is not given. */
static json_t *word_json(const tj_kernarg *word) {
  static const char *const kind[] = {[TJ_KERNARG_POINTER] = "pointer",
                                     [TJ_KERNARG_VALUE] = "value",
                                     [TJ_KERNARG_SCRATCH] = "scratch",
                                     [TJ_KERNARG_TENSOR_MAP] = "tensor_map"};
  bool is_argument = word->kind == TJ_KERNARG_POINTER || word->kind == TJ_KERNARG_TENSOR_MAP;
  json_t *value = word->map != NULL ? map_json(word->map)
                  : word->is_bound  ? json_integer((json_int_t)word->value)
                                    : json_null();
  json_t *json =
      json_pack("{s:I,s:I,s:s,s:s,s:o}", "offset", (json_int_t)word->offset, "bytes", (json_int_t)word->bytes, "kind",
                kind[word->kind], is_argument ? "argument" : "name", word->name, "value", value);
  if (word->kind == TJ_KERNARG_POINTER || word->kind == TJ_KERNARG_SCRATCH)
    add_member(&json, "alignment", json_integer((json_int_t)word->alignment));
  return json;
}

static json_t *words_json(const tj_recipe *recipe) {
  json_t *words = json_array();
  for (size_t i = 0; i < recipe->word_count; i++)
    add_item(&words, word_json(&recipe->word[i]));
  return words;
}

/* The kernels behind the first one. */
static json_t *next_json(const tj_recipe *recipe) {
  json_t *next = json_array();
  for (recipe = recipe->next; recipe != NULL; recipe = recipe->next) {
    uint64_t block[] = {recipe->block[0], recipe->block[1], recipe->block[2]};
    add_item(&next, json_pack("{s:s,s:o,s:o,s:I}", "symbol", recipe->symbol, "grid", sizes_json(recipe->grid),
                              "block", sizes_json(block), "lds_bytes", (json_int_t)recipe->lds_bytes));
  }
  return next;
}

static json_t *recipe_json(const tj_recipe *recipe, const tj_code *code, size_t bytes) {
  uint64_t block[] = {recipe->block[0], recipe->block[1], recipe->block[2]};
  json_t *json =
      json_pack("{s:s,s:o,s:o,s:I,s:I,s:o,s:{s:s,s:I}}", "symbol", recipe->symbol, "grid", sizes_json(recipe->grid),
                "block", sizes_json(block), "lds_bytes", (json_int_t)recipe->lds_bytes, "kernarg_bytes",
                (json_int_t)recipe->kernarg_bytes, "kernarg", words_json(recipe), "code", "target",
                tj_code_target(code), "bytes", (json_int_t)bytes);
  if (recipe->next != NULL) {
    json_object_set_new(json, "scratch_bytes", json_integer((json_int_t)recipe->scratch_bytes));
    json_object_set_new(json, "next", next_json(recipe));
  }
  return json;
}

/* --- as text --- */

static void print_map(const tj_kernarg *word) {
  const tj_tensor_map *map = word->map;
  printf("%20s  tensor map of %s from 0x%" PRIx64 " on: elements of %" PRIu32 " bytes, extents", "", word->name,
         map->address, map->element_bytes);
  for (uint32_t d = 0; d < map->rank; d++)
    printf(" %" PRIu64, map->extent[d]);
  printf(", strides");
  for (uint32_t d = 1; d < map->rank; d++)
    printf(" %" PRIu64, map->stride[d - 1]);
  printf(", boxes");
  for (uint32_t d = 0; d < map->rank; d++)
    printf(" %" PRIu32, map->box[d]);
  printf(", swizzle %" PRIu32 "\n", map->swizzle);
}

static void print_word(const tj_kernarg *word) {
  printf("  %6zu  ", word->offset);
  if (word->kind == TJ_KERNARG_VALUE)
    printf("%20" PRId64 "  %s\n", (int64_t)word->value, word->name);
  else if (word->kind == TJ_KERNARG_SCRATCH)
    printf("%20s  address of scratch memory, a multiple of %zu\n", "", word->alignment);
  else if (word->kind == TJ_KERNARG_TENSOR_MAP)
    print_map(word);
  else if (word->is_bound)
    printf("  0x%016" PRIx64 "  address of %s\n", word->value, word->name);
  else
    printf("%20s  address of %s, a multiple of %zu\n", "", word->name, word->alignment);
}

static void print_kernel(const tj_recipe *recipe) {
  printf("symbol   %s\n", recipe->symbol);
  printf("grid     %" PRIu64 " x %" PRIu64 " x %" PRIu64 " work-items\n", recipe->grid[0], recipe->grid[1],
         recipe->grid[2]);
  printf("block    %" PRIu32 " x %" PRIu32 " x %" PRIu32 " work-items\n", recipe->block[0], recipe->block[1],
         recipe->block[2]);
  printf("LDS      %" PRIu32 " bytes\n", recipe->lds_bytes);
}

static void print_recipe(const tj_recipe *recipe, const tj_code *code, size_t bytes) {
  print_kernel(recipe);
  for (const tj_recipe *next = recipe->next; next != NULL; next = next->next) {
    printf("then\n");
    print_kernel(next);
  }
  if (recipe->next != NULL)
    printf("scratch  %zu bytes\n", recipe->scratch_bytes);
  printf("code     %s, %zu bytes\n", tj_code_target(code), bytes);
  printf("kernarg  %zu bytes\n  offset  %20s\n", recipe->kernarg_bytes, "value");
  for (size_t i = 0; i < recipe->word_count; i++)
    print_word(&recipe->word[i]);
}

/* --- the launch --- */

/* An address as C writes it, without a sign. */
static bool parse_address(const char *text, uint64_t *address) {
  char *end;
  errno = 0;
  *address = strtoull(text, &end, 0);
  return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0';
}

/* ARGUMENT=ADDRESS. How far memory reaches behind an address is not known here. */
static int pass_pointer(const kernel *opened, const char *word) {
  const char *equals = strchr(word, '=');
  uint64_t address;
  if (equals == NULL || equals == word)
    return fail_usage("--pointer %s: the form is ARGUMENT=ADDRESS", word);
  if (!parse_address(equals + 1, &address))
    return fail_usage("--pointer %s: '%s' is not an address", word, equals + 1);
  char *name = strndup(word, (size_t)(equals - word));
  if (name == NULL)
    return fail_memory();
  tj_status bound = tj_launch_bind_pointer(opened->launch, name, (void *)(uintptr_t)address, SIZE_MAX);
  free(name);
  return bound == TJ_OK ? 0 : fail_library(opened->context, bound);
}

static int pass_pointers(const arguments *given, const kernel *opened) {
  int status = 0;
  for (size_t i = 0; status == 0 && i < given->option_count; i++) {
    if (strcmp(given->option[i].name, "pointer") == 0)
      status = pass_pointer(opened, given->option[i].value);
  }
  return status;
}

/* The exit status after printing why the code has no bytes, which compiling what the launch takes tells. */
static int fail_code(const kernel *opened) {
  tj_status status = tj_launch_compile(opened->launch);
  return status == TJ_OK ? fail_memory() : fail_library(opened->context, status);
}

static int print(const arguments *given, const kernel *opened) {
  const tj_recipe *recipe;
  size_t bytes;
  tj_status status = tj_launch_prepare(opened->launch, &recipe);
  if (status != TJ_OK)
    return fail_library(opened->context, status);
  if (tj_code_bytes(opened->code, &bytes) == NULL)
    return fail_code(opened);
  if (option_given(given, "json"))
    return print_json(recipe_json(recipe, opened->code, bytes));
  print_recipe(recipe, opened->code, bytes);
  return 0;
}

static int launch(const arguments *given, const program_text *text, void *data) {
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  kernel opened;
  int status = open_kernel(given, text, data, context, &opened);
  if (status == 0)
    status = pass_pointers(given, &opened);
  if (status == 0)
    status = print(given, &opened);
  close_kernel(&opened);
  tj_context_destroy(context);
  return status;
}

static int run(const arguments *given) {
  const char *target = option_value(given, "target");
  if (target == NULL)
    return fail_usage("launch needs --target: host, or a GPU such as gfx942 or sm_90");
  return with_text(given, launch, (void *)target);
}

static const option options[] = {
    {"kernel", VALUE_KERNEL, "K", "which kernel, where the program has several", NULL, false},
    {"target", VALUE_TARGET, "T", "host, gfx942, gfx90a:xnack-, …", NULL, false},
    {"arg", VALUE_PARAMETER, "P=V", "pass a parameter at launch", NULL, true},
    {"pointer", VALUE_ADDRESS, "A=ADDRESS", "where an argument's memory is on the device", NULL, true},
    {0}};

static const operand operands[] = {PROGRAM_OPERAND, {0}};

const command command_launch = {
    "launch",
    "Print what it takes to launch a kernel from another program",
    "The kernel is the one that tilejit compile makes with the same --set, which --emit hsaco writes. The symbol, "
    "the\n"
    "grid and the argument block (kernarg) are those of one launch: of the parameters of --arg, and of the "
    "addresses\n"
    "of --pointer; addresses that are not given are for the launcher to fill in.\n"
    "\n"
    "--json prints {\"symbol\", \"grid\": [x,y,z], \"block\": [x,y,z], \"lds_bytes\", \"kernarg_bytes\", "
    "\"kernarg\": […],\n"
    "\"code\": {\"target\", \"bytes\"}}; grid and block count work-items. The words of kernarg are {\"offset\", "
    "\"bytes\",\n"
    "\"kind\": \"pointer\", \"argument\", \"value\", \"alignment\"} and {\"offset\", \"bytes\", \"kind\": \"value\", "
    "\"name\",\n"
    "\"value\"}: value is the word as a signed integer, null for an address that is not given; alignment is what an\n"
    "address must be a multiple of. Of the kind \"tensor_map\" value is what cuTensorMapEncodeTiled takes to make "
    "it, an\n"
    "object. Where kernels follow one another there are also \"scratch_bytes\", memory whose address the word of the "
    "kind\n"
    "\"scratch\" takes, and \"next\": [{\"symbol\", \"grid\", \"block\", \"lds_bytes\"}…], to be launched in this "
    "order with the\n"
    "same argument block.\n"
    "\n"
    "docs/launching.md has recipes for HIP, HIP graphs and AQL packets.",
    program_input,
    options,
    operands,
    run};
