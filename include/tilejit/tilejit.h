/* SPDX-License-Identifier: MIT */
/* tilejit: a just-in-time compiler for tensor layouts and coordinate transforms.
 *
 * A program in the tilejit language (docs/language.md) names parameters, layouts and kernels. The library evaluates
 * it, simplifies its index arithmetic, compiles its kernels for an AMD GPU or for the host, and runs them.
 *
 *     context ─ program ─┬─ values, tables, simplified expressions      tj_program_…
 *                        └─ code ─ launch ─ device                      tj_code_…, tj_launch_…, tj_device_…
 *                                    ├─ buffer ┘                        tj_buffer_…
 *                                    └─ fence                           tj_fence_…
 *             cache ─────────┘                                           tj_cache_…
 *
 * Conventions
 * - Every function that can fail returns a tj_status; results come through out-parameters, which stand last and are
 *   written only on TJ_OK. What went wrong is described by tj_context_diagnostic. The library never prints, exits,
 *   aborts or raises signals, and keeps no state outside of the objects below.
 * - Ownership: what a _create, _open or _compile function gives belongs to the caller, who gives it to the matching
 *   _destroy or _close, which takes NULL. Everything else that is returned by pointer is borrowed, for as long as its
 *   docstring says. Text and byte results are blobs, released with tj_blob_release.
 * - Threads: contexts are independent of each other. A context and the programs, launches, buffers and fences made
 *   with it are used by one thread at a time. Code is immutable and may be shared by threads; a device may be shared by
 *   threads.
 * - Strings are UTF-8. Integers of the language are 64-bit signed. */
#ifndef TILEJIT_H
#define TILEJIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TJ_API __attribute__((visibility("default")))
#else
#define TJ_API
#endif

#define TJ_VERSION "0.1.0"

/* How a call ended. The values 0 to 3 are also the exit statuses of the tilejit command. */
typedef enum {
  TJ_OK = 0,
  TJ_ERROR_INPUT = 1,    /* the program, or a value given for it, is wrong */
  TJ_ERROR_USAGE = 2,    /* the call itself is wrong */
  TJ_ERROR_SYSTEM = 3,   /* the device or the system failed */
  TJ_ERROR_MEMORY = 4,   /* the allocator refused */
  TJ_ERROR_CANCELLED = 5 /* the function of tj_context_set_progress ended the work */
} tj_status;

/* Where a context gets its memory. Both functions get `user`, and may be called from any thread that uses a
 * context created with this allocator. allocate returns NULL when there is no memory, else a block aligned for any
 * object; release takes what allocate returned, never NULL. Memory inside LLVM comes from malloc all the same. */
typedef struct {
  void *(*allocate)(void *user, size_t size);
  void (*release)(void *user, void *block);
  void *user;
} tj_allocator;

/* --- contexts and diagnostics --- */

typedef struct tj_context tj_context;

/* A context. `allocator` is copied; NULL means malloc and free. Fails only with TJ_ERROR_MEMORY. */
TJ_API tj_status tj_context_create(const tj_allocator *allocator, tj_context **context);
TJ_API void tj_context_destroy(tj_context *context);

/* One problem: `code` is the number of TJnnnn (docs/errors.md). line and column count from 1; line 0 means that
 * there is no place, and then source_line is "". `length` is how many bytes of source_line are to blame, at least 1.
 * `note` says what would make it right. */
typedef struct {
  tj_status status;
  unsigned code;
  const char *file;
  uint32_t line, column, length;
  const char *message;
  const char *note;
  const char *source_line;
} tj_diagnostic;

/* Why the last call on the context, or on anything made with it, failed; NULL where it did not. Borrowed until the
 * next such call. */
TJ_API const tj_diagnostic *tj_context_diagnostic(const tj_context *context);

/* What long work is about: "cases tried", how many of them are done, and of how many; total 0 where that is not known.
 * `what` is static. */
typedef struct {
  const char *what;
  uint64_t done, total;
} tj_progress;

/* Returns 0 where the work is to go on. Otherwise it ends soon, so long as further calls return the same: the call of
 * the library that the work belongs to gives TJ_ERROR_CANCELLED and TJ7007, and leaves nothing behind. */
typedef int (*tj_progress_function)(void *user, const tj_progress *progress);

/* Has calls on a context, or on anything made with it, tell their progress from now on; NULL: they tell nobody. The
 * function is called by the thread that has called the library, before the call returns, up to some thousand times a
 * second: by work that is bounded by its cost, by proofs, and while a launch is waited for (of a simulated device,
 * "workgroups executed"). It must not call the library with this context. A launch that is cancelled takes those that
 * are in flight behind it with it, as one that fails does. What the host runs, and LLVM, are not interrupted. */
TJ_API void tj_context_set_progress(tj_context *context, tj_progress_function function, void *user);

/* A text that a program imports, while a tj_read_function finds it. */
typedef struct tj_import tj_import;

/* Finds the text of import "path" in the text called `importer`. Gives it with tj_import_give and returns TJ_OK, or
 * returns another status, after tj_import_refuse or without. It must not call the library with this context. */
typedef tj_status (*tj_read_function)(void *user, const char *importer, const char *path, tj_import *import);

/* Has programs that are created on a context from now on import what a function finds; NULL, as at first: imports are
 * TJ2040. The library itself reads no files. The function is called by the thread that creates the program, before the
 * call returns, once for each import. */
TJ_API void tj_context_set_reader(tj_context *context, tj_read_function function, void *user);

/* The text, which is copied, and its name: diagnostics call it so, it is the `importer` of what it imports itself, and
 * texts of one name are imported once. */
