/* SPDX-License-Identifier: MIT */
/* Text to tokens: whitespace and comments vanish, integers get their value, and what no token begins with is
 * reported. Which tokens may follow each other is the parser's business. */
#include "frontend/text/lexer.h"

#include "base/text.h"
#include "frontend/text/printed.h"

#include <string.h>

const char *tj_token_description(tj_token_kind kind) {
  static const char *const descriptions[] = {
#define TOKEN(name, description) description,
#define KEYWORD(name, text) "the keyword '" text "'",
#define MARK(name, character) #character,
#include "frontend/text/token.def"
#undef TOKEN
#undef KEYWORD
#undef MARK
  };
  return descriptions[kind];
}

/* The kind of the mark that is this character; END when there is none. */
static tj_token_kind mark_of(unsigned char c) {
  static const unsigned char marks[128] = {
#define TOKEN(name, description)
#define KEYWORD(name, text)
#define MARK(name, character) [character] = TJ_TOKEN_##name,
#include "frontend/text/token.def"
#undef TOKEN
#undef KEYWORD
#undef MARK
  };
  return c < 128 ? (tj_token_kind)marks[c] : TJ_TOKEN_END;
}

/* The kind of a word: a keyword or a name. */
static tj_token_kind word_kind(const char *word, size_t length) {
#define TOKEN(name, description)
#define KEYWORD(name, text)                                                                                          \
  if (length == sizeof text - 1 && memcmp(word, text, sizeof text - 1) == 0)                                         \
    return TJ_TOKEN_##name;
#define MARK(name, character)
#include "frontend/text/token.def"
#undef TOKEN
#undef KEYWORD
#undef MARK
  return TJ_TOKEN_NAME;
}

bool tj_is_reserved(const char *name) {
  return word_kind(name, strlen(name)) != TJ_TOKEN_NAME;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value of a digit in a base of at most 16; -1 when it is none. */
static int digit_value(char c, int base) {
  int value = is_digit(c)              ? c - '0'
              : (c >= 'a' && c <= 'f') ? c - 'a' + 10
              : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                       : 99;
  return value < base ? value : -1;
}

/* The byte at `offset` from the next one; zero beyond the end. */
static char peek(const tj_lexer *lexer, uint32_t offset) {
  return offset < lexer->length - lexer->position ? lexer->text[lexer->position + offset] : '\0';
}

/* Decodes the character at `bytes`. Returns how many bytes it takes, or 0 when they are not UTF-8. */
static uint32_t decode(const char *bytes, size_t length, uint32_t *character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char first = (unsigned char)bytes[0];
  uint32_t count = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || count > length)
    return 0;
  uint32_t value = count == 1 ? first : first & (0x7fu >> count);
  for (uint32_t i = 1; i < count; i++) {
    unsigned char next = (unsigned char)bytes[i];
    if ((next & 0xc0) != 0x80)
      return 0;
    value = value << 6 | (next & 0x3f);
  }
  if (value < least[count] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
    return 0;
  *character = value;
  return count;
}

static void check_encoding(tj_job *job, const char *text, uint32_t length) {
  uint32_t step;
  for (uint32_t i = 0; i < length; i += step) {
    uint32_t character = 0;
    step = decode(text + i, length - i, &character);
    tj_span span = {i, i + 1};
    if (step == 0)
      tj_fail_at(job, span, TJ_NOT_UTF8, "the byte 0x%02x is not UTF-8", (unsigned char)text[i]);
    if (character == 0)
      tj_fail_at(job, span, TJ_NOT_UTF8, "a zero byte in the text");
  }
}

tj_lexer tj_lexer_begin(tj_job *job) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  const tj_source *source = &job->source;
  if (source->length > TJ_MAX_SOURCE)
    tj_fail_at(job, TJ_NOWHERE, TJ_SOURCE_LIMIT, "the source text has %zu bytes", source->length);
  tj_lexer lexer = {job, source->text, (uint32_t)source->length, 0, false};
  check_encoding(job, lexer.text, lexer.length);
  if (lexer.length >= 3 && memcmp(lexer.text, byte_order_mark, 3) == 0)
    lexer.position = 3;
  tj_span part = tj_printed_part(lexer.text + lexer.position, lexer.length - lexer.position);
  lexer.length = lexer.position + part.end;
  lexer.position += part.begin;
  return lexer;
}

static void skip_line(tj_lexer *lexer) {
  const char *newline = memchr(lexer->text + lexer->position, '\n', lexer->length - lexer->position);
  lexer->position = newline != NULL ? (uint32_t)(newline - lexer->text) : lexer->length;
}

