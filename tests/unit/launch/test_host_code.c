/* SPDX-License-Identifier: MIT */
/* Loading objects for this machine: which are laid out in pages and which go through ORC, that they run, that nothing
 * of them can be written, and that damaged ones are refused. */
#include "jit/compile/orc.h"
#include "launch/image/host_code.h"
#include "launch/image/host_pages.h"
#include "object/elf.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"

#include <stdio.h>

/* --- objects --- */

/* Each has a function `f` that writes a number, which depends on the first workgroup, to where the arguments begin.
 */
typedef struct {
  const char *guards; /* what the row guards */
  const char *ir;
  bool stands_by_itself;
  uint64_t workgroup;
  int64_t expected;
} object_row;

#define FUNCTION(body) "define void @f(ptr %to, i64 %begin, i64 %end) nounwind {\n" body "}\n"
#define STORE "  store i64 %v, ptr %to\n  ret void\n"

static const object_row rows[] = {
    {"code alone", FUNCTION("  %v = add i64 %begin, 41\n" STORE), true, 1, 42},
    {"constants, by distance",
     "@table = private constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]\n" FUNCTION(
         "  %at = getelementptr [4 x i64], ptr @table, i64 0, i64 %begin\n  %v = load i64, ptr %at\n" STORE),
     true, 2, 30},
    {"an aligned constant behind another",
     "@small = private constant [3 x i8] c\"abc\"\n@large = private constant [2 x i64] [i64 7, i64 9], align "
     "64\n" FUNCTION(
         "  %p = getelementptr [3 x i8], ptr @small, i64 0, i64 %begin\n  %c = load volatile i8, ptr %p\n"
         "  %low = ptrtoint ptr @large to i64\n  %rest = and i64 %low, 63\n"
         "  %q = getelementptr [2 x i64], ptr @large, i64 0, i64 %begin\n  %n = load volatile i64, ptr %q\n"
         "  %w = zext i8 %c to i64\n  %x = add i64 %w, %n\n  %v = add i64 %x, %rest\n" STORE),
     true, 1, 'b' + 9},
    {"a jump table: constants that hold distances to code",
     "declare void @llvm.trap()\n" FUNCTION(
         "  switch i64 %begin, label %other [ i64 0, label %a\n i64 1, label %b\n i64 2, label %c\n i64 3, label %d\n"
         " i64 4, label %e ]\n"
         "a:\n  store i64 11, ptr %to\n  ret void\nb:\n  store volatile i64 5, ptr %to\n  ret void\n"
         "c:\n  store i64 %end, ptr %to\n  ret void\nd:\n  %v = mul i64 %end, %end\n  store i64 %v, ptr %to\n  ret "
         "void\n"
         "e:\n  store i8 1, ptr %to\n  ret void\nother:\n  call void @llvm.trap()\n  unreachable\n"),
     true, 3, 16},
    {"a call inside of the object",
     "define i64 @g(i64 %x) noinline nounwind {\n  %y = mul i64 %x, 6\n  ret i64 %y\n}\n" FUNCTION(
         "  %v = call i64 @g(i64 %begin)\n" STORE),
     true, 7, 42},
    {"a call out of it",
     "declare i64 @labs(i64)\n" FUNCTION("  %n = sub i64 0, %begin\n  %v = call i64 @labs(i64 %n)\n" STORE), false, 7,
     7},
    {"a call of a function that every process has",
     "declare ptr @memcpy(ptr, ptr, i64)\n@table = private constant [4 x i64] [i64 10, i64 20, i64 30, i64 "
     "40]\n" FUNCTION("  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %begin\n  %size = add i64 %end, 4\n"
                      "  %r = call ptr @memcpy(ptr %to, ptr %p, i64 %size)\n  ret void\n"),
     true, 2, 30},
    {"a variable",
     "@count = internal global i64 5\n" FUNCTION("  %o = load volatile i64, ptr @count\n"
                                                 "  %v = add i64 %o, %begin\n"
                                                 "  store volatile i64 %v, ptr @count\n" STORE),
     false, 7, 12},
    {"memory that starts as zeros",
     "@zero = internal global [8 x i64] zeroinitializer\n" FUNCTION(
         "  %p = getelementptr [8 x i64], ptr @zero, i64 0, i64 %begin\n"
         "  %v = load volatile i64, ptr %p\n  store volatile i64 %begin, ptr %p\n" STORE),
     false, 3, 0},
    {"constants that hold addresses",
     "@a = internal constant i64 3\n@b = internal constant i64 4\n"
     "@pointers = internal constant [2 x ptr] [ptr @a, ptr @b]\n" FUNCTION(
         "  %p = getelementptr [2 x ptr], ptr @pointers, i64 0, i64 %begin\n  %q = load volatile ptr, ptr %p\n"
         "  %v = load volatile i64, ptr %q\n" STORE),
     false, 1, 4},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const name = "f";

typedef struct {
  const object_row *row;
  tj_host_code *code;
  tj_host_pages pages;
} loading;

/* --- ways --- */

static bool has_own_way(void) {
#ifdef __x86_64__
  return true;
#else
  return false;
#endif
}

static bool map_object(tj_job *job, tj_bytes object, tj_host_pages *pages, uintptr_t *address) {
  const tj_host_layout *layout = tj_host_layout_of(job, object);
  return layout != NULL && tj_host_pages_map(pages, layout, &name, 1, address);
}

static void choose_way(tj_job *job, void *data) {
  loading *l = data;
  uintptr_t address;
  bool is_mapped = map_object(job, make_host_object(job, l->row->ir), &l->pages, &address);
  ck_assert_msg(is_mapped == (l->row->stands_by_itself && has_own_way()), "%s", l->row->guards);
  ck_assert_msg(is_mapped == (l->pages.size > 0), "%s", l->row->guards);
}

START_TEST(objects_that_stand_by_themselves) {
  loading l = {.row = &rows[_i]};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, choose_way, &l);
  tj_host_pages_unmap(&l.pages);
  tj_job_destroy(&job);
}
END_TEST

