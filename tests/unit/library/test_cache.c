/* SPDX-License-Identifier: MIT */
/* The cache through the public header: where code comes from, and that it is the right code, whatever happens to the
 * cache. Kernels are offsets(dst, (64):(factor)), so that what a kernel stores tells which one it is. */
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { COUNT = 64, NOBODY = 65534 };

/* How many files there are besides entries: the one that counts, where nothing was left unwritten. */
static size_t count_others(void) {
  return visit_files("", NULL, NULL) - visit_files(".text", NULL, NULL) - visit_files(".kernel", NULL, NULL);
}

/* --- kernels --- */

typedef struct {
  tj_context *context;
  tj_cache *cache;
  tj_device *device;
} fixture;

static fixture open_with(const tj_cache_options *options) {
  fixture f;
  ck_assert_int_eq(tj_context_create(NULL, &f.context), TJ_OK);
  ck_assert_int_eq(tj_cache_create(NULL, options, &f.cache), TJ_OK);
  tj_context_set_cache(f.context, f.cache);
  ck_assert_int_eq(tj_device_open(f.context, "host", &f.device), TJ_OK);
  return f;
}

/* A cache on disk alone, so that every look goes there. */
static fixture open_disk(void) {
  return open_with(&(tj_cache_options){.directory = folder, .memory_bytes = TJ_CACHE_NONE});
}

static void close_fixture(fixture *f) {
  tj_device_close(f->device);
  tj_context_destroy(f->context);
  tj_cache_destroy(f->cache);
}

static bool stores_multiples(const fixture *f, const tj_code *code, int factor) {
  int32_t stored[COUNT] = {0};
  tj_launch *launch;
  bool is_right = tj_launch_create(f->context, code, &launch) == TJ_OK;
  if (!is_right)
    return false;
  is_right =
      tj_launch_bind(launch, "dst", stored, sizeof stored) == TJ_OK && tj_launch_run(launch, f->device) == TJ_OK;
  tj_launch_destroy(launch);
  for (int i = 0; is_right && i < COUNT; i++)
    is_right = stored[i] == i * factor;
  return is_right;
}

/* Compiles the kernel of a factor and runs it. Returns where it came from, or -1 where it is wrong. */
static int origin_of(const fixture *f, int factor, const char *remark) {
  char text[256];
  int length = snprintf(text, sizeof text, "kernel k(dst: i32 @ (%d):(1)) = offsets(dst, (%d):(%d)) # %s", COUNT,
                        COUNT, factor, remark);
  tj_code *code;
  tj_compile_options options = {"k", "host"};
  if (tj_code_compile_text(f->context, "t", text, (size_t)length, NULL, 0, &options, &code) != TJ_OK)
    return -1;
  int origin = stores_multiples(f, code, factor) ? (int)tj_code_origin_of(code) : -1;
  tj_code_destroy(code);
  return origin;
}

/* --- where code comes from --- */