/* Passes over what stands between the marks of a comment of C. */
static void skip_block(tj_lexer *lexer) {
  uint32_t begin = lexer->position;
  for (lexer->position += 2; peek(lexer, 0) != '*' || peek(lexer, 1) != '/'; lexer->position++) {
    if (lexer->position == lexer->length)
      tj_fail_at(lexer->job, (tj_span){begin, begin + 2}, TJ_UNEXPECTED_TOKEN, "a comment that does not end");
  }
  lexer->position += 2;
}

static void skip_space_and_comments(tj_lexer *lexer) {
  while (lexer->position < lexer->length) {
    char c = lexer->text[lexer->position];
    if (c == '#' || (c == '/' && peek(lexer, 1) == '/' && !lexer->is_after_value)) {
      skip_line(lexer);
    } else if (c == '/' && peek(lexer, 1) == '*') {
      skip_block(lexer);
    } else if (is_space(c)) {
      lexer->position++;
    } else {
      return;
    }
  }
}

/* Skips letters, digits and underscores. */
static void skip_word(tj_lexer *lexer) {
  while (is_word_character(peek(lexer, 0)))
    lexer->position++;
}

/* Skips a name, with the scopes of C++ in front of it: Problem::kBlockSize. */
static void skip_name(tj_lexer *lexer) {
  skip_word(lexer);
  while (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && (is_letter(peek(lexer, 2)) || peek(lexer, 2) == '_')) {
    lexer->position += 2;
    skip_word(lexer);
  }
}

enum { SHOWN_CHARACTERS = 40 };

/* Fails for the bytes from `begin` to the next one to read. */
static _Noreturn void fail_number(const tj_lexer *lexer, uint32_t begin, const char *what) {
  uint32_t length = lexer->position - begin;
  int shown = (int)(length < SHOWN_CHARACTERS ? length : SHOWN_CHARACTERS);
  tj_fail_at(lexer->job, (tj_span){begin, lexer->position}, TJ_BAD_NUMBER, "'%.*s%s' %s", shown, lexer->text + begin,
             length > SHOWN_CHARACTERS ? "…" : "", what);
}

static bool skip_digits(tj_lexer *lexer) {
  uint32_t begin = lexer->position;
  while (is_digit(peek(lexer, 0)))
    lexer->position++;
  return lexer->position > begin;
}

/* Skips what begins with e or E; nothing where that is not there. */
static bool skip_exponent(tj_lexer *lexer) {
  if ((peek(lexer, 0) | 0x20) != 'e')
    return true;
  lexer->position += peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 2 : 1;
  return skip_digits(lexer);
}

/* Reads on from the point, or from the e, of a decimal number. */
static tj_token lex_fraction(tj_lexer *lexer, uint32_t begin, bool is_decimal) {
  bool has_point = peek(lexer, 0) == '.';
  lexer->position += has_point ? 1 : 0;
  bool is_whole = (!has_point || skip_digits(lexer)) && skip_exponent(lexer) && !is_word_character(peek(lexer, 0));
  if (!is_decimal || !is_whole) {
    skip_word(lexer);
    tj_note(lexer->job, "a decimal number is written 0.5, 2.5e-3 or 1e5; a range is written 0..9, with two dots");
    fail_number(lexer, begin, "is not a number");
  }
  return (tj_token){TJ_TOKEN_DECIMAL, {begin, lexer->position}, 0};
}

static const uint64_t magnitude_limit = (uint64_t)1 << 63;

/* Adds a digit to `value`; false when the sum exceeds 2^63. */
static bool add_digit(uint64_t *value, int base, int digit) {
  uint64_t result;
  if (__builtin_mul_overflow(*value, (uint64_t)base, &result) ||
      __builtin_add_overflow(result, (uint64_t)digit, &result) || result > magnitude_limit)
    return false;
  *value = result;
  return true;
}

