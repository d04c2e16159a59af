/* SPDX-License-Identifier: MIT */
/* Decoding by LLVM's disassembler: its context is held through a guard, its text tidied into the arena. */
#include "jit/isa/decode.h"

#include "base/guard.h"
#include "base/text.h"
#include "jit/isa/encoding.h"
#include "llvm/llvm.h"

/* The padding is more than the longest instruction: LLVM crashes where code ends within some. */
enum { TEXT_CAPACITY = 512, FIRST_CAPACITY = 64, PADDING = 32 };

typedef struct {
  tj_decode_target target;
  tj_bytes code;
  tj_bytes padded; /* a copy of the code, and zeros */
  uint64_t address;
  LLVMDisasmContextRef context;
  tj_decoded *instruction;
  size_t count, capacity;
} decoding_state;

static void dispose(void *data) {
  decoding_state *decoder = data;
  if (decoder->context != NULL)
    LLVMDisasmDispose(decoder->context);
}

static void append(tj_job *job, decoding_state *decoder, tj_decoded instruction) {
  if (decoder->count == decoder->capacity) {
    size_t capacity = decoder->capacity == 0 ? FIRST_CAPACITY : decoder->capacity * 2;
    tj_decoded *larger = TJ_NEW_ARRAY(job, tj_decoded, capacity);
    if (decoder->count != 0)
      memcpy(larger, decoder->instruction, decoder->count * sizeof *larger);
    decoder->instruction = larger;
    decoder->capacity = capacity;
  }
  decoder->instruction[decoder->count++] = instruction;
}

static bool is_space(char c) {
  return c == ' ' || c == '\t';
}

/* LLVM's text with every run of spaces and tabs as one space, and none at either end. */
static const char *tidy(tj_job *job, char *text) {
  size_t length = 0;
  for (const char *from = text; *from != '\0'; from++) {
    if (!is_space(*from))
      text[length++] = *from;
    else if (length != 0 && text[length - 1] != ' ')
      text[length++] = ' ';
  }
  if (length != 0 && text[length - 1] == ' ')
    length--;
  return tj_string_copy(job, text, length);
}

static bool is_harmless(const decoding_state *decoder, tj_bytes at) {
  return decoder->target.amdgpu == NULL || tj_encoding_is_harmless(decoder->target.amdgpu, at);
}

/* The instruction at `offset`; bytes that are none come as one unit. */
static tj_decoded decode_one(tj_job *job, decoding_state *decoder, size_t offset) {
  char text[TEXT_CAPACITY];
  size_t left = decoder->code.size - offset, size = 0;
  uint64_t address = decoder->address + offset;
  tj_bytes at = tj_bytes_slice(decoder->padded, offset, left + PADDING);
  if (is_harmless(decoder, at))
    size =
        LLVMDisasmInstruction(decoder->context, (uint8_t *)(uintptr_t)at.data, at.size, address, text, sizeof text);
  if (size == 0 || size > left) {
    size_t unit = decoder->target.unit < left ? decoder->target.unit : left;
    return (tj_decoded){address, tj_bytes_slice(decoder->code, offset, unit), NULL};
  }
  return (tj_decoded){address, tj_bytes_slice(decoder->code, offset, size), tidy(job, text)};
}

static tj_bytes pad(tj_job *job, tj_bytes code) {
  unsigned char *copy = TJ_NEW_ARRAY(job, unsigned char, code.size + PADDING);
  if (code.size != 0)
    memcpy(copy, code.data, code.size);
  return (tj_bytes){copy, code.size + PADDING};
}

static void decode_all(tj_job *job, void *data) {
  decoding_state *decoder = data;
  tj_decode_target target = decoder->target;
  tj_llvm_open(job);
  decoder->padded = pad(job, decoder->code);
  decoder->context =
      LLVMCreateDisasmCPUFeatures(target.triple, target.processor, target.features, NULL, 0, NULL, NULL);
  if (decoder->context == NULL)
    tj_fail(job, TJ_DISASSEMBLY, "LLVM has no disassembler for %s %s", target.triple, target.processor);
  for (size_t offset = 0; offset < decoder->code.size;) {
    tj_spend(job, 1);
    tj_decoded next = decode_one(job, decoder, offset);
    offset += next.encoding.size;
    append(job, decoder, next);
  }
}

tj_decoding tj_decode(tj_job *job, tj_decode_target target, tj_bytes code, uint64_t address) {
  decoding_state decoder = {.target = target, .code = code, .address = address};
  tj_guard(job, decode_all, dispose, &decoder);
  return (tj_decoding){decoder.instruction, decoder.count};
}