TJ_API tj_status tj_import_give(tj_import *import, const char *name, const char *text, size_t length);
/* Why there is no text, for the diagnostic; copied. Returns TJ_ERROR_INPUT. */
TJ_API tj_status tj_import_refuse(tj_import *import, const char *reason);

/* A diagnostic as compilers print it: file:line:column: error: TJnnnn: message, the source line, a caret under what
 * is to blame, the note. Writes at most `size` bytes, zero-terminated, and returns the length of the whole text. With
 * `colour`, ANSI colours. */
TJ_API size_t tj_diagnostic_format(const tj_diagnostic *diagnostic, int colour, char *buffer, size_t size);

/* Bytes that belong to the caller. `data` ends in a zero byte that `size` does not count. */
typedef struct {
  char *data;
  size_t size;
} tj_blob;

TJ_API void tj_blob_release(tj_context *context, tj_blob *blob);

/* --- the cache --- */

/* Kernels that have been compiled, in memory and on disk: what was compiled once, by any process of the user, is not
 * compiled again. They are found by the exact text of a program, with its fixed parameters, the kernel, the target and
 * the versions of tilejit and LLVM; or, where the text is new, by the simplified kernel. On disk each is a file with a
 * checksum; what is damaged, or could have been written by another user, is not used. Where the cache cannot be read
 * or written, kernels are compiled: its failures are no errors. Code for GPUs is kept wherever the library runs; code for
 * the host is kept on disk on x86-64 alone, and elsewhere in memory.
 *
 * A context makes itself a cache of default options with its first compilation, unless it is given another one. A
 * cache may be given to many contexts, used by threads at the same time, and by any number of processes. */
typedef struct tj_cache tj_cache;

/* For the limits: nothing at all. */
#define TJ_CACHE_NONE UINT64_MAX

/* All zeros: the defaults. In either place the least recently used kernels make room for new ones.
 * Environment: TILEJIT_CACHE=off turns every cache off, whatever its options. TILEJIT_CACHE_DIRECTORY,
 * TILEJIT_CACHE_MEMORY and TILEJIT_CACHE_DISK are the defaults' defaults; sizes may end in K, M or G. */
typedef struct {
  const char *directory; /* NULL: $XDG_CACHE_HOME/tilejit, or ~/.cache/tilejit; made where it is missing. Copied */
  uint64_t memory_bytes; /* most bytes in memory; 0: 64 MiB */
  uint64_t disk_bytes;   /* most bytes on disk; 0: 256 MiB */
} tj_cache_options;

/* A cache. `allocator` is copied, NULL means malloc and free; what it allocates may be used as long as any code that
 * came from the cache. `options` may be NULL. Fails only with TJ_ERROR_MEMORY. */
TJ_API tj_status tj_cache_create(const tj_allocator *allocator, const tj_cache_options *options, tj_cache **cache);
/* Gives up the caller's hold on it: contexts that use the cache keep it. */
TJ_API void tj_cache_destroy(tj_cache *cache);

/* Has a context's compilations use a cache from now on; NULL: none. */
TJ_API void tj_context_set_cache(tj_context *context, tj_cache *cache);

/* Sizes of now; counts since the cache was created, by everybody who uses this object. */
typedef struct {
  int is_off;            /* by TILEJIT_CACHE=off: it keeps nothing */
  int has_disk;          /* there is a folder that can be used */
  const char *directory; /* the folder; "" where none was found. Borrowed from the cache */
  const char *obstacle;  /* why it cannot be used; "". Static */
  uint64_t memory_entries, memory_bytes, memory_limit;
  uint64_t disk_entries, disk_bytes, disk_limit; /* a text and a kernel are two entries */
  uint64_t memory_hits;                          /* texts found in memory */
  uint64_t disk_hits;                            /* texts found on disk */
  uint64_t kernel_hits;                          /* new texts of known kernels */
  uint64_t misses, stores;                       /* kernels compiled; results kept */
  uint64_t memory_evictions, disk_evictions;     /* entries that made room */
  uint64_t damaged;                              /* entries on disk that were not trusted, and removed */
  uint64_t failures;                             /* entries that could not be written */
} tj_cache_stats;

/* Any thread may ask. Reads the folder. */
TJ_API tj_cache_stats tj_cache_stats_of(tj_cache *cache);

/* Forgets all that is kept, in memory and on disk. Codes live on. TJ_ERROR_SYSTEM where a file could not be removed. */
TJ_API tj_status tj_cache_clear(tj_cache *cache);

/* --- the language --- */

typedef enum { TJ_LANGUAGE_TEXT, TJ_LANGUAGE_JSON } tj_language_form;

/* What a function of the language is: its form, what it gives, an example and its value, the optional named
 * arguments, what CuTe and CK Tile call it. `name` may be one of those names, too. As JSON, an object of strings and
 * arrays of strings:
 * {"name", "group", "form", "named": […], "meaning", "example", "value", "cute": […], "ck": […]}. TJ2001 where there
 * is no such function; the note says what is written instead where CuTe or CK Tile has the name. */
TJ_API tj_status tj_language_function(tj_context *context, const char *name, tj_language_form form, tj_blob *text);

/* Every function, in the order of docs/language.md: a line each, its name, a tab, what it gives; or a JSON array of
 * such objects. */
TJ_API tj_status tj_language_functions(tj_context *context, tj_language_form form, tj_blob *text);

/* Every type that elements may have: a line each, its name, a tab, what it is. */
TJ_API tj_status tj_language_dtypes(tj_context *context, tj_blob *text);

/* --- programs --- */

typedef struct tj_program tj_program;