/* Reads a number that begins at `begin` with an underscore or a digit. */
static tj_token lex_number(tj_lexer *lexer, uint32_t begin) {
  uint32_t digits = begin + (lexer->text[begin] == '_');
  lexer->position = begin;
  int base = 10;
  if (peek(lexer, 0) == '0' && (peek(lexer, 1) | 0x20) == 'x') {
    base = 16;
    digits = begin + 2;
  }
  skip_word(lexer);
  if (digits == lexer->position)
    fail_number(lexer, begin, "has no digits");
  uint64_t value = 0;
  bool fits = true;
  for (uint32_t i = digits; i < lexer->position; i++) {
    int digit = digit_value(lexer->text[i], base);
    if (digit < 0 && i > digits && (lexer->text[i] | 0x20) == 'e') {
      lexer->position = i;
      return lex_fraction(lexer, begin, digits == begin);
    }
    if (digit < 0)
      fail_number(lexer, begin, "is neither an integer nor a name");
    fits = fits && add_digit(&value, base, digit);
  }
  if (peek(lexer, 0) == '.' && peek(lexer, 1) != '.')
    return lex_fraction(lexer, begin, digits == begin);
  if (!fits)
    fail_number(lexer, begin, "is too large");
  return (tj_token){TJ_TOKEN_INTEGER, {begin, lexer->position}, value};
}

static tj_token take(tj_lexer *lexer, tj_token_kind kind, uint32_t length) {
  tj_token token = {kind, {lexer->position, lexer->position + length}, 0};
  lexer->position += length;
  return token;
}

/* Whether the text from the next byte on begins so. */
static bool begins_with(const tj_lexer *lexer, const char *prefix) {
  size_t length = strlen(prefix);
  return length <= lexer->length - lexer->position && memcmp(lexer->text + lexer->position, prefix, length) == 0;
}

/* How many bytes from the next one on are a namespace in front of a name, or typename, as C++ or Python writes it; 0
 * for none. */
static uint32_t namespace_length(const tj_lexer *lexer) {
  static const char *const namespaces[] = {
      "cute::", "cutlass::", "GMMA::", "UMMA::", "std::", "ck_tile::", "ck::", "detail::", "cute.", "typename "};
  for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
    uint32_t length = (uint32_t)strlen(namespaces[i]);
    char next = begins_with(lexer, namespaces[i]) ? peek(lexer, length) : '\0';
    if (is_letter(next) || next == '_')
      return length;
  }
  return 0;
}

/* Whether the word from `begin` to the next byte is one of `words`, which spaces separate. */
static bool is_one_of(const tj_lexer *lexer, uint32_t begin, const char *words) {
  size_t length = lexer->position - begin;
  for (const char *word = words; word != NULL; word = strchr(word, ' ')) {
    word += *word == ' ';
    if (strcspn(word, " ") == length && memcmp(lexer->text + begin, word, length) == 0)
      return true;
  }
  return false;
}

/* What CuTe calls a pointer where it prints one; and C++ its integers. */
static const char pointers[] = "smem_ptr gmem_ptr rmem_ptr tmem_ptr ptr";
static const char integer_types[] =
    "int unsigned long size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t";

/* Reads [16b](unset), or [16b](0x7f00), behind a pointer's word that begins at `begin`, perhaps with the _ that joins
 * it to a swizzle. False where that is not there. */
static bool lex_pointer(tj_lexer *lexer, uint32_t begin, tj_token *token) {
  uint64_t bits = 0;
  uint32_t offset = 1;
  if (peek(lexer, 0) != '[' || !is_one_of(lexer, begin + (lexer->text[begin] == '_'), pointers))
    return false;
  for (; is_digit(peek(lexer, offset)); offset++)
    if (!add_digit(&bits, 10, digit_value(peek(lexer, offset), 10)))
      return false;
  if (offset == 1 || peek(lexer, offset) != 'b' || peek(lexer, offset + 1) != ']' || peek(lexer, offset + 2) != '(')
    return false;
  for (offset += 3; is_word_character(peek(lexer, offset));)
    offset++;
  if (peek(lexer, offset) != ')' || bits > INT64_MAX)
    return false;
  lexer->position += offset + 1;
  *token = (tj_token){TJ_TOKEN_POINTER, {begin, lexer->position}, bits};
  return true;
}

/* Reads {42} behind the name of a C++ type of integers that begins at `begin`. False where that is not there. */
static bool lex_typed_integer(tj_lexer *lexer, uint32_t begin, tj_token *token) {
  uint64_t value = 0;
  uint32_t offset = 1;
  if (peek(lexer, 0) != '{' || !is_one_of(lexer, begin, integer_types))
    return false;
  for (; is_digit(peek(lexer, offset)); offset++)
    if (!add_digit(&value, 10, digit_value(peek(lexer, offset), 10)))
      return false;
  if (offset == 1 || peek(lexer, offset) != '}')
    return false;
  lexer->position += offset + 1;
  *token = (tj_token){TJ_TOKEN_INTEGER, {begin, lexer->position}, value};
  return true;
}

