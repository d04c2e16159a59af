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
 * Conventions, errors, devices and launches: runtime.h, which this header includes, and which is enough for programs
 * that only run what was compiled before. */
#ifndef TILEJIT_H
#define TILEJIT_H

#include "tilejit/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- imports --- */

/* A text that a program imports, while a tj_read_function finds it. */
typedef struct tj_import tj_import;

/* Finds the text of import "path" in the text called `importer`. Gives it with tj_import_give and returns TJ_OK, or
 * returns another status, after tj_import_refuse or without. It must not call the library with this context. */
typedef tj_status (*tj_read_function)(void *user, const char *importer, const char *path, tj_import *import);

/* Has programs that are created on a context from now on import what a function finds; NULL, as at first: imports are
 * TJ2040. The library itself reads no files. The function is called by the thread that creates the program, before
 * the call returns, once for each import. */
TJ_API void tj_context_set_reader(tj_context *context, tj_read_function function, void *user);

/* The text, which is copied, and its name: diagnostics call it so, it is the `importer` of what it imports itself,
 * and texts of one name are imported once. */
TJ_API tj_status tj_import_give(tj_import *import, const char *name, const char *text, size_t length);
/* Why there is no text, for the diagnostic; copied. Returns TJ_ERROR_INPUT. */
TJ_API tj_status tj_import_refuse(tj_import *import, const char *reason);

/* --- the cache --- */

/* Kernels that have been compiled, in memory and on disk: what was compiled once, by any process of the user, is not
 * compiled again. They are found by the exact text of a program, with its fixed parameters, the kernel, the target
 * and the versions of tilejit and LLVM; or, where the text is new, by the simplified kernel. On disk each is a file
 * with a checksum; what is damaged, or could have been written by another user, is not used. Where the cache cannot
 * be read or written, kernels are compiled: its failures are no errors. Code for GPUs is kept wherever the library
 * runs; code for the host is kept on disk on x86-64 alone, and elsewhere in memory.
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
  const char *obstacle;  /* why there is none; "". Static */
  uint64_t memory_entries, memory_bytes, memory_limit;
  uint64_t disk_entries, disk_bytes, disk_limit; /* texts, kernels, and variants that launches have taken */
  uint64_t memory_hits;                          /* texts found in memory */
  uint64_t disk_hits;                            /* texts found on disk */
  uint64_t kernel_hits;                          /* new texts of known kernels */
  uint64_t misses, stores;                       /* kernels compiled; results kept */
  uint64_t part_hits, part_misses;               /* variants that a launch took first: found on disk; compiled */
  uint64_t memory_evictions, disk_evictions;     /* entries that made room */
  uint64_t damaged;                              /* entries on disk that were not trusted, and removed */
  uint64_t failures;                             /* entries that could not be written */
} tj_cache_stats;

/* Any thread may ask. Reads the folder. */
TJ_API tj_cache_stats tj_cache_stats_of(tj_cache *cache);

/* Forgets all that is kept, in memory and on disk. Codes live on. TJ_ERROR_SYSTEM where a file could not be removed.
 */
TJ_API tj_status tj_cache_clear(tj_cache *cache);

/* --- the language --- */

typedef enum { TJ_LANGUAGE_TEXT, TJ_LANGUAGE_JSON } tj_language_form;

/* What a function of the language is: its form, what it gives, an example and its value, the optional named
 * arguments, what CuTe and CK Tile call it; and what it is in kernels, where it is one of their words. `name` may be
 * one of those names, too, or such a word alone, which has no example. As JSON, an object of strings and
 * arrays of strings:
 * {"name", "group", "form", "named": […], "meaning", "example", "value", "cute": […], "ck": […]}. TJ2001 where there
 * is no such function; the note says what is written instead where CuTe or CK Tile has the name. */
TJ_API tj_status tj_language_function(tj_context *context, const char *name, tj_language_form form, tj_blob *text);

/* Every function, in the order of docs/language.md: a line each, its name, a tab, what it gives; or a JSON array of
 * such objects. */
TJ_API tj_status tj_language_functions(tj_context *context, tj_language_form form, tj_blob *text);