START_TEST(each_level_serves_what_the_one_before_it_lacks) {
  make_folder();
  tj_cache_options options = {.directory = folder};
  fixture first = open_with(&options);
  ck_assert_int_eq(origin_of(&first, 3, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(origin_of(&first, 3, ""), TJ_CODE_FROM_MEMORY);
  ck_assert_int_eq(origin_of(&first, 3, "said differently"), TJ_CODE_FROM_KERNEL);
  ck_assert_int_eq(origin_of(&first, 4, ""), TJ_CODE_COMPILED);
  fixture second = open_with(&options);
  ck_assert_int_eq(origin_of(&second, 3, ""), TJ_CODE_FROM_DISK);
  ck_assert_int_eq(origin_of(&second, 3, ""), TJ_CODE_FROM_MEMORY);
  ck_assert_int_eq(origin_of(&second, 4, "said differently"), TJ_CODE_FROM_KERNEL);
  tj_cache_stats stats = tj_cache_stats_of(second.cache);
  ck_assert_uint_eq(stats.disk_hits, 1);
  ck_assert_uint_eq(stats.memory_hits, 1);
  ck_assert_uint_eq(stats.kernel_hits, 1);
  ck_assert_uint_eq(stats.misses, 0);
  ck_assert_uint_eq(stats.disk_entries, 6);
  close_fixture(&second);
  close_fixture(&first);
  remove_folder();
}
END_TEST

static int compile_with(tj_context *context, const char *text, const char *kernel, const char *target,
                        const tj_parameter_value fixed[], size_t fixed_count) {
  tj_code *code;
  tj_compile_options options = {kernel, target};
  if (tj_code_compile_text(context, "t", text, strlen(text), fixed, fixed_count, &options, &code) != TJ_OK)
    return -1;
  int origin = (int)tj_code_origin_of(code);
  tj_code_destroy(code);
  return origin;
}

/* What two compilations of one text may differ in. */
START_TEST(everything_that_makes_a_difference_is_in_the_key) {
  static const char text[] = "param N in 1..4096\n"
                             "kernel a(src: f32 @ (N):(1), dst: f32 @ (N):(1)) = copy(src, dst)\n"
                             "kernel b(dst: i32 @ (N):(1)) = offsets(dst, (N):(1))";
  static const struct {
    const char *kernel, *target;
    tj_parameter_value fixed;
    size_t count;
  } asked[] = {{"a", "gfx942", {NULL, 0}, 0},  {"b", "gfx942", {NULL, 0}, 0}, {"a", "gfx942:xnack-", {NULL, 0}, 0},
               {"a", "gfx1100", {NULL, 0}, 0}, {"a", "host", {NULL, 0}, 0},   {"a", "gfx942", {"N", 64}, 1},
               {"a", "gfx942", {"N", 65}, 1}};
  fixture f = open_with(&(tj_cache_options){.disk_bytes = TJ_CACHE_NONE});
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
      ck_assert_int_eq(
          compile_with(f.context, text, asked[i].kernel, asked[i].target, &asked[i].fixed, asked[i].count),
          round == 0 ? TJ_CODE_COMPILED : TJ_CODE_FROM_MEMORY);
  }
  ck_assert(!tj_cache_stats_of(f.cache).has_disk);
  close_fixture(&f);
}
END_TEST

START_TEST(programs_and_texts_share_what_is_known) {
  static const char text[] = "kernel k(dst: i32 @ (64):(1)) = offsets(dst, (64):(7))";
  fixture f = open_with(&(tj_cache_options){.disk_bytes = TJ_CACHE_NONE});
  tj_program *program;
  tj_code *code;
  ck_assert_int_eq(compile_with(f.context, text, NULL, "host", NULL, 0), TJ_CODE_COMPILED);
  ck_assert_int_eq(tj_program_create(f.context, "t", text, strlen(text), NULL, 0, &program), TJ_OK);
  ck_assert_int_eq(tj_code_compile(program, &(tj_compile_options){NULL, "host"}, &code), TJ_OK);
  ck_assert_int_eq(tj_code_origin_of(code), TJ_CODE_FROM_MEMORY);
  tj_program_destroy(program);
  tj_cache_clear(f.cache);
  ck_assert(stores_multiples(&f, code, 7));
  ck_assert_str_eq(tj_code_kernel(code), "k");
  ck_assert_str_eq(tj_code_target(code), "host");
  tj_code_destroy(code);
  close_fixture(&f);
}
END_TEST

START_TEST(failures_are_not_kept_and_are_reported_each_time) {
  fixture f = open_with(&(tj_cache_options){.disk_bytes = TJ_CACHE_NONE});
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(
        compile_with(f.context, "kernel k(dst: i32 @ (4):(1)) = offsets(dst, (4:(1))", NULL, "host", NULL, 0), -1);
    ck_assert_uint_eq(tj_context_diagnostic(f.context)->code / 1000, 1);
    ck_assert_int_eq(
        compile_with(f.context, "kernel k(dst: i32 @ (4):(1)) = offsets(dst, (4):(1))", NULL, "gfx1", NULL, 0), -1);
    ck_assert_uint_eq(tj_context_diagnostic(f.context)->code, 5001);
  }
  ck_assert_uint_eq(tj_cache_stats_of(f.cache).memory_entries, 0);
  close_fixture(&f);
}
END_TEST

