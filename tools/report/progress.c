/* SPDX-License-Identifier: MIT */
/* The line of progress, and the signal. */
#include "tools/report/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MILLISECONDS = 1000, EVERY_MILLISECONDS = 100 };

static volatile sig_atomic_t interrupted;

static struct {
  bool has_terminal, is_shown;
  uint64_t begin, next; /* milliseconds */
} line;

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

bool is_interrupted(void) {
  return interrupted != 0;
}

static uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void show(const tj_progress *progress, uint64_t now) {
  uint64_t seconds = (now - line.begin) / 1000;
  if (progress->total > 0)
    fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " (%u%%), %" PRIu64 " s\033[K", progress->what, progress->done,
            progress->total, (unsigned)((double)progress->done * 100 / (double)progress->total), seconds);
  else
    fprintf(stderr, "\r%s, %" PRIu64 " s\033[K", progress->what, seconds);
  fflush(stderr);
  line.is_shown = true;
  line.next = now + EVERY_MILLISECONDS;
}

static int follow(void *user, const tj_progress *progress) {
  (void)user;
  uint64_t now = milliseconds();
  if (line.has_terminal && now >= line.next)
    show(progress, now);
  return is_interrupted();
}

void watch_progress(tj_context *context) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  line.begin = milliseconds();
  line.next = line.begin + FIRST_MILLISECONDS;
  line.has_terminal = isatty(STDERR_FILENO);
  tj_context_set_progress(context, follow, NULL);
}

void clear_progress(void) {
  if (line.is_shown)
    fputs("\r\033[K", stderr);
  line.is_shown = false;
}
