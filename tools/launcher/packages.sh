# packages.sh: the packages that heed needs, their installation, and what ./heed setup says of them.
# shellcheck shell=sh disable=SC2030,SC2031,SC2154  # variables of the script heed and of loops

# Whether one of the arguments is a program on the PATH, an installed header or a file.
is_installed() {
  for probe; do
    case $probe in
      *.h | *.hpp)
        for folder in /usr/include /usr/local/include /opt/homebrew/include "${CONDA_PREFIX-}/include"; do
          for file in "$folder"/$probe; do [ -e "$file" ] && return 0; done
        done ;;
      /*) [ ! -e "$probe" ] || return 0 ;;
      *) command -v "$probe" >/dev/null 2>&1 && return 0 ;;
    esac
  done
  return 1
}

# Calls a function with package, purpose, proofs and loss of each line of packages.txt.
each_package() {
  sed '/^#/d; s/ *| */|/g' "$launcher/packages.txt" |
    while IFS='|' read -r package purpose proofs loss; do "$@"; done
}

has_package() {
  set -f
  # shellcheck disable=SC2086  # the words of $proofs
  set -- $proofs
  set +f
  is_installed "$@"
}

# Whether the command line needs packages of a purpose. LIBXSMM and oneDNN exist for x86-64 only.
is_needed() {
  case $needs,$purpose in
    docs,site | 'test --all,site' | 'test --all,browser') ;;
    docs,* | *,site | *,browser) return 1 ;;
    *,build | *,plots | *,test | 'setup '*,debug) ;;
    *,speed) case $(uname -m 2>/dev/null) in x86_64 | amd64) ;; *) return 1 ;; esac ;;
    *) [ "$purpose" = "$needs" ] ;;
  esac
}

is_required() {
  case $purpose in
    plots | speed | browser) return 1 ;;
    test) [ "$command" = test ] ;;
    debug) [ "$command" = debug ] ;;
    site) [ "$command" = docs ] ;;
  esac
}

print_missing() { ! is_needed || has_package || printf ' %s' "$package"; }
print_missing_required() { ! is_required || print_missing; }

install_missing() {
  command -v apt-get >/dev/null 2>&1 || return 0  # without apt-get, CMake names the missing packages
  missing=$(each_package print_missing) required=$(each_package print_missing_required)
  [ -n "$missing" ] || return 0
  install='apt-get install -y --no-install-recommends'
  line="apt-get update && $install$missing"
  if [ "$(id -u)" != 0 ]; then
    [ -z "$required" ] || fail 1 "some packages are missing; as root, run: $line"
    [ "$command" != setup ] ||
      printf 'heed: note: some packages that heed can do without are missing; as root, run: %s\n' "$line" >&2
    return 0
  fi
  printf 'heed: installing: %s\n' "$line" >&2
  sh -c "$line" >&2 && return 0
  if [ "$required" = "$missing" ] || { [ -n "$required" ] && ! sh -c "$install$required" >&2; }; then
    fail 1 "the packages could not be installed; is there a network?"
  fi
  printf 'heed: note: some packages that heed can do without are missing:%s\n' \
    "$(each_package print_missing)" >&2
}

# Prints the version of the package, that it was found, or what is lost without it.
print_found() {
  if has_package; then found=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || found=found
  else found="not found: $loss"; fi
  printf '  %-20s %s\n' "$package" "$found"
}

# Prints what a bug report needs to know about the machine.
report() {
  printf 'heed %s on %s, %s cores%s\n' "$(version)" "$(uname -srm 2>/dev/null)" \
    "$(getconf _NPROCESSORS_ONLN 2>/dev/null)" \
    "$(sed -n '/^model name/ { s/.*: /, /p; q; }' /proc/cpuinfo 2>/dev/null)"
  c++ --version 2>/dev/null | sed -n 1p
  each_package print_found
}