/* A parameter's name and value. */
typedef struct {
  const char *name;
  int64_t value;
} tj_parameter_value;

/* Parses and evaluates `length` bytes of text, which diagnostics call `name`. `fixed` parameters become constants:
 * code is specialised for them. Text and names are copied. */
TJ_API tj_status tj_program_create(tj_context *context, const char *name, const char *text, size_t length,
                                   const tj_parameter_value fixed[], size_t fixed_count, tj_program **program);

/* A text, and what diagnostics call it. */
typedef struct {
  const char *name;
  const char *text;
  size_t length;
} tj_program_piece;

/* The same of several texts, as if they stood in one with a ; after each: what one defines, the next ones see. The
 * expression is that of the last one; what others end in is passed over. Diagnostics have the name of the text that is to blame, and the line and column
 * there. */
TJ_API tj_status tj_program_create_of(tj_context *context, const tj_program_piece pieces[], size_t count,
                                      const tj_parameter_value fixed[], size_t fixed_count, tj_program **program);
TJ_API void tj_program_destroy(tj_program *program);

/* What programs that follow one another define, like the lines of a session. */
typedef struct tj_prelude tj_prelude;

/* A prelude that holds nothing. It must outlive programs that are created after it. */
TJ_API tj_status tj_prelude_create(tj_context *context, tj_prelude **prelude);
TJ_API void tj_prelude_destroy(tj_prelude *prelude);

/* The same as tj_program_create, for a text that sees the parameters and values that the prelude holds, and may define
 * their names anew; on TJ_OK the prelude has also what the text defines, kernels excepted. What was defined with an
 * earlier value keeps it. `fixed` may name any parameter of the prelude. */
TJ_API tj_status tj_program_create_after(tj_prelude *prelude, const char *name, const char *text, size_t length,
                                         const tj_parameter_value fixed[], size_t fixed_count, tj_program **program);

TJ_API size_t tj_program_item_count(const tj_program *program); /* params, lets and kernels of its own */
/* Whether the program ends in an expression. */
TJ_API int tj_program_has_value(const tj_program *program);

TJ_API size_t tj_program_kernel_count(const tj_program *program);
/* Borrowed from the program; NULL beyond the last kernel. */
TJ_API const char *tj_program_kernel_name(const tj_program *program, size_t index);

/* The value of the program's last, bare expression in canonical text, which parses back to the same value. Symbolic
 * integers are simplified. TJ2022 where the program has none. */
TJ_API tj_status tj_program_value(tj_program *program, tj_blob *text);

/* What tj_program_table writes. */
typedef enum {
  TJ_TABLE_VALUES, /* [v, …]: the map's values; where it has several components, arrays */
  TJ_TABLE_OBJECT  /* {"lengths":[…],"values":[…],"valid":[0|1,…]}: raw values also where not valid */
} tj_table_form;

/* The values of the program's map over its whole domain, as JSON. Order: first mode fastest for layouts
 * (colexicographic), last dimension fastest for views and transforms (row-major). TJ2024 where the value is no map,
 * TJ2023 where its domain is not constant, TJ7005 where it is too large. */
TJ_API tj_status tj_program_table(tj_program *program, tj_table_form form, tj_blob *json);

/* What tj_program_simplify writes. */
typedef enum {
  TJ_SIMPLIFY_TEXT,  /* the simplified expression; of a map with a predicate, a second line `valid: …` */
  TJ_SIMPLIFY_TRACE, /* every rewrite: rule, before, after, the facts that allowed it; then the result */
  TJ_SIMPLIFY_JSON   /* {"inputs":[…],"before":{"text":…,"ops":{…}},"after":{…},"rules":[…]} */
} tj_simplify_form;

/* The index expressions of the program's last value, simplified. */
TJ_API tj_status tj_program_simplify(tj_program *program, tj_simplify_form form, tj_blob *text);

/* The same with a certificate that does not rest on the simplifier's rules: each result is proved equal to what it
 * replaces (a map's components wherever it is valid), by trying every case where there are at most 2^24, otherwise by
 * Z3 where the library has it. `proved` gets 1 where all are proved, else 0: one differs, or is undecided. The text
 * goes on with a line for each expression, `proof: equal: in each of 1000 cases`; JSON has one more key, "proof":
 * [{"of": 0… or "valid", "verdict": "unchanged", "cases", "smt", "different" or "undecided", "cases": how many,
 * "counterexample": {"i":3,…}, "why": of undecided}…]. */
TJ_API tj_status tj_program_simplify_proved(tj_program *program, tj_simplify_form form, int *proved, tj_blob *text);

/* The forms of a picture. */
typedef enum {
  TJ_SHOW_TEXT,  /* grids of characters; of a view also its pipeline, stage by stage */
  TJ_SHOW_SVG,   /* one self-contained SVG document */
  TJ_SHOW_LATEX, /* one standalone LaTeX document that draws with TikZ */
  TJ_SHOW_JSON,  /* the picture as data: grids, their labels, the coordinate, value and validity of every cell */
  TJ_SHOW_FORM_COUNT
} tj_show_form;

/* What the colours of cells say. */
typedef enum {
  TJ_SHOW_COLOUR_DEFAULT, /* INDEX for maps, CYCLE for swizzles, THREAD for tiles and distributions */
  TJ_SHOW_COLOUR_INDEX,   /* the index (the value's first component), from the least (light) to the greatest (dark) */
  TJ_SHOW_COLOUR_CYCLE,   /* the index modulo 8; of a swizzle, the bits that it changes */
  TJ_SHOW_COLOUR_THREAD,  /* who holds the element: a hue for each thread modulo 8, or for each warp */
  TJ_SHOW_COLOUR_VALUE,   /* which of the thread's values it is, from the first (light) to the last (dark) */
  TJ_SHOW_COLOUR_NONE,    /* white */
  TJ_SHOW_COLOUR_COUNT
} tj_show_colour;