/* Passes over the numbers behind data= and a line end, as CuTe's DSL prints them with a tensor, up to the parenthesis
 * that closes it. */
static void skip_data(tj_lexer *lexer, uint32_t begin) {
  uint32_t depth = 0, offset = 1;
  if (!begins_with(lexer, "=\n") || !is_one_of(lexer, begin, "data"))
    return;
  for (; offset < lexer->length - lexer->position; offset++) {
    char c = peek(lexer, offset);
    if (c == '(' || c == '[')
      depth++;
    else if ((c == ')' || c == ']') && depth > 0)
      depth--;
    else if (c == ')')
      break;
  }
  lexer->position += offset;
}

/* Reads an integer that CuTe's DSL does not know: ?, ?{i64}, ?{div=8}, ?{i64 div=8}. */
static tj_token lex_dynamic(tj_lexer *lexer) {
  uint32_t begin = lexer->position++;
  uint64_t multiple = 1;
  if (peek(lexer, 0) != '{')
    return (tj_token){TJ_TOKEN_DYNAMIC, {begin, lexer->position}, multiple};
  lexer->position++;
  bool fits = true, has_width = peek(lexer, 0) == 'i';
  if (has_width)
    skip_word(lexer);
  lexer->position += has_width && peek(lexer, 0) == ' ';
  if (begins_with(lexer, "div=")) {
    lexer->position += 4;
    for (multiple = 0; is_digit(peek(lexer, 0)); lexer->position++)
      fits = fits && add_digit(&multiple, 10, digit_value(peek(lexer, 0), 10));
  }
  bool is_closed = peek(lexer, 0) == '}' && fits && multiple > 0 && multiple <= INT64_MAX;
  lexer->position += lexer->position < lexer->length;
  if (is_closed)
    return (tj_token){TJ_TOKEN_DYNAMIC, {begin, lexer->position}, multiple};
  tj_note(lexer->job, "an integer that is known at run time only is written ?, ?{i64}, ?{div=8} or ?{i64 div=8}");
  fail_number(lexer, begin, "is no integer");
}

/* The truth that a word of C++ or Python stands for; -1 for another word. */
static int truth_of(const tj_lexer *lexer, uint32_t begin) {
  return is_one_of(lexer, begin, "true True") ? 1 : is_one_of(lexer, begin, "false False") ? 0 : -1;
}

/* Reads what begins with a letter or an underscore: a keyword, a name, _, _42, _-, a printed pointer or int{42}. */
static tj_token lex_word(tj_lexer *lexer) {
  uint32_t begin = lexer->position;
  if (peek(lexer, 0) == '_' && is_digit(peek(lexer, 1)))
    return lex_number(lexer, begin);
  if (peek(lexer, 0) == '_' && peek(lexer, 1) == '-' && is_digit(peek(lexer, 2)))
    return take(lexer, TJ_TOKEN_STATIC_MINUS, 2);
  skip_name(lexer);
  tj_token token;
  if (lex_pointer(lexer, begin, &token) || lex_typed_integer(lexer, begin, &token))
    return token;
  uint32_t end = lexer->position, length = end - begin;
  const char *word = lexer->text + begin;
  const int truth = truth_of(lexer, begin);
  if (truth >= 0)
    return (tj_token){TJ_TOKEN_INTEGER, {begin, end}, (uint64_t)truth};
  skip_data(lexer, begin);
  tj_token_kind kind = length == 1 && *word == '_' ? TJ_TOKEN_UNDERSCORE : word_kind(word, length);
  return (tj_token){kind, {begin, end}, 0};
}

/* Reads what begins with a double quote, up to the next one in the line. False where there is none. */
static bool lex_string(tj_lexer *lexer, tj_token *token) {
  const char *text = lexer->text + lexer->position + 1;
  size_t rest = lexer->length - lexer->position - 1, length = 0;
  while (length < rest && text[length] != '"' && text[length] != '\n')
    length++;
  if (length == rest || text[length] == '\n')
    return false;
  *token = take(lexer, TJ_TOKEN_STRING, (uint32_t)length + 2);
  return true;
}