/* Every word of kernels' bodies and array statements, `copy` and `exp` among them: a line each, its name, a tab, what it
 * does or is. */
TJ_API tj_status tj_language_words(tj_context *context, tj_blob *text);

/* Every type that elements may have: a line each, its name, a tab, what it is. */
TJ_API tj_status tj_language_dtypes(tj_context *context, tj_blob *text);

/* --- programs --- */

typedef struct tj_program tj_program;

/* A parameter's name and value. */
typedef struct {
  const char *name;
  int64_t value;
} tj_parameter_value;

/* Parses and evaluates `length` bytes of text, which diagnostics call `name`; NULL: <program>. `fixed` parameters
 * become constants: code is specialised for them. Text and names are copied. */
TJ_API tj_status tj_program_create(tj_context *context, const char *name, const char *text, size_t length,
                                   const tj_parameter_value fixed[], size_t fixed_count, tj_program **program);

/* A text, and what diagnostics call it. */
typedef struct {
  const char *name;
  const char *text;
  size_t length;
} tj_program_piece;

/* The same of several texts, as if they stood in one with a ; after each: what one defines, the next ones see. The
 * expression is that of the last one; what others end in is passed over. Diagnostics have the name of the text that
 * is to blame, and the line and column there. */
TJ_API tj_status tj_program_create_of(tj_context *context, const tj_program_piece pieces[], size_t count,
                                      const tj_parameter_value fixed[], size_t fixed_count, tj_program **program);
TJ_API void tj_program_destroy(tj_program *program);

/* What programs that follow one another define, like the lines of a session. */
typedef struct tj_prelude tj_prelude;

/* A prelude that holds nothing. It must outlive programs that are created after it. */
TJ_API tj_status tj_prelude_create(tj_context *context, tj_prelude **prelude);
TJ_API void tj_prelude_destroy(tj_prelude *prelude);

/* The same as tj_program_create, for a text that sees the parameters and values that the prelude holds, and may
 * define their names anew; on TJ_OK the prelude has also what the text defines, kernels excepted. What was defined
 * with an earlier value keeps it; a kernel that depends on two parameters of one name so is TJ4029 where it is
 * compiled. `fixed` may name any parameter of the prelude. */
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

/* Languages that values can be written in. */
typedef enum {
  TJ_TEXT_CUTE,     /* CuTe's C++: make_layout(make_shape(Int<4>{}, M), …) */
  TJ_TEXT_CUTE_DSL, /* CuTe's Python DSL: cute.make_layout((4, M), stride=…) */
  TJ_TEXT_CK        /* CK Tile's C++: descriptors, transforms, tile_distribution_encoding<…> */
} tj_text_form;

/* The value as an expression of another language, in which parameters are variables of their names. TJ2005 where it
 * has none, with the reason. */
TJ_API tj_status tj_program_foreign_text(tj_program *program, tj_text_form form, tj_blob *text);

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
  int has_arrows;  /* SVG, LaTeX: of tiles, from value to value of one thread, as it holds them */
  int64_t thread;  /* that thread; of a distribution the P's in row-major order */
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
 *   Arrows lead through what one thread of a tile holds. TJ2014 where there is no such thread, TJ2005 where nobody
 *   holds anything.
 * - A list of a layout and a tiler is the layout's grid, coloured by tile; of a layout and a coordinate with
 * underscores, the grid in which the slice is marked.
 * - A list of a shape (M,N,K), threads, and three such layouts, as the library of atoms has matrix instructions, is
 * the tiles of A, B and C; a list of threads and three such layouts, a copy instruction, what it reads and what it
 * writes.
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
                    "must_hold","text","mapping","numbers":{…}}…]}…],"holds":true} */
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
  size_t candidates;         /* mappings that a kernel could have, to be told by price; 64 at most; 0: none */
  const char *const *number; /* names of numbers, `alpha: f32`, that are passed at launch: no cost depends on their
                                values */
  size_t number_count;
} tj_check_options;

