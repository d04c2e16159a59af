/* SPDX-License-Identifier: MIT */
/* How long the command takes from start to end: whole processes, in turns with one that does nothing.
 *
 * usage: bench_start [ROUNDS [TILEJIT]]. Each round runs every row once. Uses a folder of its own below $TMPDIR or
 * /tmp, which it removes. Prints one JSON object: least and median microseconds, and how many times as long as `true`
 * the least is. jq, where it is installed, is another program that evaluates one expression. */
#include "timing.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_ROUNDS = 10000, MOST_WORDS = 12 };

static const char kernel[] = "param M in 1..4096, N in 1..4096\n"
                             "kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)\n";

typedef struct {
  const char *name;
  const char *words[MOST_WORDS];
  bool is_optional; /* left out where the program is not installed */
} row;

#define TILEJIT NULL /* in the place of the first word */

static const row rows[] = {
    {"true", {"true"}, false},
    {"jq", {"jq", "-n", "1"}, true},
    {"eval", {TILEJIT, "eval", "1"}, false},
    {"prove", {TILEJIT, "prove", "param M in 1..512, N in 1..512; (M,N):(1,M)", "(M*N):(1)"}, false},
    {"show", {TILEJIT, "show", "Sw<3,0,3> o 0 o (8,8):(8,1)", "--as", "svg"}, false},
    {"check", {TILEJIT, "check", "-e", "(4,2):(1,4)"}, false},
    {"run, cached", {TILEJIT, "run", "k.tile", "--device", "host", "--arg", "M=100", "--arg", "N=77"}, false},
    {"compile", {TILEJIT, "compile", "k.tile", "--target", "gfx942", "--emit", "hsaco", "-o", "k"}, false},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

static _Noreturn void stop(const char *why) {
  fprintf(stderr, "bench_start: %s\n", why);
  exit(3);
}

/* Microseconds of one process; negative where it does not start, or fails. */
static double run(const row *tested, const char *tilejit, const posix_spawn_file_actions_t *silent) {
  char *words[MOST_WORDS + 1] = {NULL};
  for (int i = 0; i < MOST_WORDS; i++)
    words[i] = (char *)(uintptr_t)(i == 0 && tested->words[0] == TILEJIT ? tilejit : tested->words[i]);
  double begin = now();
  pid_t process;
  int status;
  if (posix_spawnp(&process, words[0], silent, NULL, words, environ) != 0 || waitpid(process, &status, 0) != process)
    return -1;
  return status == 0 ? now() - begin : -1;
}

/* --- the folder --- */

static void make_folder(char folder[PATH_MAX]) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, PATH_MAX, "%s/bench_start_XXXXXX", base != NULL && *base != '\0' ? base : "/tmp");
  if (mkdtemp(folder) == NULL || chdir(folder) != 0)
    stop("no folder of its own");
  FILE *file = fopen("k.tile", "w");
  if (file == NULL || fputs(kernel, file) < 0 || fclose(file) != 0)
    stop("the kernel cannot be written");
  setenv("XDG_CACHE_HOME", folder, 1);
  unsetenv("TILEJIT_CACHE");
}

static void remove_folder(const char *folder) {
  char *words[] = {(char *)(uintptr_t) "rm", (char *)(uintptr_t) "-rf", (char *)(uintptr_t)folder, NULL};
  pid_t process;
  if (chdir("/") == 0 && posix_spawnp(&process, words[0], NULL, NULL, words, environ) == 0)
    waitpid(process, NULL, 0);
}

/* --- rounds --- */

static json_t *describe(double time[], int count, double nothing) {
  double middle = median(time, (size_t)count);
  return json_pack("{s:f, s:f, s:f}", "least_us", time[0], "median_us", middle, "times_true", time[0] / nothing);
}

static void measure(double *time[ROW_COUNT], int rounds, const char *tilejit) {
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (int r = 0; r < ROW_COUNT; r++)
    if (run(&rows[r], tilejit, &silent) < 0 && !rows[r].is_optional)
      stop(rows[r].name);
  for (int i = 0; i < rounds; i++)
    for (int r = 0; r < ROW_COUNT; r++)
      time[r][i] = run(&rows[r], tilejit, &silent);
  posix_spawn_file_actions_destroy(&silent);
}

int main(int count, char **argument) {
  int rounds = count > 1 ? atoi(argument[1]) : 100;
  if (rounds < 1 || rounds > MOST_ROUNDS)
    stop("usage: bench_start [ROUNDS [TILEJIT]]");
  char folder[PATH_MAX], *tilejit = realpath(count > 2 ? argument[2] : TILEJIT_COMMAND, NULL);
  if (tilejit == NULL)
    stop("the command is not there");
  double *time[ROW_COUNT];
  for (int r = 0; r < ROW_COUNT; r++)
    if ((time[r] = calloc((size_t)rounds, sizeof(double))) == NULL)
      stop("out of memory");
  make_folder(folder);
  measure(time, rounds, tilejit);
  remove_folder(folder);
  qsort(time[0], (size_t)rounds, sizeof time[0][0], compare_times);
  const double nothing = time[0][0];
  json_t *report = json_object();
  for (int r = 0; r < ROW_COUNT; r++) {
    if (time[r][0] >= 0)
      json_object_set_new(report, rows[r].name, describe(time[r], rounds, nothing));
  }
  json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
  putchar('\n');
  json_decref(report);
  for (int r = 0; r < ROW_COUNT; r++)
    free(time[r]);
  free(tilejit);
  return 0;
}