static void load_object(tj_job *job, void *data) {
  loading *l = data;
  l->code = tj_host_code_load(job, make_host_object(job, l->row->ir), &tj_orc_linker, &name, 1);
}

/* The job ends before the code runs. */
START_TEST(objects_run) {
  loading l = {.row = &rows[_i]};
  int64_t result = -1;
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, load_object, &l);
  tj_job_destroy(&job);
  tj_host_code_entry(l.code, 0)(&result, l.row->workgroup, 4);
  ck_assert_msg(result == l.row->expected, "%s: %lld", l.row->guards, (long long)result);
  ck_assert_uint_ge(tj_host_code_size(l.code), 4096);
  ck_assert_int_eq(tj_host_code_stands_by_itself(l.code), l.row->stands_by_itself && has_own_way());
  tj_host_code_unload(l.code);
}
END_TEST

static void load_object_alone(tj_job *job, void *data) {
  loading *l = data;
  l->code = tj_host_code_load(job, make_host_object(job, l->row->ir), NULL, &name, 1);
}

/* ORC is not asked to load what somebody else may have made. */
START_TEST(objects_load_without_a_linker_where_they_stand_by_themselves) {
  loading l = {.row = &rows[_i]};
  int64_t result = -1;
  tj_job job;
  tj_job_init(&job, NULL);
  if (l.row->stands_by_itself && has_own_way()) {
    expect_success(&job, load_object_alone, &l);
    tj_host_code_entry(l.code, 0)(&result, l.row->workgroup, 4);
    ck_assert_msg(result == l.row->expected, "%s: %lld", l.row->guards, (long long)result);
  } else {
    expect_failure(&job, TJ_CODEGEN, load_object_alone, &l);
    ck_assert_ptr_nonnull(strstr(job.problem.message, "does not stand by itself"));
  }
  tj_host_code_unload(l.code);
  tj_job_destroy(&job);
}
END_TEST

/* --- pages --- */

/* How the page at an address may be used, as the system says: "r-xp"; "" where there is none. */
static void read_protection(uintptr_t address, char protection[5]) {
  char line[512];
  unsigned long begin, end;
  FILE *maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  protection[0] = '\0';
  while (fgets(line, sizeof line, maps) != NULL) {
    char found[5];
    if (sscanf(line, "%lx-%lx %4s", &begin, &end, found) == 3 && begin <= address && address < end)
      memcpy(protection, found, sizeof found);
  }
  fclose(maps);
}

