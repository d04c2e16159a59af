/* SPDX-License-Identifier: MIT */
/* Running programs: files in memory as their standard streams, one child, and a clock. */
#include "jit/tool/tool.h"

#include "base/file.h"
#include "base/guard.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 60, MOST_WORDS = 16, MOST_OUTPUT_BYTES = 64 << 20, MOST_LINE_BYTES = 300 };

static const struct {
  const char *name, *variable, *purpose;
} tools[] = {
#define TOOL(constant, name, variable, purpose) {name, variable, purpose},
#include "jit/tool/tool.def"
};

/* --- where they are --- */

static bool is_program(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Of a folder of PATH, where an empty one means the current one, which nobody is to run programs from. */
static const char *in_folder(tj_job *job, const char *folder, size_t length, const char *name) {
  const char *path = tj_string_format(job, "%.*s/%s", (int)length, folder, name);
  return length > 0 && is_program(path) ? path : NULL;
}

const char *tj_tool_path(tj_job *job, tj_tool tool) {
  const char *chosen = secure_getenv(tools[tool].variable), *folders = secure_getenv("PATH"), *path = NULL;
  if (chosen != NULL && *chosen != '\0')
    return is_program(chosen) ? tj_string_copy(job, chosen, strlen(chosen)) : NULL;
  for (const char *at = folders; at != NULL && path == NULL; at = *at == ':' ? at + 1 : NULL) {
    size_t length = strcspn(at, ":");
    path = in_folder(job, at, length, tools[tool].name);
    at += length;
  }
  return path;
}

static const char *need_path(tj_job *job, tj_tool tool) {
  const char *path = tj_tool_path(job, tool), *chosen = secure_getenv(tools[tool].variable);
  if (path != NULL)
    return path;
  tj_note(job, "install the CUDA toolkit, or name the program with %s", tools[tool].variable);
  if (chosen != NULL && *chosen != '\0')
    tj_fail_system(job, TJ_TOOL_MISSING, "%s makes %s, and %s names no program: %.200s", tools[tool].name,
                   tools[tool].purpose, tools[tool].variable, chosen);
  tj_fail_system(job, TJ_TOOL_MISSING, "%s makes %s, and it is not in PATH", tools[tool].name, tools[tool].purpose);
}

/* --- a run --- */

enum { INPUT, OUTPUT, MESSAGES, STREAMS };

typedef struct {
  const tj_tool_run *run;
  const char *path;
  int stream[STREAMS]; /* files in memory; -1: not open */
  pid_t child;         /* 0: none to be waited for */
  int status;          /* as waitpid tells it */
  tj_bytes output;
} process;

static _Noreturn void fail_to(tj_job *job, const process *p, const char *what) {
  tj_fail_system(job, TJ_TOOL, "%s %s: %s", tools[p->run->tool].name, what, strerror(errno));
}

/* Beyond the standard streams' numbers, which may be free: each becomes one of them in the child. */
static int open_memory(void) {
  int file = memfd_create("tilejit", MFD_CLOEXEC);
  if (file < 0 || file > STDERR_FILENO)
    return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return moved;
}

static void open_streams(tj_job *job, process *p) {
  for (int i = 0; i < STREAMS; i++) {
    p->stream[i] = open_memory();
    if (p->stream[i] < 0)
      fail_to(job, p, "has no streams");
  }
  if (!tj_file_write(p->stream[INPUT], p->run->input) || lseek(p->stream[INPUT], 0, SEEK_SET) != 0)
    fail_to(job, p, "cannot be given its input");
}

static int spawn(process *p, char *const words[]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  if (posix_spawn_file_actions_init(&actions) != 0)
    return ENOMEM;
  int error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    for (int i = 0; i < STREAMS && error == 0; i++)
      error = posix_spawn_file_actions_adddup2(&actions, p->stream[i], i);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (error == 0)
      error = posix_spawn(&p->child, p->path, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static void start(tj_job *job, process *p) {
  const char *words[MOST_WORDS + 1] = {tools[p->run->tool].name};
  for (size_t i = 0; i + 1 < MOST_WORDS && p->run->words[i] != NULL; i++)
    words[i + 1] = p->run->words[i];
  errno = spawn(p, (char *const *)words);
  if (errno == 0)
    return;
  p->child = 0;
  fail_to(job, p, "cannot be run");
}

/* Whether the child has ended. */
static bool look(process *p) {
  pid_t ended = waitpid(p->child, &p->status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR))
    return false;
  if (ended < 0)
    p->status = -1;
  p->child = 0;
  return true;
}

static void wait_for(tj_job *job, process *p) {
  enum { LEAST_PAUSE = 200 * 1000, MOST_PAUSE = 20 * 1000 * 1000, SECOND = 1000 * 1000 * 1000 };
  uint64_t limit = (p->run->seconds != 0 ? p->run->seconds : DEFAULT_SECONDS) * (uint64_t)SECOND, waited = 0;
  for (long pause = LEAST_PAUSE; !look(p); pause = pause < MOST_PAUSE / 2 ? 2 * pause : MOST_PAUSE) {
    if (waited > limit)
      tj_fail_system(job, TJ_TOOL, "%s takes too long: over %u seconds", tools[p->run->tool].name,
                     (unsigned)(limit / SECOND));
    if (!tj_tell(&job->listener, tools[p->run->tool].name, 0, 0))
      tj_fail_cancelled(job);
    nanosleep(&(struct timespec){0, pause}, NULL);
    waited += (uint64_t)pause;
  }
}

/* All that a stream holds; `most` bytes at most, where it may be cut. */
static tj_bytes content_of(tj_job *job, const process *p, int stream, size_t most, bool may_be_cut) {
  struct stat status;
  if (fstat(p->stream[stream], &status) != 0 || lseek(p->stream[stream], 0, SEEK_SET) != 0)
    fail_to(job, p, "has no output");
  if ((uint64_t)status.st_size > most && !may_be_cut)
    tj_fail_system(job, TJ_TOOL, "%s writes more than %zu bytes", tools[p->run->tool].name, most);
  size_t size = (uint64_t)status.st_size > most ? most : (size_t)status.st_size;
  char *bytes = TJ_NEW_ARRAY(job, char, size + 1);
  if (!tj_file_read(p->stream[stream], bytes, size))
    fail_to(job, p, "has no output");
  bytes[size] = '\0';
  return (tj_bytes){bytes, size};
}

/* The first line of what it says that tells anything. */
static const char *words_of(tj_job *job, const process *p) {
  const char *text = content_of(job, p, MESSAGES, MOST_LINE_BYTES, true).data;
  text += strspn(text, " \t\r\n");
  return *text == '\0' ? "" : tj_string_format(job, ": %.*s", (int)strcspn(text, "\r\n"), text);
}

static void judge(tj_job *job, const process *p) {
  const char *name = tools[p->run->tool].name;
  if (p->status == -1)
    tj_fail_system(job, TJ_TOOL, "how %s has ended is not known, since this process ignores SIGCHLD", name);
  if (WIFSIGNALED(p->status))
    tj_fail_system(job, TJ_TOOL, "%s was ended by signal %d%s", name, WTERMSIG(p->status), words_of(job, p));
  if (WEXITSTATUS(p->status) != 0)
    tj_fail_system(job, TJ_TOOL, "%s fails with status %d%s", name, WEXITSTATUS(p->status), words_of(job, p));
}

static void run_through(tj_job *job, void *data) {
  process *p = data;
  open_streams(job, p);
  start(job, p);
  wait_for(job, p);
  judge(job, p);
  p->output = content_of(job, p, OUTPUT, MOST_OUTPUT_BYTES, false);
}

static void release(void *data) {
  process *p = data;
  if (p->child != 0) {
    kill(-p->child, SIGKILL);
    while (waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
      continue;
  }
  for (int i = 0; i < STREAMS; i++)
    if (p->stream[i] >= 0)
      close(p->stream[i]);
}

tj_bytes tj_tool_output(tj_job *job, const tj_tool_run *run) {
  process p = {.run = run, .path = need_path(job, run->tool), .stream = {-1, -1, -1}};
  tj_guard(job, run_through, release, &p);
  return p.output;
}
