/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on the files named on the command line, and on every file of the folders named there, so that
 * corpora are ordinary tests. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs the target on one file; false when it cannot be read. */
static int replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return 0;
  size_t size = 0, capacity = 1 << 16;
  uint8_t *data = malloc(capacity);
  size_t got;
  while (data != NULL && (got = fread(data + size, 1, capacity - size, file)) != 0) {
    size += got;
    if (size == capacity)
      data = realloc(data, capacity *= 2);
  }
  fclose(file);
  if (data == NULL)
    return 0;
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  return 1;
}

/* Runs the target on every file of a folder; the number of files, or -1 when one cannot be read. */
static int replay_folder(const char *folder, DIR *entries) {
  int count = 0;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] == '.')
      continue;
    if (!replay_file(path))
      return -1;
    count++;
  }
  return count;
}

int main(int argc, char **argv) {
  int total = 0;
  for (int i = 1; i < argc; i++) {
    DIR *entries = opendir(argv[i]);
    int count = entries != NULL ? replay_folder(argv[i], entries) : replay_file(argv[i]) ? 1 : -1;
    if (entries != NULL)
      closedir(entries);
    if (count < 0) {
      fprintf(stderr, "cannot read %s\n", argv[i]);
      return EXIT_FAILURE;
    }
    total += count;
  }
  printf("%d inputs\n", total);
  return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
