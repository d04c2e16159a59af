/* SPDX-License-Identifier: MIT */
/* Each allocation of the command fails in turn, in this process: it ends with the status of a system that failed and
 * says that there is no memory, or does what it always does. */
#include "tests/unit/support/allocation_sweep.h"
#include "tests/unit/support/folder_support.h"

#include <fcntl.h>
#include <jansson.h>

int tilejit_main(int count, char **words); /* tools/commands/main.c */

enum { MOST_WORDS = 18, MOST_OUTPUT = 1 << 20, NO_MEMORY_STATUS = 3 };

/* --- the corpus --- */

/* `output` is what it prints but for numbers, where those differ from run to run. */
typedef enum { SAME_OUTPUT, OTHER_NUMBERS, FEWER_LINES } output_kind;

typedef struct {
  const char *name;
  const char *words[MOST_WORDS]; /* in the test's folder */
  const char *input;             /* standard input; NULL: nothing */
  output_kind output;
} call;

static const char program[] = "param M in 1..8, N in 1..8\n"
                              "let A = (M,N):(1,M)\n"
                              "kernel k(s: f32 @ (M,N):(N,1), d: f32 @ A) = copy(s, d)\n"
                              "kernel other(d: i32 @ 4:1) = offsets(d, 4:1)\n";