START_TEST(off_means_that_nothing_is_kept) {
  make_folder();
  setenv("TILEJIT_CACHE", "off", 1);
  fixture f = open_with(&(tj_cache_options){.directory = folder});
  ck_assert_int_eq(origin_of(&f, 3, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(origin_of(&f, 3, ""), TJ_CODE_COMPILED);
  ck_assert(tj_cache_stats_of(f.cache).is_off);
  close_fixture(&f);
  unsetenv("TILEJIT_CACHE");
  ck_assert_uint_eq(visit_files("", NULL, NULL), 0);
  f = open_disk();
  tj_context_set_cache(f.context, NULL);
  ck_assert_int_eq(origin_of(&f, 3, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(origin_of(&f, 3, ""), TJ_CODE_COMPILED);
  close_fixture(&f);
  remove_folder();
}
END_TEST

/* The default folder of a context that is given no cache. */
START_TEST(the_environment_says_where) {
  static const struct {
    const char *variable, *below;
  } rows[] = {{"TILEJIT_CACHE_DIRECTORY", ""}, {"XDG_CACHE_HOME", "/tilejit"}, {"HOME", "/.cache/tilejit"}};
  char *home = strdup(getenv("HOME") != NULL ? getenv("HOME") : "/");
  unsetenv("XDG_CACHE_HOME");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    make_folder();
    char expected[PATH_SIZE + 32];
    setenv(rows[i].variable, folder, 1);
    snprintf(expected, sizeof expected, "%s%s", folder, rows[i].below);
    tj_cache *cache;
    ck_assert_int_eq(tj_cache_create(NULL, NULL, &cache), TJ_OK);
    ck_assert_str_eq(tj_cache_stats_of(cache).directory, expected);
    ck_assert(tj_cache_stats_of(cache).has_disk);
    tj_cache_destroy(cache);
    unsetenv(rows[i].variable);
    rmdir(expected);
    snprintf(expected, sizeof expected, "%s/.cache", folder);
    rmdir(expected);
    remove_folder();
  }
  setenv("HOME", home, 1);
  free(home);
}
END_TEST

static void expect_limits(const char *text, uint64_t disk, uint64_t memory) {
  setenv("TILEJIT_CACHE_DISK", text, 1);
  setenv("TILEJIT_CACHE_MEMORY", text, 1);
  tj_cache *cache;
  ck_assert_int_eq(tj_cache_create(NULL, NULL, &cache), TJ_OK);
  tj_cache_stats stats = tj_cache_stats_of(cache);
  ck_assert_str_eq(stats.directory, "");
  ck_assert_msg(stats.disk_limit == disk && stats.memory_limit == memory, "'%s'", text);
  tj_cache_destroy(cache);
}

/* Limits of the environment; what is no number of bytes leaves the usual ones. No folder is absolute. */
START_TEST(the_environment_says_how_much) {
  static const struct {
    const char *text;
    uint64_t bytes;
  } rows[] = {{"0", 0}, {"3", 3}, {"20K", 20 << 10}, {"3M", 3 << 20}, {"17179869183G", 17179869183ull << 30}};
  static const char *const others[] = {
      "17179869184G", "99999999999999999999", "lots", "", "-1", "+1", " 1", "3MB", "3k", "3 M", "3x", "K", "0x10"};
  char *home = strdup(getenv("HOME") != NULL ? getenv("HOME") : "/");
  setenv("HOME", "relative", 1);
  setenv("XDG_CACHE_HOME", "relative", 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_limits(rows[i].text, rows[i].bytes, rows[i].bytes);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    expect_limits(others[i], 256 << 20, 64 << 20);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("TILEJIT_CACHE_DISK");
  unsetenv("TILEJIT_CACHE_MEMORY");
  setenv("HOME", home, 1);
  free(home);
}
END_TEST

/* --- imports --- */

static tj_status read_factor(void *user, const char *importer, const char *path, tj_import *import) {
  (void)importer;
  return tj_import_give(import, path, user, strlen(user));
}

/* What a text imports may be another one the next time. */
START_TEST(imports_are_read_each_time) {
  static char two[] = "let factor = 2", three[] = "let factor = 3";
  static const char text[] = "import \"f\"; kernel k(dst: i32 @ (64):(1)) = offsets(dst, (64):(factor))";
  make_folder();
  fixture f = open_with(&(tj_cache_options){.directory = folder});
  char *const factors[] = {two, three, two};
  for (int i = 0; i < 3; i++) {
    tj_code *code;
    tj_context_set_reader(f.context, read_factor, factors[i]);
    ck_assert_int_eq(
        tj_code_compile_text(f.context, "t", text, strlen(text), NULL, 0, &(tj_compile_options){"k", "host"}, &code),
        TJ_OK);
    ck_assert(stores_multiples(&f, code, i == 1 ? 3 : 2));
    ck_assert_int_eq(tj_code_origin_of(code), i < 2 ? TJ_CODE_COMPILED : TJ_CODE_FROM_KERNEL);
    tj_code_destroy(code);
  }
  close_fixture(&f);
  remove_folder();
}
END_TEST

/* --- damage --- */

typedef struct {
  enum { FLIP, TRUNCATE, EXTEND, ALLOW_GROUP, ALLOW_OTHERS, EMPTY } kind;
  long offset; /* from the file's end where negative */
} damage;

static void do_damage(const char *path, void *data) {
  const damage *d = data;
  struct stat status;
  int file = open(path, O_RDWR);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(fstat(file, &status), 0);
  off_t at = d->offset >= 0 ? d->offset : status.st_size + d->offset;
  unsigned char byte = 0;
  ck_assert_int_lt(at, status.st_size);
  if (d->kind == FLIP) {
    ck_assert_int_eq(pread(file, &byte, 1, at), 1);
    byte ^= (unsigned char)(1u << (at % 8));
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
  } else if (d->kind == ALLOW_GROUP || d->kind == ALLOW_OTHERS) {
    ck_assert_int_eq(fchmod(file, d->kind == ALLOW_GROUP ? 0620 : 0602), 0);
  } else {
    ck_assert_int_eq(ftruncate(file, d->kind == EXTEND ? status.st_size + 1 : at), 0);
  }
  close(file);
}

/* Damages the one entry of a kind; the other kind is removed where `alone`. The next compilation must notice, be
 * right, and leave an entry that serves the one after it. */
static void check_damage(const char *ending, bool alone, damage d) {
  fixture f = open_disk();
  tj_cache_clear(f.cache);
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
  close_fixture(&f);
  bool is_text = strcmp(ending, ".text") == 0;
  if (alone)
    visit_files(is_text ? ".kernel" : ".text", remove_file, NULL);
  ck_assert_uint_eq(visit_files(ending, do_damage, &d), 1);
  f = open_disk();
  ck_assert_msg(origin_of(&f, 5, "") == (is_text && !alone ? TJ_CODE_FROM_KERNEL : TJ_CODE_COMPILED),
                "damage %d at %ld of a %s", (int)d.kind, d.offset, ending);
  ck_assert_uint_eq(tj_cache_stats_of(f.cache).damaged, 1);
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_FROM_DISK);
  ck_assert_uint_eq(tj_cache_stats_of(f.cache).damaged, 1);
  close_fixture(&f);
}

START_TEST(damaged_entries_are_compiled_again) {
  static const damage rows[] = {{FLIP, -1},     {FLIP, -700},     {FLIP, -1500},    {TRUNCATE, 0},  {TRUNCATE, 1},
                                {TRUNCATE, 47}, {TRUNCATE, 48},   {TRUNCATE, 300},  {TRUNCATE, -1}, {TRUNCATE, -900},
                                {EXTEND, 0},    {ALLOW_GROUP, 0}, {ALLOW_OTHERS, 0}};
  make_folder();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_damage(".text", false, rows[i]);
    check_damage(".text", true, rows[i]);
    check_damage(".kernel", true, rows[i]);
  }
  for (long header = 0; header < 48; header++)
    check_damage(".text", false, (damage){FLIP, header});
  for (long key = 48; key < 600; key += 61) {
    check_damage(".text", false, (damage){FLIP, key});
    check_damage(".kernel", true, (damage){FLIP, key});
  }
  remove_folder();
}
END_TEST

/* An entry under another entry's name is whole, and of another key. */
static void rename_to_other(const char *path, void *data) {
  if (*(char *)data == '\0')
    strcpy(data, path);
  else
    ck_assert_int_eq(rename(data, path), 0);
}

START_TEST(entries_of_other_keys_are_not_used) {
  make_folder();
  fixture f = open_disk();
  char other[PATH_SIZE + 300] = "";
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(origin_of(&f, 6, ""), TJ_CODE_COMPILED);
  visit_files(".kernel", remove_file, NULL);
  ck_assert_uint_eq(visit_files(".text", rename_to_other, other), 2);
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(origin_of(&f, 6, ""), TJ_CODE_COMPILED);
  close_fixture(&f);
  remove_folder();
}
END_TEST

static void check_open_folder(mode_t mode) {
  make_folder();
  ck_assert_int_eq(chmod(folder, mode), 0);
  fixture f = open_disk();
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
  ck_assert(!tj_cache_stats_of(f.cache).has_disk);
  ck_assert_str_ne(tj_cache_stats_of(f.cache).obstacle, "");
  close_fixture(&f);
  ck_assert_uint_eq(visit_files("", NULL, NULL), 0);
  remove_folder();
}

START_TEST(folders_that_others_can_write_are_not_used) {
  static const mode_t modes[] = {0720, 0770, 0702, 0777};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    check_open_folder(modes[i]);
}
END_TEST

START_TEST(without_folder_or_room_nothing_is_kept) {
  const tj_cache_options nowhere[] = {
      {.directory = "", .memory_bytes = TJ_CACHE_NONE},
      {.disk_bytes = TJ_CACHE_NONE, .memory_bytes = 1},
  };
  for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
    fixture f = open_with(&nowhere[i]);
    ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
    ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
    tj_cache_stats stats = tj_cache_stats_of(f.cache);
    ck_assert(!stats.has_disk && stats.obstacle[0] != '\0');
    ck_assert_uint_eq(stats.stores, 0);
    close_fixture(&f);
  }
}
END_TEST

/* --- in other processes --- */

/* Runs body in a child; 0 where it returned true. */
static pid_t begin_child(bool (*body)(void *data), void *data) {
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0)
    _exit(body(data) ? 0 : 1);
  return child;
}

