/* SPDX-License-Identifier: MIT */
/* Programs of others, with the shell in their place: what they are given, what comes back, and every way in which
 * they can fail; nothing of them stays. */
#include "jit/tool/tool.h"
#include "tests/unit/support/harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SHELL "/bin/sh"

typedef struct {
  const char *script, *input;
  uint32_t seconds;
  tj_bytes output;
} run;

static void body(tj_job *job, void *data) {
  run *r = data;
  const char *const words[] = {"-c", r->script, NULL};
  r->output = tj_tool_output(
      job, &(tj_tool_run){
               .tool = TJ_TOOL_PTXAS, .words = words, .input = {r->input, strlen(r->input)}, .seconds = r->seconds});
}

static int open_files(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (readdir(folder) != NULL)
    count++;
  closedir(folder);
  return count;
}

START_TEST(what_programs_write_comes_back) {
  static const struct {
    const char *script, *input, *output;
  } rows[] = {
      {"cat", "some text", "some text"},
      {"cat " TJ_TOOL_INPUT " > " TJ_TOOL_OUTPUT, "by name", "by name"},
      {"cat > /dev/null", "unread", ""},
      {"echo 'a warning' >&2; echo done", "", "done\n"},
      {"trap '' PIPE; kill -PIPE $$; echo alive", "", "alive\n"},
  };
  setenv("TILEJIT_PTXAS", SHELL, 1);
  int files = open_files();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    run r = {rows[i].script, rows[i].input, 0, {0}};
    tj_job job;
    tj_job_init(&job, NULL);
    ck_assert_msg(tj_job_run(&job, body, &r) == TJ_OK, "%s", job.problem.message);
    ck_assert_str_eq(r.output.data, rows[i].output);
    ck_assert_uint_eq(r.output.size, strlen(rows[i].output));
    tj_job_destroy(&job);
  }
  ck_assert_int_eq(open_files(), files);
}
END_TEST

START_TEST(failures_are_told) {
  static const struct {
    const char *program, *script;
    uint32_t seconds;
    tj_problem_code code;
    const char *message;
  } rows[] = {
      {SHELL, "exit 3", 0, TJ_TOOL, "ptxas fails with status 3"},
      {SHELL, "printf '\\n  it is wrong\\nreally\\n' >&2; exit 1", 0, TJ_TOOL,
       "ptxas fails with status 1: it is wrong"},
      {SHELL, "kill -9 $$", 0, TJ_TOOL, "ptxas was ended by signal 9"},
      {SHELL, "sleep 30 & sleep 30", 1, TJ_TOOL, "ptxas takes too long: over 1 seconds"},
      {"/nowhere/ptxas", "", 0, TJ_TOOL_MISSING, "TILEJIT_PTXAS names no program: /nowhere/ptxas"},
      {"/tmp", "", 0, TJ_TOOL_MISSING, "TILEJIT_PTXAS names no program: /tmp"},
  };
  int files = open_files();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("TILEJIT_PTXAS", rows[i].program, 1);
    run r = {rows[i].script, "", rows[i].seconds, {0}};
    tj_job job;
    tj_job_init(&job, NULL);
    ck_assert_int_eq(tj_job_run(&job, body, &r), TJ_ERROR_SYSTEM);
    ck_assert_msg(job.problem.code == rows[i].code && strstr(job.problem.message, rows[i].message) != NULL, "%s: %s",
                  rows[i].script, job.problem.message);
    tj_job_destroy(&job);
  }
  ck_assert_int_eq(open_files(), files);
}
END_TEST

START_TEST(programs_are_found_in_the_path) {
  static const struct {
    const char *path;
    bool is_found;
  } rows[] = {{"/nowhere:/bin", true}, {"/bin", true}, {"", false}, {"/nowhere", false}, {":", false}};
  char folder[] = "/tmp/tilejit-tool-XXXXXX", file[64];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/ptxas", folder);
  ck_assert_int_eq(symlink(SHELL, file), 0);
  setenv("TILEJIT_PTXAS", "", 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s%s%s", rows[i].path, rows[i].is_found ? ":" : "", rows[i].is_found ? folder : "");
    setenv("PATH", path, 1);
    tj_job job;
    tj_job_init(&job, NULL);
    const char *found = tj_tool_path(&job, TJ_TOOL_PTXAS);
    ck_assert_msg((found != NULL) == rows[i].is_found, "%s", path);
    if (found != NULL)
      ck_assert_str_eq(found, file);
    tj_job_destroy(&job);
  }
  unlink(file);
  rmdir(folder);
}
END_TEST

static int refuse(void *user, const tj_progress *progress) {
  (void)user;
  return strcmp(progress->what, "ptxas") == 0;
}

START_TEST(runs_can_be_cancelled) {
  run r = {"sleep 30", "", 0, {0}};
  tj_job job;
  setenv("TILEJIT_PTXAS", SHELL, 1);
  setenv("PATH", "/bin:/usr/bin", 1);
  tj_job_init(&job, NULL);
  job.listener = (tj_listener){refuse, NULL};
  ck_assert_int_eq(tj_job_run(&job, body, &r), TJ_ERROR_CANCELLED);
  tj_job_destroy(&job);
}
END_TEST

/* A process may have no standard streams, and its signals may be ignored. */
START_TEST(the_process_may_be_bare) {
  run r = {"cat; echo more >&2", "text", 0, {0}};
  tj_job job;
  setenv("TILEJIT_PTXAS", SHELL, 1);
  tj_job_init(&job, NULL);
  int in = dup(0), out = dup(1);
  close(0);
  close(1);
  signal(SIGPIPE, SIG_IGN);
  tj_status status = tj_job_run(&job, body, &r);
  dup2(in, 0);
  dup2(out, 1);
  close(in);
  close(out);
  ck_assert_int_eq(status, TJ_OK);
  ck_assert_str_eq(r.output.data, "text");
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      what_programs_write_comes_back, failures_are_told,       programs_are_found_in_the_path,
      runs_can_be_cancelled,          the_process_may_be_bare,
  };
  return run_suite(suite_of("tool", tests, sizeof tests / sizeof *tests));
}