typedef struct {
  tj_show_form form;
  tj_show_colour colour;
  size_t width;    /* characters in a line of text, at which wide grids are broken; 0: 118 */
  int64_t tile[2]; /* {M, N}: the value is a (thread, value) layout onto this tile; {0, 0}: it is drawn as it is */
  int ansi;        /* text has colours, by the escapes of terminals that know 24 bits of them */
} tj_show_options;

/* A picture of the program's value. `options` NULL: text.
 *
 * - A layout is a grid of its values: mode 0 goes down, mode 1 across, each in colexicographic order; of a layout of
 *   higher rank, one grid for each coordinate of the other modes. A single mode goes across.
 * - A view, a transform or an adaptor is a grid of its last two dimensions, the last across; one grid for each
 *   coordinate of the others. What is not valid is marked. As text, also the pipeline of transforms, with the number
 *   and length of every hidden dimension.
 * - A swizzle is its bits, and the grid of the period in which it permutes.
 * - A distribution is its tile: the warp, the lane and the register of each element; with one P the lane, with more
 *   than two their numbers. As text, also the pipeline of its adaptor.
 * - With a tile: (thread, value) ↦ the tile's colexicographic index, or with basis strides its coordinate, drawn as
 *   CuTe's print_latex draws it: who holds each element. TJ2005 where the value is no layout of two modes, TJ2014
 *   where it leaves the tile.
 *
 * JSON: {"title", "note", "color" (what colours mean, or null), "panels": [{"caption", "rows", "columns",
 * "row_labels", "column_labels", "cells": [{"row", "column", "coordinate", "value", "valid", "color"}…]}…]}.
 * Coordinates and values have the structure of the map's domain and codomain. Cells of tiles have, in place of value
 * and valid, "owners": [{"thread", "value"}…], or of distributions [{"warp", "lane", "y0"…, "register"}…]. Of a
 * swizzle also "bits": [{"from", "to"}…]. Of a view also "pipeline": {"top", "bottom", "lengths", "steps": [{"stage",
 * "transform", "upper", "lower"}…]}, where dimensions are hidden numbers. Axes of hierarchical modes have also
 * "row_coordinates" or "column_coordinates".
 *
 * TJ2022 where the program has no value, TJ2024 where it is no map, TJ2023 where its domain is not constant, TJ7005
 * where it has more than 65536 coordinates. Of a view as text, the last two leave the pipeline without a grid. */
TJ_API tj_status tj_program_show(tj_program *program, const tj_show_options *options, tj_blob *picture);

/* What tj_program_check writes. */
typedef enum {
  TJ_CHECK_TEXT, /* a title, then a line for each finding */
  TJ_CHECK_JSON  /* {"checks":[{"of":title,"variant","condition","parameters":{…},"findings":[{"about","verdict",
                    "must_hold","text","numbers":{…}}…]}…],"holds":true} */
} tj_check_form;

typedef struct {
  const char *kernel;         /* NULL: the program's value; where it has none, every kernel */
  const char *target;         /* as in tj_compile_options; NULL: none, and the host for kernels */
  const char *dtype;          /* of a map's elements; NULL: f32 */
  int is_threads;             /* the value is a (thread, value) layout of a tile */
  const char *const *require; /* findings that must hold: "injective", "surjective", "bijective", "inside",
                                 "coalesced", "conflict-free" */
  size_t require_count;
  tj_check_form form;
  const tj_parameter_value *parameter; /* passed at launch: what the costs of kernels are told for */
  size_t parameter_count;
} tj_check_options;

/* What is known of a map or a kernel. A finding is about something ("injective", "coverage", "vector", "coalesced",
 * "occupancy", …), and says yes, no or unknown, or is a fact; its numbers are elements, bytes, cycles, cache lines as
 * their names say. `holds` gets 0 where a valid coordinate reaches outside of its buffer, or where a required
 * finding is not yes; else 1. Each variant of a kernel that has several is checked by itself, with values of parameters
 * with which a launch takes it; of the last one, which serves where no other does, nothing is required of what it costs
 * beside others. TJ2022 where there is nothing to check, TJ2024 where the value is no map, TJ4002 for
 * an unknown dtype, and what compiling a kernel may give. */
TJ_API tj_status tj_program_check(tj_program *program, const tj_check_options *options, int *holds, tj_blob *text);

/* Whether two values are the same for all parameters that are not `fixed`, and two maps at every coordinate, validity
 * included. `a` and `b` are programs that end in an expression; both see the items of `declarations` (may be NULL),
 * and those of each other where they are the same text. The text is a line: how it was proved (by the simplifier's
 * rules, in every case where there are at most 2^24, by Z3 where the library has it), or a counterexample. TJ2033 where
 * it is not decided. In diagnostics, and for readers of imports, the declarations have the name TJ_DECLARATIONS_NAME. */
#define TJ_DECLARATIONS_NAME "the declarations"
TJ_API tj_status tj_prove(tj_context *context, const char *declarations, const char *a, const char *b,
                          const tj_parameter_value fixed[], size_t fixed_count, int *equal, tj_blob *text);

/* --- compilation --- */

/* Which kernel for which target. kernel NULL: the program's only one, or, where it has none, the kernel
 * offsets(dst, V) of the map that is its value. target: "host", an AMDGPU target ID such as "gfx942" or
 * "gfx90a:xnack-:sramecc+", or an NVIDIA processor such as "sm_90". */