static void expect_child(pid_t child) {
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child ended with status %x", (unsigned)status);
}

static bool compile_repeatedly(void *data) {
  fixture f = open_disk();
  bool is_right = true;
  for (int i = 0; is_right && i < 60; i++) {
    is_right = origin_of(&f, 1 + i % 3, "") >= 0;
    if (i % 20 == *(int *)data)
      visit_files(i % 2 == 0 ? ".text" : ".kernel", remove_file, NULL);
  }
  tj_cache_stats stats = tj_cache_stats_of(f.cache);
  close_fixture(&f);
  return is_right && stats.damaged == 0 && stats.failures == 0;
}

START_TEST(processes_share_a_folder) {
  make_folder();
  pid_t child[4];
  int number[4];
  for (int i = 0; i < 4; i++) {
    number[i] = i;
    child[i] = begin_child(compile_repeatedly, &number[i]);
  }
  for (int i = 0; i < 4; i++)
    expect_child(child[i]);
  ck_assert_uint_eq(count_others(), 1);
  remove_folder();
}
END_TEST

/* What a process may do that cannot write: compile, and read what is there. */
static bool read_without_writing(void *data) {
  (void)data;
  if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0)
    return false;
  fixture f = open_disk();
  bool is_right = origin_of(&f, 5, "") == TJ_CODE_FROM_DISK && origin_of(&f, 6, "") == TJ_CODE_COMPILED &&
                  origin_of(&f, 6, "") == TJ_CODE_COMPILED;
  tj_cache_stats stats = tj_cache_stats_of(f.cache);
  close_fixture(&f);
  return is_right && stats.failures > 0 && stats.damaged == 0;
}