/* What is known of a map or a kernel. A finding is about something ("injective", "coverage", "vector", "coalesced",
 * "occupancy", …), and says yes, no or unknown, or is a fact; its numbers are elements, bytes, cycles, cache lines as
 * their names say. `holds` gets 0 where a valid coordinate reaches outside of its buffer, or where a required
 * finding is not yes; else 1. Each variant of a kernel that has several is checked by itself, with values of
 * parameters with which a launch takes it; of the last one, which serves where no other does, nothing is required of
 * what it costs beside others. A candidate's finding has its mapping, as program text, and its price in cache lines;
 * each is compiled for it. TJ2022 where there is nothing to check, TJ2024 where the value is no map, TJ2026 where a
 * map is checked for a launch, TJ4002 for an unknown dtype, and what compiling a kernel may give. */
TJ_API tj_status tj_program_check(tj_program *program, const tj_check_options *options, int *holds, tj_blob *text);

/* How many elements of a layout or a view in memory surely move at once, and for wider accesses, up to 16 bytes, of
 * what parameters would have to be multiples; or why no multiples would do. Findings "vector" and "wider", in the
 * forms of tj_program_check. `dtype` NULL: f32. */
TJ_API tj_status tj_program_suggest(tj_program *program, const char *dtype, tj_check_form form, tj_blob *text);

/* A layout of a tile in LDS, or in NVIDIA's shared memory, and who stores and loads the tile there. Texts are
 * programs that end in an expression and see the items of `declarations` (may be NULL). `lds` is any map from the
 * coordinate in the tile to the element; `store` and `load` say who holds what of the tile: distributions, or layouts
 * whose first mode is the thread, onto the tile's colexicographic index or its coordinate. */
typedef struct {
  const char *declarations;
  const char *lds;          /* tj_suggest_lds_layouts: NULL */
  const char *store, *load; /* NULL: nobody; one of them is given */
  const char *target;       /* of AMD's or NVIDIA's GPUs: "gfx942", "sm_90" */
  const char *dtype;        /* of the tile's elements; NULL: f32 */
  const tj_parameter_value *fixed;
  size_t fixed_count;
  const char *const *require; /* findings that must hold: "injective", "conflict-free" */
  size_t require_count;
  tj_check_form form;
  uint32_t bytes;  /* tj_suggest_lds_layouts: that layouts may take; 0: all that a workgroup may have */
  int64_t tile[2]; /* the same: the tile's extents; zeros: those that distributions and coordinates reach */
} tj_lds_question;

/* What the banks make of it, by instruction: which one it is, its bytes, phases and cycles, and of those that take
 * more cycles than phases two lanes that meet in a bank. `holds` and findings are as those of tj_program_check; those
 * of instructions have the member "instruction", too. TJ2005 and TJ2014 for what is no map of the tile, TJ4002 for an
 * unknown dtype, TJ5001 for a target without LDS. */
TJ_API tj_status tj_check_lds(tj_context *context, const tj_lds_question *question, int *holds, tj_blob *text);

/* A picture of the same: of those who store and of those who load, the instruction that takes the most cycles over
 * its phases, or the first. Each grid has the rows of LDS, as long as all banks, that it touches, and a cell for each
 * bank's word: which lanes want it, in which phase, in the phase's colour; marked where the bank is wanted for
 * another word in the same phase. In JSON, cells have "owners": [{"lane","phase"}…] and "marked". `options` NULL:
 * text; its colour is not looked at. The errors are those of tj_check_lds, and TJ2022 where there is nobody who
 * stores or loads. */
TJ_API tj_status tj_show_lds(tj_context *context, const tj_lds_question *question, const tj_show_options *options,
                             tj_blob *picture);

/* The layouts of a tile of two modes that take the fewest cycles, by the search that kernels use, at most four, the
 * best first: each an expression, with its cycles, whether no layout takes fewer, its bytes, the workgroups for which
 * a compute unit has room, and the operations that make a thread's addresses. JSON: {"tile":[M,N],"target","tried",
 * "layouts":[{"layout","cycles","least","is_least","bytes","workgroups","store":{"instruction","instructions","cycles",
 * "least","operations"},"load":{…}}…]}, where least is without conflicts. TJ2013 where the tile's extents are not
 * known, TJ2022 where there is nobody who stores or loads, TJ4016 where no layout fits. */
TJ_API tj_status tj_suggest_lds_layouts(tj_context *context, const tj_lds_question *question, tj_blob *text);