static void map_constants(tj_job *job, void *data) {
  loading *l = data;
  uintptr_t address;
  l->row = &rows[1];
  ck_assert_int_eq(map_object(job, make_host_object(job, l->row->ir), &l->pages, &address), has_own_way());
}

START_TEST(pages_cannot_be_written) {
  loading l = {0};
  char protection[5];
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, map_constants, &l);
  tj_job_destroy(&job);
  if (!has_own_way())
    return;
  uintptr_t base = (uintptr_t)l.pages.base, last = base + l.pages.size - 1;
  read_protection(base, protection);
  ck_assert_str_eq(protection, "r-xp");
  read_protection(last, protection);
  ck_assert_str_eq(protection, "r--p");
  tj_host_pages_unmap(&l.pages);
  ck_assert_uint_eq(l.pages.size, 0);
  read_protection(base, protection);
  ck_assert_str_eq(protection, "");
}
END_TEST

/* --- damage --- */

typedef struct {
  tj_bytes object;
  tj_host_pages pages;
  bool is_mapped;
} attempt;

static void try_to_map(tj_job *job, void *data) {
  attempt *a = data;
  uintptr_t address;
  a->is_mapped = map_object(job, a->object, &a->pages, &address);
}

/* Whether these bytes are laid out; nothing of them runs. */
static bool is_accepted(tj_bytes object) {
  attempt a = {.object = object};
  tj_job job;
  tj_job_init(&job, NULL);
  (void)tj_job_run(&job, try_to_map, &a);
  tj_host_pages_unmap(&a.pages);
  tj_job_destroy(&job);
  return a.is_mapped;
}

/* Every byte of an object with constants, a jump table and relocations is changed in turn, and every end cut off. */
static void damage_object(tj_job *job, void *data) {
  static const unsigned char masks[] = {0x01, 0x80, 0xff};
  uint32_t *refused = data;
  tj_bytes object = make_host_object(job, rows[3].ir);
  ck_assert_int_eq(is_accepted(object), has_own_way());
  for (size_t size = 0; size < object.size; size += 7) {
    unsigned char *part = malloc(size + 1);
    memcpy(part, object.data, size);
    ck_assert(!is_accepted((tj_bytes){part, size}));
    free(part);
  }
  unsigned char *copy = malloc(object.size);
  memcpy(copy, object.data, object.size);
  for (size_t i = 0; i < object.size * sizeof masks; i++) {
    copy[i / sizeof masks] ^= masks[i % sizeof masks];
    *refused += !is_accepted((tj_bytes){copy, object.size});
    copy[i / sizeof masks] ^= masks[i % sizeof masks];
  }
  free(copy);
}

START_TEST(damaged_objects_are_refused) {
  uint32_t refused = 0;
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, damage_object, &refused);
  tj_job_destroy(&job);
  ck_assert_uint_gt(refused, 100);
}
END_TEST

enum { RELOCATION = 24, ADDEND = 16 };

/* The object's first table of relocations of a section that is in memory. */
static const tj_elf_section *find_relocations(const tj_elf *elf) {
  for (uint32_t i = 0; i < elf->section_count; i++) {
    const tj_elf_section *table = &elf->section[i];
    if (table->type == TJ_ELF_SECTION_RELA && table->bytes.size >= RELOCATION &&
        (elf->section[table->info].flags & TJ_ELF_SECTION_ALLOCATED) != 0)
      return table;
  }
  ck_abort_msg("the object has no relocation");
}

/* The lower 32 bits of these distances are right, the distances are not. */
static void add_to_addend(tj_job *job, void *data) {
  (void)data;
  static const unsigned beyond[] = {32, 33, 40, 62, 63};
  tj_bytes object = make_host_object(job, rows[3].ir);
  const tj_elf_section *table = find_relocations(tj_elf_read(job, object, TJ_CODEGEN));
  size_t at = (size_t)((const char *)table->bytes.data - (const char *)object.data) + ADDEND;
  for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
    unsigned char *copy = tj_arena_copy(&job->arena, object.data, object.size);
    copy[at + beyond[i] / 8] ^= (unsigned char)(1u << beyond[i] % 8);
    ck_assert_msg(!is_accepted((tj_bytes){copy, object.size}), "an addend of 2^%u", beyond[i]);
  }
}

