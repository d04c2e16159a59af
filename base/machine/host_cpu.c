/* SPDX-License-Identifier: MIT */
/* The CPU by what it says of itself: on x86-64 the instruction CPUID, elsewhere what the kernel hands to programs. */
#include "base/machine/host_cpu.h"

#include <stdio.h>

#ifdef __x86_64__

#include <cpuid.h>

/* Registers of CPUID, EAX to EDX, as bits. */
enum { A = 1, B = 2, C = 4, D = 8 };

/* The leaves that the vendor, the model and the instructions of kernels are read from, and the registers of each that
 * are the same on every core: others number the core itself. Hypervisors answer each in microseconds. */
static const struct {
  unsigned leaf, subleaf, registers;
} leaves[] = {{0x00, 0, A | B | C | D}, {0x01, 0, A | C | D}, {0x07, 0, A | B | C | D},
              {0x07, 1, A | B | C | D}, {0x24, 0, A | B},     {0x80000001, 0, C | D}};

/* The states that the operating system saves, as of AVX's registers. */
static unsigned saved_states(void) {
  unsigned a, b, c, d;
  __cpuid(1, a, b, c, d);
  if ((c & bit_OSXSAVE) == 0)
    return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

void tj_host_cpu_describe(char text[TJ_HOST_CPU_SIZE]) {
  const unsigned first_extended = 0x80000000, last = __get_cpuid_max(0, NULL),
                 last_extended = __get_cpuid_max(first_extended, NULL);
  int length = snprintf(text, TJ_HOST_CPU_SIZE, "x86-64 %x", saved_states());
  for (unsigned i = 0; i < sizeof leaves / sizeof *leaves; i++) {
    unsigned value[4] = {0};
    if (leaves[i].leaf <= (leaves[i].leaf < first_extended ? last : last_extended))
      __cpuid_count(leaves[i].leaf, leaves[i].subleaf, value[0], value[1], value[2], value[3]);
    for (unsigned r = 0; r < 4; r++)
      if ((leaves[i].registers >> r & 1) != 0)
        length += snprintf(text + length, TJ_HOST_CPU_SIZE - (size_t)length, " %x", value[r]);
  }
}

uint32_t tj_host_cpu_register_bytes(void) {
  return __builtin_cpu_supports("avx512bw") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
}

#else

#include <sys/auxv.h>

void tj_host_cpu_describe(char text[TJ_HOST_CPU_SIZE]) {
  const char *platform = (const char *)getauxval(AT_PLATFORM);
  snprintf(text, TJ_HOST_CPU_SIZE, "%.64s %lx %lx", platform != NULL ? platform : "", getauxval(AT_HWCAP),
           getauxval(AT_HWCAP2));
}

uint32_t tj_host_cpu_register_bytes(void) {
  return 16;
}

#endif