/* A tile of a tensor in memory, and a GPU that has an engine which moves boxes of tensors to LDS: tensor descriptors
 * of gfx1250, tensor maps of sm_90 and later. Texts are programs that end in an expression and see the items of
 * `declarations` (may be NULL). */
typedef struct {
  const char *declarations;
  const char *tensor; /* a layout or a view, from coordinates to elements; extents and strides may be parameters */
  const char *tile;   /* its extents, one for each mode of the tensor: "(64,64)" */
  const char *lds;    /* from the coordinate in the tile to the element of LDS: a layout, which may have pads or be
                         swizzled; NULL: in the order of memory */
  const char *at;     /* the first coordinate of the tile whose instructions are told; NULL: zeros */
  const char *target; /* "gfx1250", "sm_90" */
  const char *dtype;  /* of elements; NULL: f32 */
  const tj_parameter_value *fixed;
  size_t fixed_count;
  tj_check_form form;
  int as_program;       /* not 0: instead of a report, where there is a plan, a program */
  const char *function; /* NULL, or instead of either, where there is a plan, functions in C so named */
} tj_dma_question;

/* By which instructions the engine moves such tiles, the fewest, or why it does not: dimensions and boxes, strides in
 * bytes, how often an instruction repeats, how tiles lie in LDS, and a coordinate tensor, from coordinates of the
 * tensor to those in the dimensions. It serves all tiles that begin at multiples of their extents; what of them is
 * beyond the tensor, or in its pads, is zeros in LDS. `holds` gets whether there is a plan.
 *
 * JSON: {"tensor","tile":[…],"dtype","target","holds","why","kind":"descriptor"|"tensor_map","instructions",
 * "offset_bytes","dimensions":[{"extent","stride_bytes","box"}…],"repeats":[{"dimension","step","count","lds_bytes",
 * "is_iterated","is_gathered"}…],"gather":{"rows","index_bits"} of
 * descriptors,"pad":{"interval_bytes","bytes"},"swizzle_bytes","lds","lds_bytes","coordinates","stores",
 * "why_no_stores","tensor_map":{…},"issues":[{"coordinates":[…],"lds_bytes","groups":[[…]…]}…]}. Without a plan there
 * is "why" and nothing behind it, with one there is no "why". "stores" is whether the plan also stores from LDS.
 * Numbers that parameters decide are texts. "tensor_map" has the parameters of cuTensorMapEncodeTiled, where the
 * offset is to be added to the address; "groups" are the dwords of a descriptor of a tensor at address 0 and a tile
 * at the beginning of LDS. Both, and issues, of which at most 16 are told, are there where no parameter decides them.
 *
 * As a program, what an instruction is given is a tuple of index expressions: the 12 or 20 dwords of a descriptor, of
 * the tensor's `address` and where the tile begins in `lds`, in bytes; or a box's coordinates, and its place in LDS
 * behind the tile's. Its parameters are also those of the tensor, the tile's first coordinate c0, c1, …, where there
 * are several tiles, and the instruction's number n, where a tile takes several; names that are taken end in '_'. It
 * is a program as any other, of which tj_program_function makes functions in C and LLVM IR. As functions, the same in
 * C, NAME_0, NAME_1, …; of tensor maps with a function behind them that calls cuTensorMapEncodeTiled, where cuda.h
 * stands before them: NAME_map(CUtensorMap *map, void *address, parameters of the tensor…). TJ4012 where the name is
 * none.
 *
 * TJ2005, TJ2012 and TJ2013 for what is no tensor, no tile of it, or no layout of the tile, TJ2014 for a coordinate
 * at which no tile begins or an element before LDS, TJ3018 for a view that is no layout, TJ4002 for an unknown dtype,
 * TJ4016 for a tile of more than 16 MiB, TJ5001 for a target without such an engine. */
TJ_API tj_status tj_check_dma(tj_context *context, const tj_dma_question *question, int *holds, tj_blob *text);

