/* SPDX-License-Identifier: MIT */
/* Functions of the library in notes become what is done in their place. */
#include "tools/report/note.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const note_word *word_at(const char *text, const note_word words[]) {
  const note_word *word = words;
  while (word->call != NULL && strncmp(text, word->call, strlen(word->call)) != 0)
    word++;
  return word->call != NULL ? word : NULL;
}

const char *note_in_words(const char *note, const note_word words[], char buffer[NOTE_SIZE]) {
  size_t used = 0;
  while (*note != '\0' && used + 1 < NOTE_SIZE) {
    const note_word *word = word_at(note, words);
    if (word == NULL) {
      buffer[used++] = *note++;
      continue;
    }
    size_t written = (size_t)snprintf(buffer + used, NOTE_SIZE - used, "%s", word->here);
    used = used + written < NOTE_SIZE ? used + written : NOTE_SIZE - 1;
    note += strlen(word->call);
  }
  buffer[used] = '\0';
  return buffer;
}