/* What to write instead of a character that is often meant otherwise; NULL when there is no advice. */
static const char *advice_for(uint32_t character) {
  static const struct {
    uint32_t character;
    const char *advice;
  } rows[] = {
      {'.',
       "there are no members; a function takes the object, as in size(L); a range is written 0..9, with two dots"},
      {'"', "a text in double quotes ends in its line, as in import \"atoms\""},
      {'\'', "names have no primes"},
      {'~', "invert the low n bits with x ^ ((1 << n) - 1)"},
      {'\\', "a line needs no continuation mark: newlines are free"},
      {0x00d7, "multiply with *"},
      {0x00f7, "divide with /"},
      {0x2013, "the minus sign is -"},
      {0x2212, "the minus sign is -"},
      {0x2218, "composition is written with the letter o"},
      {0x2295, "exclusive or is ^"},
      {0x27e8, "tilers are written <A, B>"},
      {0x27e9, "tilers are written <A, B>"},
      {0x00a0, "this is a no-break space; use a plain space"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].character == character)
      return rows[i].advice;
  return NULL;
}

static _Noreturn void fail_character(const tj_lexer *lexer) {
  const char *bytes = lexer->text + lexer->position;
  uint32_t character = 0;
  uint32_t length = decode(bytes, lexer->length - lexer->position, &character);
  tj_span span = {lexer->position, lexer->position + length};
  const char *advice = advice_for(character);
  if (advice != NULL)
    tj_note(lexer->job, "%s", advice);
  if (character < 0x20 || character == 0x7f)
    tj_fail_at(lexer->job, span, TJ_BAD_CHARACTER, "the control character U+%04X", character);
  if (character < 0x7f)
    tj_fail_at(lexer->job, span, TJ_BAD_CHARACTER, "the character '%c' has no meaning here", (char)character);
  tj_fail_at(lexer->job, span, TJ_BAD_CHARACTER, "the character '%.*s' (U+%04X) has no meaning here", (int)length,
             bytes, character);
}

/* How many bytes from the next one on begin an assertion of C++, up to its arguments; 0 for none. */
static uint32_t assertion_length(const tj_lexer *lexer) {
  static const char *const words[] = {"static_assert(", "CUTE_STATIC_ASSERT(", "CUTE_STATIC_ASSERT_V("};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins_with(lexer, words[i]))
      return (uint32_t)strlen(words[i]);
  return 0;
}

/* Passes over an assertion of C++, and the semicolon behind it. False where none begins. */
static bool skip_assertion(tj_lexer *lexer) {
  uint32_t depth = 1, offset = assertion_length(lexer);
  bool is_quoted = false;
  if (offset == 0)
    return false;
  for (; depth > 0 && offset < lexer->length - lexer->position; offset++) {
    char c = peek(lexer, offset);
    is_quoted ^= c == '"';
    depth += !is_quoted && c == '(';
    depth -= !is_quoted && c == ')';
  }
  if (depth > 0)
    return false;
  lexer->position += offset + (peek(lexer, offset) == ';');
  return true;
}

/* Whether a value may end with the token: a // behind it is Python's division, and no comment. */
static bool ends_value(tj_token_kind kind) {
  switch (kind) {
  case TJ_TOKEN_INTEGER:
  case TJ_TOKEN_DECIMAL:
  case TJ_TOKEN_NAME:
  case TJ_TOKEN_UNDERSCORE:
  case TJ_TOKEN_DYNAMIC:
  case TJ_TOKEN_BRACES:
  case TJ_TOKEN_CLOSE_PARENTHESIS:
  case TJ_TOKEN_CLOSE_BRACKET:
  case TJ_TOKEN_GREATER:
    return true;
  default:
    return false;
  }
}

static tj_token lex_token(tj_lexer *lexer) {
  do
    skip_space_and_comments(lexer);
  while (skip_assertion(lexer));
  for (uint32_t length; (length = namespace_length(lexer)) > 0;)
    lexer->position += length;
  if (lexer->position == lexer->length)
    return take(lexer, TJ_TOKEN_END, 0);
  char c = peek(lexer, 0);
  if (is_digit(c))
    return lex_number(lexer, lexer->position);
  if (is_letter(c) || c == '_')
    return lex_word(lexer);
  tj_token string;
  if (c == '"' && lex_string(lexer, &string))
    return string;
  if (c == '.' && peek(lexer, 1) == '.')
    return take(lexer, TJ_TOKEN_RANGE, 2);
  if (c == '{' && peek(lexer, 1) == '}')
    return take(lexer, TJ_TOKEN_BRACES, 2);
  if (c == '?')
    return lex_dynamic(lexer);
  tj_token_kind kind = mark_of((unsigned char)c);
  if (kind == TJ_TOKEN_END)
    fail_character(lexer);
  return take(lexer, kind, 1);
}

tj_token tj_lexer_next(tj_lexer *lexer) {
  tj_token token = lex_token(lexer);
  lexer->is_after_value = ends_value(token.kind);
  return token;
}
