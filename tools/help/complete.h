/* SPDX-License-Identifier: MIT */
/* What may stand at the end of a line that is being typed, for the completions of shells (completions/):
 *
 *     tilejit complete -- WORD…
 *
 * The words are those behind `tilejit`; the last one, which may be empty, is to be completed. Each candidate is a
 * line that begins with that word, and goes on with a tab and a description where there is one. The line ":files"
 * says that a path may stand there; in a word with a '=', behind the last one. */
#ifndef TILEJIT_TOOLS_COMPLETE_H
#define TILEJIT_TOOLS_COMPLETE_H

/* No row of commands.def: nobody types it. */
#define COMPLETE_COMMAND "complete"

/* Takes the words after `complete`. Returns the exit status. */
int complete_line(int count, char **words);

#endif