static void give_to_nobody(const char *path, void *data) {
  (void)data;
  ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}

START_TEST(a_folder_that_cannot_be_written_is_read) {
  make_folder();
  fixture f = open_disk();
  ck_assert_int_eq(origin_of(&f, 5, ""), TJ_CODE_COMPILED);
  close_fixture(&f);
  ck_assert_int_eq(chmod(folder, 0500), 0);
  if (geteuid() == 0) {
    visit_files("", give_to_nobody, NULL);
    give_to_nobody(folder, NULL);
  }
  expect_child(begin_child(read_without_writing, NULL));
  ck_assert_int_eq(chmod(folder, 0700), 0);
  remove_folder();
}
END_TEST

static bool compile_without_room(void) {
  fixture f = open_disk();
  bool is_right = true;
  for (int factor = 1; is_right && factor < 8; factor++)
    is_right = origin_of(&f, factor, "") >= 0 && origin_of(&f, factor, "") >= 0;
  tj_cache_stats stats = tj_cache_stats_of(f.cache);
  close_fixture(&f);
  return is_right && stats.failures > 0 && stats.damaged == 0 && count_others() <= 1;
}

/* A file system of 32 KiB, in a namespace of its own; without the right to mount, nothing is shown. */
static bool compile_on_a_full_disk(void *data) {
  (void)data;
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return true;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", folder, "tmpfs", 0, "size=32k,mode=0700") != 0)
    return true;
  return compile_without_room();
}