typedef struct {
  const char *kernel;
  const char *target;
} tj_compile_options;

/* Every target, features left open: a line each, its name, a tab, what it is. */
TJ_API tj_status tj_target_list(tj_context *context, tj_blob *text);

/* The stages of a compilation, each of which can be shown. */
typedef enum {
  TJ_EMIT_AST,        /* the program as parsed */
  TJ_EMIT_VALUES,     /* its definitions, evaluated */
  TJ_EMIT_INDEX,      /* the kernel's index expressions as they come from its views */
  TJ_EMIT_SIMPLIFIED, /* the same, simplified */
  TJ_EMIT_TILED,      /* every variant for the target: condition, mapping, steps */
  TJ_EMIT_LLVM,       /* LLVM IR, optimised */
  TJ_EMIT_ASM,        /* assembly */
  TJ_EMIT_OBJECT,     /* relocatable object */
  TJ_EMIT_HSACO,      /* code object: an AMDGPU shared object that HSA loads */
  TJ_EMIT_PTX,        /* PTX: text that NVIDIA's drivers load */
  TJ_EMIT_STATS,      /* JSON: instructions by class, registers, sizes, cost: docs/statistics.md */
  TJ_EMIT_COUNT
} tj_emit;

/* Compiles up to a stage and gives what it made. */
TJ_API tj_status tj_program_emit(tj_program *program, const tj_compile_options *options, tj_emit stage,
                                 tj_blob *output);

/* --- functions for embedding --- */

/* The index arithmetic of a program's value by itself, to be called from kernels and programs that are compiled
 * elsewhere. The value is a map, or a tuple of integers made from parameters. It becomes one function for each leaf of
 * its codomain, and for views, transforms and adaptors one more:
 *
 *     NAME(coordinates…, parameters…)      where there is one component
 *     NAME_0(…), NAME_1(…), …              where there are several
 *     NAME_valid(…)                        1 where the value is valid, else 0: an int32_t
 *
 * All have the same arguments: the leaves of the coordinate in order, then the parameters without a fixed value, in the
 * order of their declaration, needed or not. Arguments must lie in their ranges: each coordinate in its mode's extent,
 * each parameter in its declared range; elsewhere behaviour is undefined. Integers are int32_t where facts show that
 * they fit, else uint32_t where they fit, else int64_t. Components where the value is not valid are unspecified. */
typedef enum {
  TJ_FUNCTION_C,       /* C99, also C++ and HIP: `static inline` definitions, comments on ranges; needs no target */
  TJ_FUNCTION_HEADER,  /* declarations in C, C++ and HIP of what the forms below define; needs no target */
  TJ_FUNCTION_LLVM,    /* LLVM IR as text: with ranges, nuw and nsw, and alwaysinline */
  TJ_FUNCTION_BITCODE, /* the same as bitcode, as for clang -Xclang -mlink-bitcode-file */
  TJ_FUNCTION_ASM,     /* assembly */
  TJ_FUNCTION_OBJECT,  /* relocatable object: for the host, to be linked into a program */
  TJ_FUNCTION_FORM_COUNT
} tj_function_form;

/* name: a name that C and C++ allow, and the prefix of the names above. target: as in tj_compile_options; NULL where
 * the form needs none. */
typedef struct {
  const char *name;
  const char *target;
} tj_function_options;

/* Makes the functions of the program's value. TJ4012 where the name is none, TJ2022 where the program has no value,
 * TJ2024 where it is neither a map nor a tuple, TJ4006 where an integer may not fit in 64 bits, TJ5001 where there is
 * no such target. */
TJ_API tj_status tj_program_function(tj_program *program, const tj_function_options *options, tj_function_form form,
                                     tj_blob *output);

/* --- compiled kernels --- */

typedef struct tj_code tj_code;

/* Compiles a kernel, for launching, unless the context's cache has it. The code outlives the program; it must not
 * outlive the context. */
TJ_API tj_status tj_code_compile(tj_program *program, const tj_compile_options *options, tj_code **code);

/* The same from a program's text, as tj_program_create takes it: where the cache knows the text, it is not even
 * parsed. This is the fastest way from text to code. */
TJ_API tj_status tj_code_compile_text(tj_context *context, const char *name, const char *text, size_t length,
                                      const tj_parameter_value fixed[], size_t fixed_count,
                                      const tj_compile_options *options, tj_code **code);
TJ_API void tj_code_destroy(tj_code *code);

/* The code object's bytes (host: the relocatable object). Borrowed from the code. */
TJ_API const void *tj_code_bytes(const tj_code *code, size_t *size);
TJ_API const char *tj_code_kernel(const tj_code *code);
TJ_API const char *tj_code_target(const tj_code *code);

/* Where code came from. */
typedef enum {
  TJ_CODE_COMPILED,    /* LLVM made it now */
  TJ_CODE_FROM_MEMORY, /* the text was found in memory, */
  TJ_CODE_FROM_DISK,   /* or on disk */
  TJ_CODE_FROM_KERNEL  /* the text was new, its kernel was found in memory or on disk */
} tj_code_origin;

TJ_API tj_code_origin tj_code_origin_of(const tj_code *code);

/* Where the time of a compilation went, in nanoseconds of wall time, by stage. */
typedef struct {
  uint64_t cache; /* looking there, and keeping the result */
  uint64_t plan, simplify, lower, passes, codegen, link, check, load;
} tj_code_times;

TJ_API tj_code_times tj_code_times_of(const tj_code *code);