static const call calls[] = {
    {"an expression", {"eval", "--json", "(4,4):(4,1) o 2:2"}, NULL, SAME_OUTPUT},
    {"a program from standard input",
     {"eval", "-f", "-", "--set", "M=3", "--set", "N=2"},
     "param M in 1..4, N in 1..4; (M,N):(N,1)",
     SAME_OUTPUT},
    {"lines",
     {"eval", "-", "--set", "M=3"},
     "param M in 1..4\n# a comment\nlet A = (M,2):(2,1)\nA(1,_)\nsize(A)\n",
     SAME_OUTPUT},
    {"lines as JSON", {"eval", "-", "--json"}, "4:1\n(4,2):(2,1)\n", SAME_OUTPUT},
    {"a table",
     {"eval", "--json", "--table", "p.tile", "-e", "A", "--set", "M=3", "--set", "N=2"},
     NULL,
     SAME_OUTPUT},
    {"a wrong expression", {"eval", "--json", "(5,3):(7,1) o 7:1"}, NULL, SAME_OUTPUT},
    {"a wrong expression as text", {"eval", "(5,3):(7,1) o 7:1"}, NULL, SAME_OUTPUT},
    {"an unknown function", {"help", "--json", "coalesc"}, NULL, SAME_OUTPUT},
    {"a simplification", {"simplify", "--json", "--prove", "param i in 0..9; (i*4)/2"}, NULL, SAME_OUTPUT},
    {"a proof", {"prove", "--json", "p.tile", "A", "(M,N):(1,M*1)"}, NULL, SAME_OUTPUT},
    {"a picture", {"show", "(4,2):(1,4)", "--as", "svg", "-o", "p.svg"}, NULL, SAME_OUTPUT},
    {"a picture as text of an object", {"show", "(4,2):(1,4)", "--as", "svg", "--json"}, NULL, SAME_OUTPUT},
    {"a picture of a tile", {"show", "((2,2),2):((1,4),2)", "--tile", "(2,4)"}, NULL, SAME_OUTPUT},
    {"a check",
     {"check", "--json", "-e", "(4,2):(1,4)", "--require", "injective", "--target", "gfx942"},
     NULL,
     SAME_OUTPUT},
    {"a check of a launch",
     {"check", "-e", "kernel k(x: f32 @ 4:1, a: f32, y: f32 @ 4:1) = { y = x * a }", "--arg", "a=0.5"},
     NULL,
     SAME_OUTPUT},
    {"a compilation",
     {"compile", "p.tile", "--kernel", "k", "--target", "gfx942", "--emit", "stats", "--json"},
     NULL,
     SAME_OUTPUT},
    {"a code object",
     {"compile", "p.tile", "--kernel", "k", "--target", "gfx942", "--emit", "hsaco", "-o", "k.hsaco", "--json"},
     NULL,
     SAME_OUTPUT},
    {"a function", {"compile", "-e", "(4,2):(1,4)", "--emit", "c", "--function", "f"}, NULL, SAME_OUTPUT},
    {"a disassembly", {"disasm", "k.hsaco", "--json"}, NULL, SAME_OUTPUT},
    {"a run",
     {"run", "p.tile", "--kernel", "k", "--arg", "M=3", "--set", "N=2", "--out", "d=d.npy", "--out", "s=s.npy"},
     NULL,
     SAME_OUTPUT},
    {"a launch",
     {"launch", "p.tile", "--kernel", "k", "--target", "gfx942", "--arg", "M=3", "--arg", "N=2", "--pointer",
      "s=4096", "--pointer", "d=8192", "--json"},
     NULL,
     OTHER_NUMBERS},
    {"a launch as text", {"launch", "p.tile", "--kernel", "other", "--target", "gfx942"}, NULL, OTHER_NUMBERS},
    {"a run of a text and a file",
     {"run", "p.tile", "-e", "let B = A", "--kernel", "other", "--json"},
     NULL,
     OTHER_NUMBERS},
    {"a run with arrays",
     {"run", "p.tile", "--kernel", "k", "--in", "s=s.npy", "--in", "d=d.npy", "--stats"},
     NULL,
     OTHER_NUMBERS},
    {"a run in Fortran order",
     {"run", "-e", "kernel k(s: f32 @ (3,2):(2,1), d: f32 @ (3,2):(2,1)) = copy(s, d)", "--in", "s=d.npy", "--out",
      "d=e.npy"},
     NULL,
     SAME_OUTPUT},
    {"a run on a simulated GPU",
     {"run", "p.tile", "--kernel", "other", "--device", "sim:gfx1100", "--stats"},
     NULL,
     OTHER_NUMBERS},
    {"devices", {"devices", "--json"}, NULL, SAME_OUTPUT},
    {"the cache", {"cache", "--json"}, NULL, SAME_OUTPUT},
    {"the cache emptied", {"cache", "clear"}, NULL, SAME_OUTPUT},
    {"versions", {"version", "--json"}, NULL, SAME_OUTPUT},
    {"help of everything", {"help", "--json"}, NULL, SAME_OUTPUT},
    {"help of a command", {"eval", "--help", "--json"}, NULL, SAME_OUTPUT},
    {"help of a function", {"help", "coalesce"}, NULL, SAME_OUTPUT},
    {"completed kernels", {"complete", "--", "run", "p.tile", "--kernel", ""}, NULL, FEWER_LINES},
    {"completed targets", {"complete", "--", "compile", "--target", "gfx9"}, NULL, FEWER_LINES},
    {"completed topics", {"complete", "--", "help", "co"}, NULL, FEWER_LINES},
};

enum { CALLS = sizeof calls / sizeof calls[0] };

/* --- one call, with its streams --- */

typedef struct {
  int status;
  char *output, *errors; /* static */
} result;

/* Puts an empty file of the test's folder, or one that holds `text`, in a descriptor's place. Returns the former. */
static int redirect(int descriptor, const char *name, const char *text) {
  int former = dup(descriptor), file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
    abort(); /* Check would allocate */
  lseek(file, 0, SEEK_SET);
  dup2(file, descriptor);
  close(file);
  return former;
}

static void restore(int descriptor, int former, char *text) {
  if (text != NULL) {
    ssize_t size = pread(descriptor, text, MOST_OUTPUT - 1, 0);
    text[size > 0 ? size : 0] = '\0';
  }
  dup2(former, descriptor);
  close(former);
}