static bool compile_within_a_file_size(void *data) {
  (void)data;
  return setrlimit(RLIMIT_FSIZE, &(struct rlimit){2000, 2000}) == 0 && compile_without_room();
}

START_TEST(full_disks_lose_entries_and_nothing_else) {
  make_folder();
  expect_child(begin_child(compile_on_a_full_disk, NULL));
  expect_child(begin_child(compile_within_a_file_size, NULL));
  remove_folder();
}
END_TEST

static bool compile_forever(void *data) {
  fixture f = open_disk();
  for (int i = *(int *)data; origin_of(&f, 1 + i % 16, "") >= 0; i++)
    visit_files(i % 2 == 0 ? ".text" : ".kernel", remove_file, NULL);
  return false;
}

START_TEST(killed_processes_leave_whole_entries) {
  make_folder();
  for (int round = 0; round < 20; round++) {
    pid_t child = begin_child(compile_forever, &round);
    usleep((useconds_t)(20000 + 977 * round));
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    int status;
    waitpid(child, &status, 0);
    ck_assert_msg(WIFSIGNALED(status), "the child found a wrong kernel");
  }
  fixture f = open_disk();
  for (int factor = 1; factor <= 16; factor++)
    ck_assert_int_ge(origin_of(&f, factor, ""), 0);
  ck_assert_uint_eq(tj_cache_stats_of(f.cache).damaged, 0);
  ck_assert_int_eq(tj_cache_clear(f.cache), TJ_OK);
  ck_assert_uint_eq(visit_files("", NULL, NULL), 1);
  close_fixture(&f);
  remove_folder();
}
END_TEST

/* --- limits --- */