/* Annotated disassembly of the kernels of any AMDGPU code object; with `stats`, JSON as TJ_EMIT_STATS, an object by
 * kernel. TJ5005 where the bytes are no code object. */
TJ_API tj_status tj_code_disassemble(tj_context *context, const void *bytes, size_t size, int stats, tj_blob *text);

/* --- devices --- */

typedef struct tj_device tj_device;

typedef enum {
  TJ_DEVICES_TEXT, /* a line each: name, target, what it is, cores or compute units, memory, PCI bus, UUID */
  TJ_DEVICES_JSON  /* [{"name","target","description","parallelism","memory","bus","uuid"}…] */
} tj_device_list_form;

/* The devices that can be opened. `name` is what tj_device_open takes, `target` what to compile for; `parallelism`
 * counts cores or compute units, `memory` bytes; what a device does not have or tell is null, or left out of text. */
TJ_API tj_status tj_device_list(tj_context *context, tj_device_list_form form, tj_blob *text);

/* What a device is; strings are borrowed from it, and "" where there is nothing to say. */
typedef struct {
  const char *name;        /* what tj_device_open takes: hsa:0; of an attached device, what it would take */
  const char *target;      /* what to compile for */
  const char *description; /* of the hardware, for people */
  const char *bus;         /* where it is on the PCI bus: 0000:c1:00.0 */
  const char *uuid;        /* GPU- and 16 hexadecimal digits */
  uint32_t parallelism;    /* cores, or compute units */
  uint64_t memory;         /* bytes; 0: unknown */
} tj_device_properties;

/* Opens a device by its name: "host", "hsa:0" for the first GPU of the HSA runtime, "sim:gfx942" for a simulated one.
 * Each has one name. TJ6001 for a name that no device has. */
TJ_API tj_status tj_device_open(tj_context *context, const char *name, tj_device **device);
/* An agent and a queue of the HSA runtime that the application has. */
typedef struct {
  const char *library; /* the runtime, as for dlopen: the one that the application uses. NULL: what hsa:N uses */
  uint64_t agent;      /* the handle of a GPU's hsa_agent_t */
  void *queue;         /* an hsa_queue_t of that agent; NULL: the device makes a queue of its own */
} tj_hsa_attachment;

/* Opens a device on an agent of the application's, so that memory and kernels of both are on one GPU of one runtime; and,
 * where `queue` is not NULL, on a queue of the application's: launches and copies of the device become packets of it,
 * ordered with what the application puts there. The queue is borrowed until the device has shut down. Packets are
 * written by whichever thread calls the device, so a queue of type HSA_QUEUE_TYPE_SINGLE must not be written to by the
 * application at the same time. Times are those of the queue's profiling, 0 where that is not enabled. What runs is not
 * interrupted when a launch is cancelled: that is waited for. TJ6011 where the runtime does not open, TJ6001 where it
 * has no such GPU agent. */
TJ_API tj_status tj_device_attach(tj_context *context, const tj_hsa_attachment *hsa, tj_device **device);

/* Tells a device that nothing in flight will end any more, and why: to be called from the function that the application
 * has given to hsa_queue_create for failures, which the runtime tells to nobody else. From any thread, also while others
 * use the device. It is lost, as after a fault of memory: waits end, and every call but those that destroy and close
 * gives TJ6008. On the host nothing happens. */
TJ_API void tj_device_lose(tj_device *device, const char *why);

/* Waits for work in flight. Buffers and fences of the device keep it: they may still be asked and are still to be
 * destroyed, and with the last of them the device shuts down. */
TJ_API void tj_device_close(tj_device *device);
/* The target to compile for. Borrowed from the device. */
TJ_API const char *tj_device_target(const tj_device *device);
TJ_API tj_device_properties tj_device_properties_of(const tj_device *device);

/* --- buffers --- */

/* Memory of one device that outlives launches, so that several of them work on it without copies. Any number of
 * launches may be in flight on it: what is asked of one device happens in the order in which it is asked, copies
 * included. */
typedef struct tj_buffer tj_buffer;

/* `bytes` of uninitialised memory, aligned to 256 bytes; 0 is allowed. TJ6010 where the device has no more. */
TJ_API tj_status tj_buffer_create(tj_context *context, tj_device *device, size_t bytes, tj_buffer **buffer);
/* Gives memory back to its owner. */
typedef void (*tj_release_function)(void *user);

/* A buffer of `bytes` of memory that somebody else has allocated where the device reaches it, from `address` on, as in
 * tj_launch_bind_pointer: hipMalloc's, or of an HSA pool of the device's agent; on the host, any memory of the process.
 * It stays its owner's, and must be there until the buffer is destroyed: `release`, unless it is NULL, is then called
 * once, by the thread that destroys it, when what was in flight on the device has ended. It must not call the library
 * with this context. TJ6016 where the address is NULL and bytes is not 0; then `release` is not called, nor after any
 * other failure. */
TJ_API tj_status tj_buffer_import(tj_context *context, tj_device *device, void *address, size_t bytes,
                                  tj_release_function release, void *user, tj_buffer **buffer);

/* Waits for launches and copies in flight. */
TJ_API void tj_buffer_destroy(tj_buffer *buffer);
TJ_API size_t tj_buffer_size(const tj_buffer *buffer);
/* The address of its first byte on the device, for other runtimes of the process; valid until the buffer is
 * destroyed. */
TJ_API void *tj_buffer_address(const tj_buffer *buffer);

/* Copy `bytes` between a buffer, from its byte `offset` on, and host memory; both wait for launches in flight, whose
 * failures only their fences tell. TJ6002 where the range is not inside the buffer. */
