/* SPDX-License-Identifier: MIT */
/* Linking: the memory file that LLD reads, the pipe that it writes, and the result in the arena.
 *
 * LLD takes file names only, so both ends are named through /proc/self/fd. The input is a memory file. The output is
 * a pipe and not a second memory file, because LLD replaces a regular output file by way of a temporary file beside
 * it, and writes to anything else directly. A thread empties the pipe into a memory file, so that no output is too
 * large for it; it stops when it is told that the link is over, not at the pipe's end, which a concurrent fork() of
 * the process could hold open. lld.h has the linker itself. */
#include "jit/compile/link.h"

#include "base/guard.h"
#include "jit/compile/lld.h"
#include "object/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_CAPACITY = 32, MESSAGE_CAPACITY = 2048, PIPE_BLOCK = 16 * 1024 };

/* The descriptors of one link; -1: not open. */
typedef struct {
  tj_bytes object;
  tj_bytes linked;
  int input;
  int output_reader, output_writer;
  int finished; /* an event: the link is over */
  int output;   /* what came through the pipe */
  int drain_error;
} link_files;

static void close_one(int descriptor) {
  if (descriptor >= 0)
    close(descriptor);
}

static void close_files(void *data) {
  link_files *files = data;
  close_one(files->input);
  close_one(files->output_reader);
  close_one(files->output_writer);
  close_one(files->finished);
  close_one(files->output);
}

static bool write_all(int descriptor, const char *data, size_t size) {
  while (size != 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno != EINTR)
      return false;
    if (written > 0) {
      data += written;
      size -= (size_t)written;
    }
  }
  return true;
}

static _Noreturn void fail_with_errno(tj_job *job, const char *what) {
  tj_fail_system(job, TJ_LINK, "%s: %s", what, strerror(errno));
}

static int memory_file(tj_job *job, const char *name) {
  int descriptor = memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0)
    fail_with_errno(job, "cannot create a memory file for the linker");
  return descriptor;
}

static void open_files(tj_job *job, link_files *files) {
  int ends[2];
  files->input = memory_file(job, "tilejit-object");
  files->output = memory_file(job, "tilejit-linked");
  files->finished = eventfd(0, EFD_CLOEXEC);
  if (files->finished < 0 || pipe2(ends, O_CLOEXEC) != 0)
    fail_with_errno(job, "cannot create a pipe for the linker");
  files->output_reader = ends[0];
  files->output_writer = ends[1];
  if (!write_all(files->input, files->object.data, files->object.size))
    fail_with_errno(job, "cannot write the linker's input");
}

/* Moves what is in the pipe to the output file, when there is something. */
static bool drain_block(link_files *files) {
  char block[PIPE_BLOCK];
  ssize_t size = read(files->output_reader, block, sizeof block);
  if (size < 0)
    return errno == EINTR;
  return write_all(files->output, block, (size_t)size);
}

/* Whether the pipe has bytes; waits for them until the link is over. */
static bool wait_for_output(const link_files *files) {
  struct pollfd events[] = {{.fd = files->output_reader, .events = POLLIN},
                            {.fd = files->finished, .events = POLLIN}};
  while (poll(events, 2, -1) < 0 && errno == EINTR)
    continue;
  return (events[0].revents & POLLIN) != 0;
}

static void *drain_output(void *data) {
  link_files *files = data;
  while (wait_for_output(files))
    if (!drain_block(files) && files->drain_error == 0)
      files->drain_error = errno;
  return NULL;
}

/* Starts the draining thread with every signal blocked: signals belong to the program's own threads. */
static int start_draining(pthread_t *thread, link_files *files) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(thread, NULL, drain_output, files);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static void finish_draining(pthread_t thread, const link_files *files) {
  const uint64_t one = 1;
  write_all(files->finished, (const char *)&one, sizeof one);
  pthread_join(thread, NULL);
}

static const char *first_line_of_error(char *message) {
  const char *error = strstr(message, "error: ");
  const char *start = error != NULL ? error + strlen("error: ") : message;
  message[(size_t)(start - message) + strcspn(start, "\n")] = '\0';
  return *start != '\0' ? start : "the linker gave no reason";
}

static void link_files_with_lld(tj_job *job, link_files *files) {
  char input[NAME_CAPACITY], output[NAME_CAPACITY], message[MESSAGE_CAPACITY];
  snprintf(input, sizeof input, "/proc/self/fd/%d", files->input);
  snprintf(output, sizeof output, "/proc/self/fd/%d", files->output_writer);
  const char *const arguments[] = {
      "ld.lld", "-shared", "--no-undefined", "--discard-all", "--no-dependent-libraries", "--threads=1", "-o",
      output,   input};
  pthread_t thread;
  errno = start_draining(&thread, files);
  if (errno != 0)
    fail_with_errno(job, "cannot start a thread for the linker's output");
  bool linked = tj_lld_link(arguments, sizeof arguments / sizeof *arguments, message, sizeof message);
  finish_draining(thread, files);
  if (!linked)
    tj_fail(job, TJ_LINK, "%s", first_line_of_error(message));
  errno = files->drain_error;
  if (errno != 0)
    fail_with_errno(job, "cannot read the linker's output");
}

static tj_bytes read_output(tj_job *job, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    fail_with_errno(job, "cannot read the linker's output");
  size_t size = (size_t)status.st_size;
  char *data = TJ_NEW_ARRAY(job, char, size + 1);
  for (size_t done = 0; done < size;) {
    ssize_t got = pread(descriptor, data + done, size - done, (off_t)done);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      fail_with_errno(job, "cannot read the linker's output");
    done += got > 0 ? (size_t)got : 0;
  }
  return (tj_bytes){data, size};
}

static void link_object(tj_job *job, void *data) {
  link_files *files = data;
  open_files(job, files);
  link_files_with_lld(job, files);
  files->linked = read_output(job, files->output);
}

/* LLD trusts its input, and takes text for a linker script and bitcode for link-time optimisation: only whole ELF
 * relocatables for AMDGPU get through. */
static void check_object(tj_job *job, tj_bytes object) {
  const tj_elf *elf = tj_elf_read(job, object, TJ_LINK);
  if (elf->machine != TJ_ELF_MACHINE_AMDGPU || elf->type != TJ_ELF_RELOCATABLE)
    tj_fail(job, TJ_LINK, "the object is not an AMDGPU relocatable");
}

tj_bytes tj_link(tj_job *job, tj_bytes object) {
  check_object(job, object);
  link_files files = {
      .object = object, .input = -1, .output_reader = -1, .output_writer = -1, .finished = -1, .output = -1};
  tj_guard(job, link_object, close_files, &files);
  return files.linked;
}