/* Whether two values are the same for all parameters that are not `fixed`, and two maps at every coordinate, validity
 * included. `a` and `b` are programs that end in an expression; both see the items of `declarations` (may be NULL),
 * and those of each other where they are the same text. The text is a line: how it was proved (by the simplifier's
 * rules, in every case where there are at most 2^24, by Z3 where the library has it), or a counterexample with both
 * values: the first one, parameters in the order of declaration, then coordinates, each from its least value on;
 * beyond 2^24 cases the first of the 2^16 smallest, or one in which no parameter or coordinate can be less by itself.
 * Or what differs about their domains. As JSON:
 * {"equal","text","verdict","cases","counterexample":{name:value},"values":[[…],[…]],"why"}, of which the last four
 * are there where they have a meaning. TJ2033 where it is not decided. In diagnostics, and for readers of imports,
 * the declarations have the name TJ_DECLARATIONS_NAME. */
#define TJ_DECLARATIONS_NAME "the declarations"
typedef enum { TJ_PROOF_TEXT, TJ_PROOF_JSON } tj_proof_form;
TJ_API tj_status tj_prove(tj_context *context, const char *declarations, const char *a, const char *b,
                          const tj_parameter_value fixed[], size_t fixed_count, tj_proof_form form, int *equal,
                          tj_blob *text);

/* Whether functions in C, as tj_program_function writes them or a person does, give what the program's value is, for
 * all parameters that are not fixed, wherever it is valid; where C leaves a result undefined, such as where int32_t
 * overflows, they do not. `code` is their text, and the name by which diagnostics call it. `name` says which
 * functions: NAME, NAME_0 …, NAME_valid (which may be missing), of a walk NAME_init, NAME_next, NAME_offset,
 * NAME_valid; NULL: all that the text has are these. Arguments are the leaves of the coordinate, or, of a layout, a
 * coordinate of each mode, or one index; then the parameters in order, or some of them by name. Walks are proved by
 * induction, where each field of their struct is an index of the view or stays as it begins; others are followed
 * through at most 1024 places. The subset of C: integers, structs of integers, declarations, assignments, if, return,
 * ?:, all operators on integers, calls of other functions of the text; int has 32 bits, long 64. The text and JSON
 * are those of tj_prove. TJ1006 where the text is not understood, TJ2034 where it does not have the functions, or
 * they have other arguments, TJ2033 where it is not decided. */
TJ_API tj_status tj_program_prove_function(tj_program *program, const tj_program_piece *code, const char *name,
                                           tj_proof_form form, int *equal, tj_blob *text);

/* --- compilation --- */

/* Which kernel for which target. kernel NULL: the program's only one, or, where it has none, the kernel
 * offsets(dst, V) of the map that is its value. target: "host", for this processor; "x86-64-v3" and the like, for
 * every processor that has this level; an AMDGPU target ID such as "gfx942" or "gfx90a:xnack-:sramecc+"; or an NVIDIA
 * processor such as "sm_90". */
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
  TJ_EMIT_CUBIN,      /* machine code of one NVIDIA processor, which ptxas of the CUDA toolkit makes of the PTX:
                       * TILEJIT_PTXAS names it, otherwise it is looked for in PATH. TJ5009, TJ5010 */
  TJ_EMIT_STATS,      /* JSON: instructions by class, registers, sizes, cost: docs/statistics.md */
  TJ_EMIT_COUNT
} tj_emit;

/* Compiles up to a stage and gives what it made. */
TJ_API tj_status tj_program_emit(tj_program *program, const tj_compile_options *options, tj_emit stage,
                                 tj_blob *output);

/* --- functions for embedding --- */