TJ_API tj_status tj_buffer_write(tj_buffer *buffer, size_t offset, const void *data, size_t bytes);
TJ_API tj_status tj_buffer_read(tj_buffer *buffer, size_t offset, void *data, size_t bytes);

/* Copies `bytes` from a buffer to another of the same device or of any other, or within one, and waits. TJ6002 where a
 * range is not inside its buffer, TJ6016 where the ranges overlap. */
TJ_API tj_status tj_buffer_copy(tj_buffer *to, size_t to_offset, tj_buffer *from, size_t from_offset, size_t bytes);

/* How a launch or a copy that is not waited for ends. */
typedef struct tj_fence tj_fence;

/* Start a copy and do not wait for it. It happens after what was asked of the device before, and before what is asked of
 * it later; the fence tells when it has ended, with its time, or why it failed, as that of a launch does. `data` is
 * borrowed until then, buffers must not be destroyed before. The same failures as above; TJ4001 where `to` and `from`
 * are of two devices. On the host a copy has ended when this returns. */
TJ_API tj_status tj_buffer_submit_write(tj_buffer *buffer, size_t offset, const void *data, size_t bytes,
                                        tj_fence **fence);
TJ_API tj_status tj_buffer_submit_read(tj_buffer *buffer, size_t offset, void *data, size_t bytes, tj_fence **fence);
TJ_API tj_status tj_buffer_submit_copy(tj_buffer *to, size_t to_offset, tj_buffer *from, size_t from_offset,
                                       size_t bytes, tj_fence **fence);

/* --- launches --- */

/* A launch gathers what one run of a kernel needs: parameters, then arrays. */
typedef struct tj_launch tj_launch;

TJ_API tj_status tj_launch_create(tj_context *context, const tj_code *code, tj_launch **launch);
TJ_API void tj_launch_destroy(tj_launch *launch);

/* Gives a parameter its value, in the place of one it had: TJ2026 where the program has no such parameter, TJ2025 where
 * the value contradicts its declared facts. Bounds that other parameters decide are looked at when these have values, by
 * the functions below that need them. A value that is refused changes nothing. */
TJ_API tj_status tj_launch_set_parameter(tj_launch *launch, const char *name, int64_t value);

/* Tells the shape of the array that will be bound to an argument, in the place of one told before. Parameters that are
 * not given a value are taken from shapes where the argument's view is plain row-major with these parameters as lengths:
 * TJ6015 where two shapes, or two lengths of this one, say different values of such a parameter, and where a length is
 * negative; TJ2025 where the value contradicts its declared facts. Shapes of earlier runs give way to what is told
 * since. A shape that is refused changes nothing. */
TJ_API tj_status tj_launch_set_shape(tj_launch *launch, const char *argument, const int64_t shape[], size_t rank);

/* One argument, as it is once all parameters are known. */
typedef struct {
  const char *name;
  const char *dtype; /* as in the program: f32 */
  const char *numpy; /* NumPy's type string: <f4; "" where it has none */
  size_t element_bytes;
  int64_t element_count; /* the least number of elements of a buffer */
  int is_read, is_written;
  int is_row_major;    /* the view is plain row-major: `lengths` is the natural shape of the array */
  int is_column_major; /* the same with the first mode fastest: the array is one in Fortran order. Both where modes of
                          length 1 leave one */
  const int64_t *lengths;
  size_t rank;
} tj_argument;

TJ_API size_t tj_code_argument_count(const tj_code *code);
/* Borrowed from the code; NULL beyond the last argument. */
TJ_API const char *tj_code_argument_name(const tj_code *code, size_t index);
/* The same as far as it is known before parameters have values: `lengths` is NULL, and element_count -1 where a
 * parameter decides it. `name` is NULL beyond the last argument. Strings are borrowed from the code. */
TJ_API tj_argument tj_code_argument(const tj_code *code, size_t index);

/* A parameter of the program that the code was compiled from. */
typedef struct {
  const char *name;
  int has_low, has_high; /* there is a least value, a greatest, that no other parameter decides: */
  int64_t low, high;     /* inclusive; where there is none, those of the type */
  int64_t multiple;      /* values are multiples of it; 1: of any, or other parameters decide it */
  int is_fixed;          /* it was given a value when the code was compiled, and takes none */
  int is_needed;         /* the kernel depends on it: a launch needs its value */
} tj_parameter_info;

TJ_API size_t tj_code_parameter_count(const tj_code *code);
/* `name` is NULL beyond the last parameter. Borrowed from the code. */
TJ_API tj_parameter_info tj_code_parameter(const tj_code *code, size_t index);

/* Borrowed from the launch until the next call on it. TJ6007 where a parameter has no value yet. */
TJ_API tj_status tj_launch_argument(tj_launch *launch, size_t index, const tj_argument **argument);

/* Binds host memory to an argument: borrowed until the run ends. TJ6002 where it is too small. */
TJ_API tj_status tj_launch_bind(tj_launch *launch, const char *argument, void *data, size_t bytes);

/* Binds a buffer instead, from its beginning or from byte `offset` on: borrowed until the last run or submission of
 * the launch returns. TJ6002 where what is left of it is too small, or the offset is beyond its end. Runs and
 * submissions give TJ4001 where it is of another device, and TJ6016 where the offset is not aligned as the kernel
 * needs it (tj_launch_prepare tells). */
TJ_API tj_status tj_launch_bind_buffer(tj_launch *launch, const char *argument, tj_buffer *buffer);
TJ_API tj_status tj_launch_bind_buffer_at(tj_launch *launch, const char *argument, tj_buffer *buffer, size_t offset);

