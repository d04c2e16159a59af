# SPDX-License-Identifier: MIT
# Completions of tilejit for bash: asks `tilejit complete` (tools/help/complete.h).

# The words up to the cursor, as the shell will have them: bash breaks them also at : and =, and keeps quotes.
_tilejit_words() {
  local rest=$COMP_LINE word i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $rest == [[:blank:]]* ]]; then
      words+=("$word")
    else
      words[-1]+=$word
    fi
    rest=${rest#*"$word"}
  done
}

_tilejit_unquoted() {
  case $1 in
    \'*\' | \"*\") printf '%s' "${1:1:-1}" ;;
    *) printf '%s' "${1//\\/}" ;;
  esac
}

# Of a word that bash breaks, it completes the last part.
_tilejit() {
  local words line kept part=${COMP_WORDS[COMP_CWORD]} i
  _tilejit_words
  [[ $part == *[!:=]* ]] || part=
  kept=${words[-1]%"$part"}
  for i in "${!words[@]}"; do
    words[i]=$(_tilejit_unquoted "${words[i]}")
  done
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$kept"}")
    fi
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}

complete -F _tilejit tilejit
