# words.sh: the words of the command line: their help, misspelt ones, and their completion.
# shellcheck shell=sh disable=SC2030,SC2031,SC2154  # variables of the script heed and of loops

# Prints the help of a command of the script heed, or of a program that is built.
help_of() {
  if [ -x "$root/build/release/commands/$1" ]; then "$root/build/release/commands/$1" --help
  else awk -v name="$1" '/^== / { inside = $2 == name; next } inside' "$launcher/help.txt"; fi
}

# Prints the first line of stdin that the word abbreviates, otherwise the nearest one, if one is near:
# as edit_distance() and nearest() in src/commands/similar.cpp.
nearest() {
  WORD=$1 awk '
    function distance(a, b,   d, i, j, least) {
      for (i = 0; i <= length(a); i++)
        for (j = 0; j <= length(b); j++) {
          least = d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1))
          if (d[i - 1, j] + 1 < least) least = d[i - 1, j] + 1
          if (d[i, j - 1] + 1 < least) least = d[i, j - 1] + 1
          if (i > 1 && j > 1 && substr(a, i - 1, 2) == substr(b, j, 1) substr(b, j - 1, 1) &&
              d[i - 2, j - 2] + 1 < least) least = d[i - 2, j - 2] + 1
          d[i, j] = i && j ? least : i + j
        }
      return d[length(a), length(b)]
    }
    BEGIN {
      word = ENVIRON["WORD"]
      least = int(length(word) / 3) + 1
      if (least < 2) least = 2
      if (length(word) > 40) exit
    }
    length(word) > 2 && index($0, word) == 1 { best = $0; exit }
    (far = distance(word, $0)) < least { least = far; best = $0 }
    END { print best }'
}

# Prints a question about the line of stdin that word $1 may mean, otherwise the advice to see $2.
did_you_mean() {
  similar=$(nearest "$1")
  if [ -n "$similar" ]; then printf 'did you mean %s?' "${3-}$similar${3-}"; else printf 'see %s' "$2"; fi
}

options_of() { help_of "$1" | sed -n 's/^  \(-h, \)*\(--[a-z-]*\).*/\2/p'; }

unknown_option() {
  fail 2 "unknown option $2; $(options_of "$1" | did_you_mean "$2" "./heed $1 --help")"
}

commands() { help_of heed | sed -n 's|^  ./heed \([a-z]*\).*|\1|p'; }

# Prints what may follow the words of a command line: the commands, the names of lessons or exercises,
# the values of the last option, or the options of the command.
words_after() {
  [ $# -gt 0 ] || { commands; return; }
  case $1,$# in
    lesson,1 | exercise,1) names_of "$1" ;;
    debug,1 | book,1) names_of lesson ;;
    completion,1) printf '%s\n' bash zsh ;;
  esac
  command=$1
  for last; do :; done
  help_of "$command" | awk -v option="  $last " '
    index($0, option) == 1 && substr($0, length(option) + 1) ~ /^[^ ]/ {
      takes_value = 1
      if (gsub(/[|]/, "\n", $2)) values = $2
    }
    /^  (-h, )?--/ { sub(/-h, /, ""); options = options $1 "\n" }
    END { print takes_value ? values : options }'
}

# Prints the completion for a shell. It calls `heed completion words`, so that it knows the options of
# the programs as they are built.
complete_for() {
  case ${1-} in
    bash) cat <<'TEXT' ;;
_heed() {
  COMPREPLY=($(compgen -W "$("$1" completion words "${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "$2"))
}
complete -o default -F _heed heed
TEXT
    zsh) cat <<'TEXT' ;;
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
_heed() {
  compadd -- $("${(Q)words[1]}" completion words "${(@)words[2,CURRENT-1]}") || _files
}
compdef _heed heed
TEXT
    words) shift; words_after "$@" ;;
    *) fail 2 "completion '${1-}': must be bash or zsh" ;;
  esac
}