/* Binds `bytes` of memory that somebody else has allocated where the device reaches it, by its address there: what
 * hipMalloc or hsa_amd_memory_pool_allocate gave, or a place inside; on the host, any memory of the process. It is
 * used where it is, and must be there until the last launch with it has ended. Whether it is memory, and the
 * device's, is not checked. TJ6002 where it is too small, TJ6016 where the address is NULL; runs, submissions and
 * tj_launch_prepare give TJ6016 where it is not aligned as the kernel needs it. */
TJ_API tj_status tj_launch_bind_pointer(tj_launch *launch, const char *argument, void *address, size_t bytes);

/* What is bound to two arguments may not overlap where the kernel writes one of them: runs, submissions and
 * tj_launch_prepare give TJ4001. */

/* Runs the kernel and waits for it. TJ4010 where the parameters let two coordinates of the destination store different
 * sources to one element, which the kernel does not allow. Host memory is copied to the device, and, where the kernel writes it, back, so that
 * elements that the kernel does not store keep their value. Buffers are used where they are. */
TJ_API tj_status tj_launch_run(tj_launch *launch, tj_device *device);

/* --- recipes --- */

typedef enum {
  TJ_KERNARG_POINTER, /* the address of an argument */
  TJ_KERNARG_VALUE    /* an integer: a parameter, or what is computed of parameters once a launch */
} tj_kernarg_kind;

/* A word of a kernel's argument block, which lies `bytes` long at `offset`, its least significant byte first. */
typedef struct {
  const char *name; /* the argument or the parameter; of what is computed, how: "(M + 63) / 64", "magic31(N)" */
  tj_kernarg_kind kind;
  size_t offset, bytes;
  size_t alignment; /* of pointers: what the address must be a multiple of, in bytes; of values 1 */
  int is_bound;     /* of pointers: `value` is the address bound to the argument, not 0; of values 1 */
  uint64_t value;   /* negative integers modulo 2^64 */
} tj_kernarg;

/* All that it takes to launch a kernel without tj_launch_run: docs/launching.md. */
typedef struct {
  const char *symbol;  /* the kernel in the code object; its descriptor has the name with .kd behind it */
  uint64_t grid[3];    /* work-items along x, y and z: whole workgroups */
  uint32_t block[3];   /* work-items of a workgroup */
  uint32_t lds_bytes;  /* of a workgroup, all of which the code object itself declares */
  const void *kernarg; /* the argument block: kernarg_bytes, 8-byte aligned */
  size_t kernarg_bytes;
  const tj_kernarg *word; /* what it holds, in the order of offsets */
  size_t word_count;
} tj_recipe;

/* The recipe of one launch with the parameters and the memory that are bound. Arguments without memory have 0 in the
 * argument block, for the caller to write addresses that have their word's alignment. All checks of tj_launch_run
 * that need no device are made: TJ6007, TJ2025, TJ4010, TJ6002, TJ6016; TJ4001 where host memory is bound, or what
 * overlaps; TJ6008 where the grid is larger than a GPU's packet holds. Where parameters or addresses allow several
 * kernels of the code, the recipe is of the fastest. Borrowed from the launch until the next call on it. Of code for
 * the host, `symbol` is a function of the object that takes the argument block and the numbers of the first workgroup
 * and of the one behind the last: void (const void *, uint64_t, uint64_t). */
TJ_API tj_status tj_launch_prepare(tj_launch *launch, const tj_recipe **recipe);

/* --- launches in flight --- */

/* Starts the kernel and does not wait for it: any number of launches may be in flight on a device; they run one after
 * another, in the order in which they are submitted. Every argument must have a buffer or a pointer: TJ4001 for host
 * memory. Races give TJ4010, as in tj_launch_run. The launch may be changed, submitted again and destroyed at once,
 * its code too.
 * On the host a launch has ended when this returns. On other devices it waits while 64 launches are in flight. */
TJ_API tj_status tj_launch_submit(tj_launch *launch, tj_device *device, tj_fence **fence);

/* Whether the launch has ended, 1 or 0; does not wait. */
TJ_API int tj_fence_is_done(tj_fence *fence);
/* Waits for the launch, or the copy; as often as wanted, in any order of fences. `nanoseconds`, which may be NULL, gets the time that
 * its kernel took. TJ6008 where the kernel failed, with the device's words; what its buffers hold is then unspecified.
 * Launches that were in flight behind it do not run, and their fences give TJ6008 and say so; the device serves those
 * that are submitted once a failure has been told. Only a GPU whose kernel has touched memory that is not there is lost:
 * every call but those that destroy and close gives TJ6008 from then on. */
TJ_API tj_status tj_fence_wait(tj_fence *fence, uint64_t *nanoseconds);
/* Waits for the launch, not for others. A failure that was not asked for is forgotten. */
TJ_API void tj_fence_destroy(tj_fence *fence);

/* Nanoseconds that the kernel of the last run took, copies excluded. */
TJ_API uint64_t tj_launch_nanoseconds(const tj_launch *launch);

/* What a simulated device counted in the last run: waves, instructions by class, cache lines touched and needed, cycles
 * of LDS with and without bank conflicts. 0 on other devices. */
TJ_API size_t tj_launch_counter_count(const tj_launch *launch);
/* The value of counter `index`, which must be less than their count. `name` is static. */
TJ_API uint64_t tj_launch_counter(const tj_launch *launch, size_t index, const char **name);

/* The library's version, and the versions of what it is built on, one line each. */
TJ_API tj_status tj_version_text(tj_context *context, tj_blob *text);

#ifdef __cplusplus
}
#endif

#endif