START_TEST(distances_beyond_32_bits_are_refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  if (has_own_way())
    expect_success(&job, add_to_addend, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* The header of a table of relocations, where it says of what kind they are, and by which symbols they go; and the
 * header of the section that they are for, where it is no power of two that it is aligned to. */
static void change_table(tj_job *job, void *data) {
  (void)data;
  enum { SECTIONS = 40, SECTION_SIZE = 64, REL = 9 };
  static const struct {
    bool is_target;
    size_t field;
    unsigned char value;
  } changes[] = {{false, 4, REL}, {false, 40, 0}, {false, 40, 1}, {true, 48, 3}, {true, 48, 48}};
  tj_bytes object = make_host_object(job, rows[3].ir);
  const tj_elf *elf = tj_elf_read(job, object, TJ_CODEGEN);
  const tj_elf_section *table = find_relocations(elf);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    unsigned char *copy = tj_arena_copy(&job->arena, object.data, object.size);
    size_t number = changes[i].is_target ? table->info : (size_t)(table - elf->section);
    copy[tj_bytes_u64(object, SECTIONS) + number * SECTION_SIZE + changes[i].field] = changes[i].value;
    ck_assert_msg(!is_accepted((tj_bytes){copy, object.size}), "change %zu", i);
  }
}

START_TEST(relocations_of_other_kinds_are_refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  if (has_own_way())
    expect_success(&job, change_table, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* --- failures --- */

static void load_nonsense(tj_job *job, void *data) {
  (void)data;
  tj_host_code_load(job, (tj_bytes){"no object", 9}, &tj_orc_linker, &name, 1);
}

static void load_unknown_symbol(tj_job *job, void *data) {
  (void)data;
  tj_host_code_load(job, make_host_object(job, rows[0].ir), &tj_orc_linker, &(const char *){"another"}, 1);
}

static void load_for_a_gpu(tj_job *job, void *data) {
  (void)data;
  tj_host_code_load(job, make_amdgpu_object(job, kernels_ir, "gfx942"), &tj_orc_linker, &(const char *){"store"}, 1);
}

static void load_unknown_function(tj_job *job, void *data) {
  (void)data;
  static const char ir[] =
      "declare i64 @tj_nobody_has_this(i64)\n" FUNCTION("  %v = call i64 @tj_nobody_has_this(i64 1)\n" STORE);
  tj_host_code_load(job, make_host_object(job, ir), &tj_orc_linker, &name, 1);
}

/* What cannot be loaded fails, quietly. */
START_TEST(what_cannot_be_loaded) {
  static const struct {
    void (*body)(tj_job *job, void *data);
    const char *reason;
  } failures[] = {
      {load_nonsense, "not an ELF file"},
      {load_unknown_symbol, "another"},
      {load_for_a_gpu, "architecture"},
      {load_unknown_function, "tj_nobody_has_this"},
  };
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_failure(&job, TJ_CODEGEN, failures[i].body, NULL);
    ck_assert_msg(strstr(job.problem.message, failures[i].reason) != NULL, "%s", job.problem.message);
    tj_job_destroy(&job);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("host_code");
  TCase *cases = tcase_create("host_code");
  tcase_set_timeout(cases, 300);
  tcase_add_loop_test(cases, objects_that_stand_by_themselves, 0, ROWS);
  tcase_add_loop_test(cases, objects_run, 0, ROWS);
  tcase_add_loop_test(cases, objects_load_without_a_linker_where_they_stand_by_themselves, 0, ROWS);
  tcase_add_test(cases, pages_cannot_be_written);
  tcase_add_test(cases, damaged_objects_are_refused);
  tcase_add_test(cases, distances_beyond_32_bits_are_refused);
  tcase_add_test(cases, relocations_of_other_kinds_are_refused);
  tcase_add_test(cases, what_cannot_be_loaded);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
