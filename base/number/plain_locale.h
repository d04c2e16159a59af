/* SPDX-License-Identifier: MIT */
/* Numbers with a point: between the two calls, the thread's locale is C, whatever locale a program has set. Where
 * there is no memory for that, it stays as it was. */
#ifndef TJ_BASE_PLAIN_LOCALE_H
#define TJ_BASE_PLAIN_LOCALE_H

#include <locale.h>
#include <stdlib.h>

typedef struct {
  locale_t plain, before;
} tj_plain_locale;

static inline tj_plain_locale tj_plain_locale_begin(void) {
  const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  return (tj_plain_locale){plain, uselocale(plain)};
}

static inline void tj_plain_locale_end(tj_plain_locale locale) {
  uselocale(locale.before);
  if (locale.plain != (locale_t)0)
    freelocale(locale.plain);
}

/* The nearest double, as strtod reads one in that locale. `end` may be NULL. */
static inline double tj_read_decimal(const char *text, char **end) {
  const tj_plain_locale locale = tj_plain_locale_begin();
  const double number = strtod(text, end);
  tj_plain_locale_end(locale);
  return number;
}

#endif
