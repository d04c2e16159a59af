/* SPDX-License-Identifier: MIT */
/* Finding and reading the files that programs import. */
#include "tools/input/import.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- paths --- */

static const char suffix[] = ".tile";

static bool is_library(const char *path) {
  size_t length = strlen(path);
  return length < sizeof suffix || strcmp(path + length - (sizeof suffix - 1), suffix) != 0;
}

/* The bytes before the last '/', with it; 0 where there is none. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Takes out of a path what leads nowhere: "./", and "x/../". */
static void normalise(char *path) {
  char *to = path + (*path == '/'), *const begin = to;
  for (const char *from = to; *from != '\0';) {
    size_t length = strcspn(from, "/");
    const char *next = from + length + (from[length] == '/');
    bool is_up = length == 2 && memcmp(from, "..", 2) == 0;
    char *last = to;
    while (is_up && last > begin && (last == to || last[-1] != '/'))
      last--;
    bool goes_back = is_up && last < to && strncmp(last, "../", 3) != 0;
    bool is_nothing = length == 0 || (length == 1 && *from == '.');
    if (goes_back)
      to = last;
    else if (!is_nothing) {
      memmove(to, from, (size_t)(next - from));
      to += next - from;
    }
    from = next;
  }
  *to = '\0';
}

/* folder/name.tile, or the path that stands in the folder; malloc'd. */
static char *path_in(const char *folder, size_t length, const char *name, const char *ending) {
  char *path = NULL;
  const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
  if (*name == '/')
    length = 0;
  return asprintf(&path, "%.*s%s%s%s", (int)length, folder, length > 0 ? slash : "", name, ending) < 0 ? NULL : path;
}

/* --- reading --- */

enum { MOST_BYTES = 16 * 1024 * 1024 + 1 };

/* A whole file, malloc'd; NULL with errno set. Of longer ones the beginning, which the library refuses. */
static char *read_whole(const char *path, size_t *size) {
  FILE *in = fopen(path, "rb");
  if (in == NULL)
    return NULL;
  char *data = NULL;
  size_t capacity = 0, got = 1;
  *size = 0;
  while (got > 0 && *size < MOST_BYTES) {
    if (*size == capacity) {
      capacity = capacity * 2 + 64 * 1024;
      char *larger = realloc(data, capacity);
      if (larger == NULL)
        break;
      data = larger;
    }
    got = fread(data + *size, 1, capacity - *size, in);
    *size += got;
  }
  bool failed = ferror(in) != 0 || (got > 0 && *size < MOST_BYTES);
  int error = errno;
  fclose(in);
  if (!failed)
    return data;
  free(data);
  errno = error;
  return NULL;
}

/* Gives the file at a path, which is malloc'd and released. False, with errno set, where it cannot be read. */
static bool give_file(char *path, tj_import *import, tj_status *status) {
  size_t size;
  char *text = path != NULL ? read_whole(path, &size) : NULL;
  if (text != NULL) {
    normalise(path);
    *status = tj_import_give(import, path, text, size);
  }
  free(text);
  free(path);
  return text != NULL;
}

/* --- libraries --- */

/* Calls give_file for the library in each folder of a list, until one has it. */
static bool give_from_folders(const char *folders, const char *name, tj_import *import, tj_status *status) {
  while (folders != NULL && *folders != '\0') {
    size_t length = strcspn(folders, ":");
    if (length > 0 && give_file(path_in(folders, length, name, suffix), import, status))
      return true;
    folders += length + (folders[length] == ':');
  }
  return false;
}

/* The folder of what is installed beside the command. */
static bool give_installed(const char *name, tj_import *import, tj_status *status) {
  char command[PATH_MAX], *folder = NULL;
  ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
  if (length <= 0)
    return false;
  command[length] = '\0';
  if (asprintf(&folder, "%.*s../share/tilejit", (int)folder_length(command), command) < 0)
    return false;
  bool given = give_file(path_in(folder, strlen(folder), name, suffix), import, status);
  free(folder);
  return given;
}

static tj_status read_import(void *user, const char *importer, const char *path, tj_import *import) {
  const char *program = user;
  tj_status status = TJ_OK;
  if (program != NULL && strcmp(importer, TJ_DECLARATIONS_NAME) == 0)
    importer = program;
  errno = ENOENT;
  bool given = is_library(path) ? give_from_folders(getenv("TILEJIT_PATH"), path, import, &status) ||
                                      give_installed(path, import, &status)
                                : give_file(path_in(importer, folder_length(importer), path, ""), import, &status);
  return given ? status : tj_import_refuse(import, strerror(errno));
}

void import_files(tj_context *context, const char *program) {
  tj_context_set_reader(context, read_import, (void *)program);
}