START_TEST(memory_keeps_what_was_used_last) {
  fixture f = open_with(&(tj_cache_options){.disk_bytes = TJ_CACHE_NONE});
  ck_assert_int_eq(origin_of(&f, 1, ""), TJ_CODE_COMPILED);
  uint64_t one = tj_cache_stats_of(f.cache).memory_bytes;
  close_fixture(&f);
  f = open_with(&(tj_cache_options){.memory_bytes = 4 * one + one / 2, .disk_bytes = TJ_CACHE_NONE});
  for (int factor = 1; factor <= 12; factor++) {
    ck_assert_int_eq(origin_of(&f, factor, ""), TJ_CODE_COMPILED);
    ck_assert_int_eq(origin_of(&f, 1, ""), TJ_CODE_FROM_MEMORY);
    ck_assert_uint_le(tj_cache_stats_of(f.cache).memory_bytes, 4 * one + one / 2);
  }
  ck_assert_int_eq(origin_of(&f, 12, ""), TJ_CODE_FROM_MEMORY);
  ck_assert_uint_gt(tj_cache_stats_of(f.cache).memory_evictions, 5);
  ck_assert_int_eq(origin_of(&f, 2, ""), TJ_CODE_COMPILED);
  close_fixture(&f);
}
END_TEST

/* Makes a file look as if it had not been used for `data` hours. */
static void make_old(const char *path, void *data) {
  struct stat status;
  ck_assert_int_eq(stat(path, &status), 0);
  struct timespec times[2] = {status.st_atim, status.st_mtim};
  times[1].tv_sec -= *(int *)data * 3600;
  ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(disk_keeps_what_was_used_last) {
  make_folder();
  uint64_t limit = 64 * 1024;
  fixture f = open_with(&(tj_cache_options){.directory = folder, .memory_bytes = TJ_CACHE_NONE, .disk_bytes = limit});
  for (int factor = 1; factor <= 30; factor++) {
    int hour = 1;
    ck_assert_int_eq(origin_of(&f, factor, ""), TJ_CODE_COMPILED);
    visit_files(".text", make_old, &hour);
    visit_files(".kernel", make_old, &hour);
    ck_assert_int_eq(origin_of(&f, 1, ""), TJ_CODE_FROM_DISK);
    ck_assert_uint_le(tj_cache_stats_of(f.cache).disk_bytes, limit);
  }
  for (int factor = 30; factor > 26; factor--)
    ck_assert_int_eq(origin_of(&f, factor, ""), TJ_CODE_FROM_DISK);
  ck_assert_int_eq(origin_of(&f, 2, ""), TJ_CODE_COMPILED);
  ck_assert_uint_gt(tj_cache_stats_of(f.cache).disk_evictions, 20);
  close_fixture(&f);
  remove_folder();
}
END_TEST

START_TEST(clearing_leaves_strangers_alone) {
  make_folder();
  char stranger[PATH_SIZE + 32];
  snprintf(stranger, sizeof stranger, "%s/notes.text", folder);
  close(open(stranger, O_CREAT | O_WRONLY, 0600));
  fixture f = open_disk();
  ck_assert_int_eq(origin_of(&f, 1, ""), TJ_CODE_COMPILED);
  ck_assert_uint_eq(tj_cache_stats_of(f.cache).disk_entries, 2);
  ck_assert_int_eq(tj_cache_clear(f.cache), TJ_OK);
  ck_assert_uint_eq(tj_cache_stats_of(f.cache).disk_entries, 0);
  ck_assert_int_eq(origin_of(&f, 1, ""), TJ_CODE_COMPILED);
  ck_assert_int_eq(access(stranger, F_OK), 0);
  close_fixture(&f);
  remove_folder();
}
END_TEST

/* --- threads --- */

enum { THREADS = 8, COMPILATIONS = 40, FACTORS = 10 };

static void *compile_in_thread(void *data) {
  fixture f = *(fixture *)data;
  bool is_right = tj_context_create(NULL, &f.context) == TJ_OK;
  tj_context_set_cache(f.context, f.cache);
  unsigned state = (unsigned)(uintptr_t)&f;
  for (int i = 0; is_right && i < COMPILATIONS; i++) {
    is_right = origin_of(&f, 1 + rand_r(&state) % FACTORS, rand_r(&state) % 2 == 0 ? "" : "so") >= 0;
    if (i % 16 == 15)
      (void)tj_cache_stats_of(f.cache);
  }
  tj_context_destroy(f.context);
  return is_right ? data : NULL;
}

static void share_among_threads(const tj_cache_options *options) {
  fixture f = open_with(options);
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, compile_in_thread, &f), 0);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(thread[i], &result);
    ck_assert_ptr_eq(result, &f);
  }
  tj_cache_stats stats = tj_cache_stats_of(f.cache);
  ck_assert_uint_eq(stats.memory_hits + stats.disk_hits + stats.kernel_hits + stats.misses, THREADS * COMPILATIONS);
  ck_assert_uint_eq(stats.damaged, 0);
  close_fixture(&f);
}

