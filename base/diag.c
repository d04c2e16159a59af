/* Looking up diag.def by code. */
#include "base/diag.h"

const char *tj_code_title(tj_problem_code code) {
  switch (code) {
#define DIAG(number, name, title, note)                                                                              \
  case TJ_##name:                                                                                                    \
    return title;
#include "base/diag.def"
#undef DIAG
  }
  return 0;
}

const char *tj_code_note(tj_problem_code code) {
  switch (code) {
#define DIAG(number, name, title, note)                                                                              \
  case TJ_##name:                                                                                                    \
    return note;
#include "base/diag.def"
#undef DIAG
  }
  return 0;
}
