/* SPDX-License-Identifier: MIT */
/* The harmful encodings, found by giving LLVM's disassembler random words for every generation:
 *
 *   - gfx8, gfx9: a literal as an operand of an instruction of 64 bits, which cannot have one (LLVM issue 170318)
 *   - gfx8 … gfx10: reserved selectors in sub-dword addressing (SDWA)
 *   - gfx12: a literal as the operand of a barrier instruction (LLVM issue 214910)
 *
 * A literal that the code ends before is harmful too (LLVM issue 214909); decode.c sees to it by padding the code. */
#include "jit/isa/encoding.h"

enum { LITERAL = 255, SDWA = 249, RESERVED_SELECTOR = 7, RESERVED_UNUSED = 3 };
enum { VOP3 = 0x34, BUFFER = 0x38, TYPED_BUFFER = 0x3a, VECTOR_COMPARE = 0x3e, SCALAR_ONE = 0x17d };
enum { FIRST_BARRIER = 0x4e, LAST_BARRIER = 0x57, FIRST_WITHOUT_COMPARE = 0x100, READ_LANE = 0x289 };

static uint32_t field(uint32_t word, unsigned shift, unsigned width) {
  return word >> shift & ((1u << width) - 1);
}

/* VOP3 with a literal source, or, where the result is scalar, with a literal for a result. */
static bool is_vop3_with_literal(uint32_t first, uint32_t second) {
  if (first >> 26 != VOP3)
    return false;
  uint32_t operation = field(first, 16, 10);
  bool has_scalar_result = operation < FIRST_WITHOUT_COMPARE || operation == READ_LANE;
  return field(second, 0, 9) == LITERAL || field(second, 9, 9) == LITERAL || field(second, 18, 9) == LITERAL ||
         (has_scalar_result && field(first, 0, 8) == LITERAL);
}

/* A buffer access with a literal for its scalar offset. */
static bool is_buffer_with_literal(uint32_t first, uint32_t second) {
  return (first >> 26 == BUFFER || first >> 26 == TYPED_BUFFER) && field(second, 24, 8) == LITERAL;
}

/* Comparisons have a scalar result where others select a part of their destination. */
static bool is_sdwa_with_reserved_selector(uint32_t first, uint32_t second) {
  if (first >> 31 != 0 || field(first, 0, 9) != SDWA)
    return false;
  bool has_selected_result = first >> 25 != VECTOR_COMPARE;
  return field(second, 16, 3) == RESERVED_SELECTOR || field(second, 24, 3) == RESERVED_SELECTOR ||
         (has_selected_result &&
          (field(second, 8, 3) == RESERVED_SELECTOR || field(second, 11, 2) == RESERVED_UNUSED));
}

static bool is_barrier_with_literal(uint32_t first) {
  uint32_t operation = field(first, 8, 8);
  return first >> 23 == SCALAR_ONE && field(first, 0, 8) == LITERAL && operation >= FIRST_BARRIER &&
         operation <= LAST_BARRIER;
}

bool tj_encoding_is_harmless(const tj_processor *processor, tj_bytes instruction) {
  uint32_t first = tj_bytes_u32(instruction, 0), second = tj_bytes_u32(instruction, 4);
  if (processor->major <= 9 && (is_vop3_with_literal(first, second) || is_buffer_with_literal(first, second)))
    return false;
  if (processor->major <= 10 && is_sdwa_with_reserved_selector(first, second))
    return false;
  return processor->major < 12 || !is_barrier_with_literal(first);
}
