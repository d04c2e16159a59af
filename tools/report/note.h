/* SPDX-License-Identifier: MIT */
/* Notes of the library's diagnostics in the words of what shows them: the command, a page. */
#ifndef TJ_TOOLS_NOTE_H
#define TJ_TOOLS_NOTE_H

/* What is called `here` instead of the library's function `call`, in tables that end in NULL. */
typedef struct {
  const char *call, *here;
} note_word;

enum { NOTE_SIZE = 4096 };

/* The note, written to `buffer`; cut off where it is longer than any note is. */
const char *note_in_words(const char *note, const note_word words[], char buffer[NOTE_SIZE]);

#endif