START_TEST(threads_share_a_cache) {
  make_folder();
  share_among_threads(&(tj_cache_options){.directory = folder});
  share_among_threads(&(tj_cache_options){.directory = folder, .memory_bytes = 300000, .disk_bytes = 48 * 1024});
  remove_folder();
}
END_TEST

/* --- memory --- */

typedef struct {
  long left;  /* allocations until one fails */
  long alive; /* blocks not yet released */
} stingy;

static void *allocate_sometimes(void *user, size_t size) {
  stingy *s = user;
  if (s->left-- == 0)
    return NULL;
  s->alive++;
  return malloc(size);
}

static void release_counted(void *user, void *block) {
  ((stingy *)user)->alive--;
  free(block);
}

/* Compiles where the n-th allocation fails; returns whether none did. */
static bool compile_with_failure(long n) {
  stingy s = {.left = n};
  tj_allocator allocator = {allocate_sometimes, release_counted, &s};
  tj_context *context = NULL;
  tj_cache *cache = NULL;
  tj_cache_options options = {.directory = folder};
  if (tj_context_create(&allocator, &context) == TJ_OK && tj_cache_create(&allocator, &options, &cache) == TJ_OK) {
    tj_context_set_cache(context, cache);
    for (int i = 0; i < 2; i++) {
      static const char text[] = "kernel k(dst: i32 @ (64):(1)) = offsets(dst, (64):(9))";
      int origin = compile_with(context, text, NULL, "gfx942", NULL, 0);
      ck_assert(origin >= 0 || tj_context_diagnostic(context)->code == 7001);
    }
  }
  tj_context_destroy(context);
  tj_cache_destroy(cache);
  ck_assert_int_eq(s.alive, 0);
  return s.left >= 0;
}

START_TEST(exhausted_memory_is_survived) {
  make_folder();
  bool is_enough = false;
  for (long n = 0; n < 400 && !is_enough; n++) {
    is_enough = compile_with_failure(n);
    if (n % 2 == 0)
      visit_files("", remove_file, NULL);
  }
  ck_assert(is_enough);
  remove_folder();
}
END_TEST

int main(void) {
  unsetenv("TILEJIT_CACHE");
  const TTest *tests[] = {
      each_level_serves_what_the_one_before_it_lacks,
      everything_that_makes_a_difference_is_in_the_key,
      programs_and_texts_share_what_is_known,
      failures_are_not_kept_and_are_reported_each_time,
      off_means_that_nothing_is_kept,
      the_environment_says_where,
      the_environment_says_how_much,
      imports_are_read_each_time,
      damaged_entries_are_compiled_again,
      entries_of_other_keys_are_not_used,
      folders_that_others_can_write_are_not_used,
      without_folder_or_room_nothing_is_kept,
      processes_share_a_folder,
      a_folder_that_cannot_be_written_is_read,
      full_disks_lose_entries_and_nothing_else,
      killed_processes_leave_whole_entries,
      memory_keeps_what_was_used_last,
      disk_keeps_what_was_used_last,
      clearing_leaves_strangers_alone,
      threads_share_a_cache,
      exhausted_memory_is_survived,
  };
  return run_suite(suite_of("cache", tests, sizeof tests / sizeof *tests));
}