/* The index arithmetic of a program's value by itself, to be called from kernels and programs that are compiled
 * elsewhere. The value is a map, or a tuple of integers made from parameters. It becomes one function for each leaf
 * of its codomain, and for views, transforms and adaptors one more:
 *
 *     NAME(coordinates…, parameters…)      where there is one component
 *     NAME_0(…), NAME_1(…), …              where there are several
 *     NAME_valid(…)                        1 where the value is valid, else 0: an int32_t
 *
 * A walk through a view (the value walk(V, step=…), or the options' `walk`) becomes four functions around a struct
 * NAME_walk of the integers that it carries from place to place, so that a loop has no divisions:
 *
 *     NAME_init(walk, coordinates…, parameters…)   begins at a coordinate: the first place
 *     NAME_next(walk, parameters…)                 goes on to the next place, at most count - 1 times before the last
 * use NAME_offset(walk, parameters…)               the offset of the place NAME_valid(walk, parameters…) 1 where the
 * place is valid, and has not left the view, else 0
 *
 * All have the same arguments: the leaves of the coordinate in order, then the parameters without a fixed value, in
 * the order of their declaration, needed or not. Arguments must lie in their ranges: each coordinate in its mode's
 * extent, each parameter in its declared range; elsewhere behaviour is undefined. Integers are int32_t where facts
 * show that they fit, else uint32_t where they fit, else int64_t. Components where the value is not valid are
 * unspecified.
 *
 * A kernel of statements, or of a copy with scale or bias, becomes its arithmetic for one element, as C:
 *
 *     NAME(elements…, reductions…, coordinates…, parameters…)   what is stored, of a kernel with one destination
 *     NAME_D(…)                                                 with several: in destination D
 *     NAME_sum0(…), NAME_max1(…), …                             what a reduction takes of each element
 *
 * Each has the arguments that it is made of: elements of the kernel's arguments and numbers of the launch, as they
 * are declared; elements that are gathered; what reductions come to; coordinates, where statements have index(k);
 * parameters. Floats of 16 bits and less are float, integers their own type. Results are those of the kernel, to the
 * last bit. */
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
 * the form needs none. walk: named arguments of walk(V, …), such as "step=(0,32)", V being the program's value; NULL:
 * the value by itself. kernel: a kernel whose statements the functions are of, and then no walk; NULL: of the
 * program's value, or, where there is none, of the only kernel. */
typedef struct {
  const char *name;
  const char *target;
  const char *walk;
  const char *kernel;
} tj_function_options;

/* Makes the functions of the program's value, or of a kernel's statements. TJ4012 where the name is none, TJ2022
 * where the program has neither, TJ2024 where the value is neither a map nor a tuple, TJ4006 where an integer may not
 * fit in 64 bits, TJ4009 where the program has no such kernel, or several and none is named, TJ4028 where the kernel
 * computes nothing, or its functions are wanted in another form than C or as a walk, TJ5001 where there is no such
 * target. */
TJ_API tj_status tj_program_function(tj_program *program, const tj_function_options *options, tj_function_form form,
                                     tj_blob *output);

/* --- compiled kernels --- */

/* Compiles a kernel, for launching, unless the context's cache has it. The code outlives the program. */
TJ_API tj_status tj_code_compile(tj_program *program, const tj_compile_options *options, tj_code **code);

/* Compiles several kernels, or one for several targets: codes[i] as options[i] say, with all their variants, which
 * launches then need not compile. What is LLVM's work is shared out among as many threads as there are processors, at
 * most 64, which call the context's allocator and end before this returns. All codes, or none: the first failure is
 * that of the least i. Progress is told as "kernels compiled"; a cancellation ends it once kernels that are in work
 * are done. */
TJ_API tj_status tj_program_compile_all(tj_program *program, const tj_compile_options options[], size_t count,
                                        tj_code *codes[]);

/* The same from a program's text, as tj_program_create takes it: where the cache knows the text, it is not even
 * parsed. This is the fastest way from text to code. */
TJ_API tj_status tj_code_compile_text(tj_context *context, const char *name, const char *text, size_t length,
                                      const tj_parameter_value fixed[], size_t fixed_count,
                                      const tj_compile_options *options, tj_code **code);

/* Annotated disassembly of the kernels of any AMDGPU code object; of a cubin, what nvdisasm of the CUDA toolkit makes
 * of it, which TILEJIT_NVDISASM names, or PATH finds (TJ5009, TJ5010). With `stats`, JSON as TJ_EMIT_STATS, an object
 * by kernel. TJ5005 where the bytes are no code object. */
TJ_API tj_status tj_code_disassemble(tj_context *context, const void *bytes, size_t size, int stats, tj_blob *text);

/* The library's version, and the versions of what it is built on, one line each. */
TJ_API tj_status tj_version_text(tj_context *context, tj_blob *text);

#ifdef __cplusplus
}
#endif

#endif
