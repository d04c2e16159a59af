/* SPDX-License-Identifier: MIT */
/* Build IDs, of ELF notes. */
#include "base/build_id.h"

#include "base/bytes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_BUILD_ID = 3, LONGEST = 20, HEAD_SIZE = 4096, NOTES_SIZE = 1024 };

/* The build ID among the notes of a segment. Names and descriptions are padded to 4 bytes. */
static tj_bytes find_build_id(tj_bytes notes) {
  for (size_t at = 0; tj_bytes_contain(notes, at, 12);) {
    uint64_t name_size = tj_bytes_u32(notes, at), size = tj_bytes_u32(notes, at + 4);
    uint64_t name = at + 12, description = name + (name_size + 3) / 4 * 4;
    if (!tj_bytes_contain(notes, description, size))
      break;
    bool is_build_id = tj_bytes_u32(notes, at + 8) == NOTE_BUILD_ID && name_size == 4 &&
                       tj_bytes_are(tj_bytes_slice(notes, name, 3), "GNU");
    if (is_build_id)
      return tj_bytes_slice(notes, description, size < LONGEST ? size : LONGEST);
    at = (size_t)(description + (size + 3) / 4 * 4);
  }
  return (tj_bytes){NULL, 0};
}

/* Whether these notes have one, which is written. */
static bool write_build_id(tj_bytes notes, char text[TJ_BUILD_ID_SIZE]) {
  tj_bytes id = find_build_id(notes);
  for (size_t i = 0; i < id.size; i++)
    snprintf(text + 2 * i, 3, "%02x", tj_bytes_u8(id, i));
  return id.size != 0;
}

/* --- files --- */

static bool write_of_segment(int file, const ElfW(Phdr) * segment, char text[TJ_BUILD_ID_SIZE]) {
  unsigned char notes[NOTES_SIZE];
  if (segment->p_type != PT_NOTE || segment->p_filesz > sizeof notes)
    return false;
  ssize_t size = pread(file, notes, segment->p_filesz, (off_t)segment->p_offset);
  return size > 0 && write_build_id((tj_bytes){notes, (size_t)size}, text);
}

static bool write_of_elf(int file, char text[TJ_BUILD_ID_SIZE]) {
  unsigned char head[HEAD_SIZE];
  ElfW(Ehdr) header;
  ssize_t size = pread(file, head, sizeof head, 0);
  if (size < (ssize_t)sizeof header || memcmp(head, ELFMAG, SELFMAG) != 0)
    return false;
  memcpy(&header, head, sizeof header);
  tj_bytes bytes = {head, (size_t)size};
  for (unsigned i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    uint64_t at = header.e_phoff + (uint64_t)i * sizeof segment;
    if (header.e_phoff > HEAD_SIZE || !tj_bytes_contain(bytes, at, sizeof segment))
      return false;
    memcpy(&segment, head + at, sizeof segment);
    if (write_of_segment(file, &segment, text))
      return true;
  }
  return false;
}

static void write_size_and_time(int file, char text[TJ_BUILD_ID_SIZE]) {
  struct stat is;
  if (fstat(file, &is) == 0)
    snprintf(text, TJ_BUILD_ID_SIZE, "%" PRIdMAX "-%" PRIdMAX ".%09ld", (intmax_t)is.st_size,
             (intmax_t)is.st_mtim.tv_sec, is.st_mtim.tv_nsec);
}

void tj_build_id_of_file(const char *path, char text[TJ_BUILD_ID_SIZE]) {
  text[0] = '\0';
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  if (!write_of_elf(file, text))
    write_size_and_time(file, text);
  close(file);
}

/* --- what has been loaded --- */

typedef struct {
  uintptr_t place;
  char *text;
} search;

static bool contains(const struct dl_phdr_info *object, uintptr_t place) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && place >= begin && place - begin < segment->p_memsz)
      return true;
  }
  return false;
}

static int look_into(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  const search *s = data;
  if (!contains(object, s->place))
    return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    const void *notes = (const void *)(object->dlpi_addr + segment->p_vaddr);
    if (segment->p_type == PT_NOTE && write_build_id((tj_bytes){notes, segment->p_memsz}, s->text))
      break;
  }
  return 1;
}

void tj_build_id_of_place(const void *place, char text[TJ_BUILD_ID_SIZE]) {
  Dl_info info;
  text[0] = '\0';
  dl_iterate_phdr(look_into, &(search){(uintptr_t)place, text});
  if (text[0] == '\0' && dladdr(place, &info) != 0 && info.dli_fname != NULL)
    tj_build_id_of_file(info.dli_fname, text);
}