static result run_call(const call *c) {
  static char output[MOST_OUTPUT], errors[MOST_OUTPUT];
  char *words[MOST_WORDS + 2] = {(char *)"tilejit"};
  int count = 1;
  for (; c->words[count - 1] != NULL; count++)
    words[count] = (char *)c->words[count - 1];
  fflush(stdout);
  int in = redirect(STDIN_FILENO, "stdin", c->input != NULL ? c->input : "");
  int out = redirect(STDOUT_FILENO, "stdout", ""), error = redirect(STDERR_FILENO, "stderr", "");
  rewind(stdin);
  int status = tilejit_main(count, words);
  fflush(stdout);
  restore(STDERR_FILENO, error, errors);
  restore(STDOUT_FILENO, out, output);
  restore(STDIN_FILENO, in, NULL);
  return (result){status, output, errors};
}

/* --- what it should do --- */

static result expected; /* of the call at hand, with nothing failing; output is malloc'd */

static void forget_numbers(char *text) {
  char *to = text;
  for (const char *at = text; *at != '\0'; at++) {
    bool is_digit = *at >= '0' && *at <= '9', is_first = to == text || to[-1] != '#';
    if (!is_digit || is_first)
      *to++ = is_digit ? '#' : *at;
  }
  *to = '\0';
}

/* Whether all lines of a text are lines of another. */
static bool has_lines(const char *all, char *text) {
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (strstr(all, line) == NULL)
      return false;
  }
  return true;
}

/* Candidates may be missing, without a word. */
static outcome judge_list(const result *found) {
  outcome o = {.is_done = strcmp(found->output, expected.output) == 0};
  if (found->status != 0 || found->errors[0] != '\0' || !has_lines(expected.output, found->output))
    snprintf(o.wrong, sizeof o.wrong, "status %d, '%.60s', '%.60s'", found->status, found->errors, found->output);
  return o;
}

static bool names_memory(const char *text) {
  return strstr(text, "TJ7001") != NULL || strstr(text, "TJ6010") != NULL;
}

/* Errors of lines stand among the output. */
static outcome judge(const result *found) {
  outcome o = {.is_done = found->status == expected.status,
               .digest = digest_of(0, found->output, strlen(found->output))};
  bool says_memory = names_memory(found->errors) || names_memory(found->output);
  if (!o.is_done && (found->status != NO_MEMORY_STATUS || !says_memory))
    snprintf(o.wrong, sizeof o.wrong, "status %d, '%.150s'", found->status, found->errors);
  return o;
}

static outcome use_command(const void *row) {
  const call *c = row;
  result found = run_call(c);
  if (c->output == OTHER_NUMBERS)
    forget_numbers(found.output);
  if (expected.output == NULL)
    expected = (result){found.status, strdup(found.output), NULL};
  return c->output == FEWER_LINES ? judge_list(&found) : judge(&found);
}

static void enter_folder(void) {
  make_folder();
  ck_assert_int_eq(chdir(folder), 0);
  setenv("TILEJIT_CACHE_DIRECTORY", folder, 1);
  setenv("TILEJIT_CACHE", "off", 1);
  FILE *file = fopen("p.tile", "w");
  ck_assert_ptr_nonnull(file);
  fputs(program, file);
  fclose(file);
}

START_TEST(each_allocation_of_a_call_fails_in_turn) {
  if (folder[0] == '\0')
    enter_folder();
  free(expected.output);
  expected.output = NULL;
  sweep(&(swept_work){calls[_i].name, use_command, &calls[_i], 100});
}
END_TEST

int main(void) {
  void *(*allocate)(size_t) = malloc;
  void (*give_back)(void *) = free;
  json_set_alloc_funcs(allocate, give_back);
  int failed = run_suite(suite_of_cases("command_allocations", each_allocation_of_a_call_fails_in_turn, CALLS));
  free(expected.output);
  if (folder[0] != '\0')
    remove_folder();
  return failed;
}
