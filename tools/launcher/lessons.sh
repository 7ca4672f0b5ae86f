# lessons.sh: ./heed lesson and ./heed exercise. lessons/05_autograd has lesson.cpp and its
# exercises, of which exercise_b.cpp is 05b.
# shellcheck shell=sh disable=SC2030,SC2031,SC2154  # variables of the script heed and of loops

# The files of the lessons ($1 is lesson), or of the exercises, in order.
files_of() (
  LC_ALL=C
  for file in "$root"/lessons/[0-9][0-9]*_*/"$1".cpp; do
    for each in "$file" "${file%.cpp}"_?.cpp; do [ ! -f "$each" ] || printf '%s\n' "$each"; done
  done
)

# Prints number, name and topic of each file, from its first line: "// 01 averaging: topic."
list_files() {
  files_of "$1" | while read -r file; do
    awk 'NR == 1 {
      title = substr($0, 4, index($0, ":") - 4)
      space = index(title, " ")
      printf "  %-3s %-27s%s\n", substr(title, 1, space - 1), substr(title, space + 1), \
        substr($0, index($0, ":") + 1)
      exit
    }' "$file"
  done
}

# Prints number_name of each file: 05b_wrong_axis.
names_of() {
  files_of "$1" | while read -r file; do
    sed -n '1s|^// \([^ ]*\) \([^:]*\):.*|\1_\2|p' "$file"
  done
}

# 2, 02, naive_attention and 02_naive_attention are the same lesson; 5b and 05b the same exercise.
find_in() {
  for name in $(names_of "$1"); do
    number=${name%%_*}
    case $2 in "$name" | "${name#*_}" | "$number" | "${number#0}") printf '%s' "$name"; return ;; esac
  done
}

# Sets `name` to the full name of lesson or exercise $2, `number` to its number, and `folder` to its
# folder, or fails.
name_of() {
  name=$(find_in "$1" "$2")
  [ -n "$name" ] || fail 2 "$1 $2 does not exist; $(names_of "$1" | sed 'p; s/^[^_]*_//' |
    did_you_mean "$2" "./heed $1, which lists all")"
  number=${name%%_*}
  case $1 in
    lesson) folder=$root/lessons/$name ;;
    exercise) folder=$(echo "$root/lessons/${number%[a-z]}"_*) ;;
  esac
}

# The file of an exercise, by name_of's number, without .cpp: exercise or exercise_b.
exercise_file() {
  case $number in *[a-z]) printf 'exercise_%s' "${number#[0-9][0-9]}" ;; *) printf 'exercise' ;; esac
}

# Prints the glossary: term, lesson that defines the term, and its definition.
list_words() {
  awk -F ' *[|] *' '/^[^#]/ { printf "%-28s  %s  %s\n", $1, $2, $3 }' "$root/lessons/glossary.txt"
}

run_lesson() {
  case ${1-} in
    '') list_files lesson; return 0 ;;
    --words) list_words; return 0 ;;
  esac
  name_of lesson "$1"
  shift
  case ${1-} in
    --answers)
      [ -f "$folder/answers.md" ] || fail 1 "lesson $name has no file answers.md"
      cat "$folder/answers.md"
      return 0 ;;
    --write)
      unset HEED_BRIEF
      make_target heed_book_program "$name"
      exec "$build/heed" book "$name" --readme ;;
    --all)
      export HEED_APPENDICES=1
      shift ;;
    --guess)
      [ -n "${2-}" ] || fail 2 "--guess needs a number, such as --guess 2.5"
      export HEED_GUESS="$2"
      shift 2 ;;
    --double)
      name=${name}_double
      shift ;;
    -?*) unknown_option lesson "$1" ;;
  esac
  make_target "$name"
  exec "$build/lessons/$name" "$@"
}

run_exercise() {
  [ -n "${1-}" ] || { list_files exercise; return 0; }
  name_of exercise "$1"
  solution=$folder/$(exercise_file)_solution.cpp
  case ${2-} in
    --hint) hint "${3:-1}" ;;
    --solution)
      [ -f "$solution" ] || fail 1 "exercise $name has no file ${solution##*/}"
      awk '/Your part ends/ { inside = 0 } inside; /Your part begins/ { inside = 1 }' "$solution" ;;
    '') check_exercise ;;
    -*) unknown_option exercise "$2" ;;
    *) check_file "$2" ;;
  esac
}

# Prints hint number $1, and how to get the next one.
hint() {
  hints=$(awk -v exercise="${number#0}" '/^## / { inside = $3 == exercise }
    inside && sub(/^[0-9]+[.] /, "")' "$folder/hints.md")
  count=$(printf '%s\n' "$hints" | wc -l)
  case $1 in '' | 0 | *[!0-9]* | ???*) fail 2 "hint $1 does not exist; there are $((count))" ;; esac
  [ "$1" -le "$count" ] || fail 2 "hint $1 does not exist; there are $((count))"
  printf '%s\n' "$hints" | sed -n "${1}p"
  [ "$1" = $((count)) ] || printf '(--hint %s prints the next one)\n' $(($1 + 1))
}

check_exercise() {
  make_target "exercise_$number"
  "$build/lessons/exercise_$number" && return 0
  status=$?
  [ $status -le 128 ] || [ $status = 130 ] ||
    printf 'heed: error: signal %s has ended the program; ./heed debug exercise %s stops where it happens\n' \
      $((status - 128)) "${number#0}" >&2
  add="add --hint for a hint"
  [ ! -f "$solution" ] || add="$add, --solution for a solution"
  printf '%s\n' "Your part is in ${folder#"$root"/}/$(exercise_file).cpp; ./heed exercise ${number#0} checks it" \
    "again; $add." >&2
  return 1
}

# Checks another file than the reader's. The compiler reads a file that includes it, so that errors
# name the file and its lines.
check_file() {
  [ -f "$1" ] || fail 2 "$1: is not a file"
  file=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/${1##*/}
  mkdir -p "$build/submissions" || fail 1 "$build/submissions: cannot be created"
  printf '#include "%s"\n' "$file" >"$build/submissions/$number.cpp"
  make_target "submission_$number"
  "$build/lessons/submission_$number"
}
