/* SPDX-License-Identifier: MIT */
/* The library as a page asks it: options that are set by name, answers by name, on the public header alone.
 *
 *     engine_set("program", "(4,8):(8,1)");
 *     engine_ask("value") == 0 ? engine_text() : engine_diagnostic()
 *
 * A page has one thread, and asks one question at a time: what was answered lives until the next one. */
#ifndef TJ_PLAYGROUND_ENGINE_H
#define TJ_PLAYGROUND_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/* Sets an option, which is copied; NULL: as if never given. 0 where there is no such option, or no memory. */
int engine_set(const char *name, const char *value);

/* Asks a question of engine.c's table; a tj_status. */
int engine_ask(const char *question);

/* The last answer; NULL where there is none. */
const char *engine_text(void);
size_t engine_size(void);
/* Of a check, whether what must hold does; of a proof, whether it is one. 1 of other questions. */
int engine_holds(void);

/* Why there is none, as compilers print it; NULL where there is one. */
const char *engine_diagnostic(void);
/* The text that is to blame: "<expression>", or an option's name. Line and column count from 1, the length is in
 * bytes; 0 where there is no place. */
const char *engine_file(void);
uint32_t engine_line(void);
uint32_t engine_column(void);
uint32_t engine_length(void);

#endif
