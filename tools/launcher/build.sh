# build.sh: configures and builds heed.
# shellcheck shell=sh disable=SC2030,SC2031,SC2154  # variables of the script heed and of loops

# Reads the output of a build and writes it into the log. If the build takes more than three seconds,
# prints how many of the files are done: on a terminal in one line that changes, otherwise every 30 s.
# It does not estimate the time left: some files take ten times as long as others.
show_progress() {
  start=$(date +%s) next=$((start + 3)) shown=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in '['[0-9]*/[0-9]*']'*) ;; *) continue ;; esac
    now=$(date +%s)
    [ "$now" -ge "$next" ] || continue
    made=${line%%/*} all=${line%%]*}
    made=${made#?} all=${all#*/}
    if [ -t 2 ]; then next=$((now + 1)) before='\r' after='\033[K' shown=yes
    else next=$((now + 30)) before='' after='\n'; fi
    printf "${before}heed: building: %s of %s files after %s s$after" "$made" "$all" $((now - start)) >&2
  done >"$build/launcher.log"
  [ -z "$shown" ] || printf '\r\033[K' >&2  # clears the line
}

# Runs a build command. Prints nothing but the compiler's warnings.
quietly() {
  status=$({ { "$@" 2>&1 && echo 0 >&3 || echo 1 >&3; } | show_progress; } 3>&1)
  [ "$status" = 0 ] || return 1
  ! grep -q 'warning:' "$build/launcher.log" || show_log
}

# Prints the output of the last build command, without the lines of what succeeded.
show_log() {
  grep -v -e '^\[[0-9]*/[0-9]*\] ' -e 'Re-checking globbed' -e '^[^ ]*ccache ' -e '^[^ ]*/c++ ' "$build/launcher.log" | tail -n 200 >&2 || :
}

# Ends with the output of a failed build command, and with an error that says what failed.
fail_to_build() {
  show_log
  fail 1 "$1: $(first_error)"
}

# Prints the first error in the log of a failed build, or the log's last line.
first_error() {
  awk '
    header != "" && $0 != "" { sub(/^ +/, ""); print header " " $0; done = 1; exit }
    /^CMake Error/ { header = $0 }
    /(^|[^[:alnum:]_-])error: |undefined reference to/ { print; done = 1; exit }
    $0 != "" { last = $0 }
    END { if (!done) print last }' "$build/launcher.log"
}

# Waits until no other launcher builds in the same folder. File descriptor 9 holds the lock until
# unlock_build. Without the program flock, as on macOS, there is no lock.
lock_build() {
  command -v flock >/dev/null 2>&1 || return 0
  exec 9>"$build/launcher.lock"
  flock -n 9 && return 0
  [ -n "$mpi_rank" ] ||
    printf 'heed: waiting for another ./heed, which is building\n' >&2
  flock 9 || :
}

unlock_build() { exec 9>&-; }

# The source folder that the build folder was configured for. A copied or moved project has a build
# folder that would build the sources of the original.
configured_for() {
  sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt" 2>/dev/null || :
}

physical() { (cd "$1" 2>/dev/null && pwd -P) || :; }

configure() {
  source=$(configured_for)
  if [ -n "$source" ] && [ "$(physical "$source")" != "$(physical "$root")" ]; then
    printf 'heed: the build folder belongs to %s; configuring it for %s\n' "$source" "$root" >&2
    rm -rf "$build/build.ninja" "$build/CMakeCache.txt" "$build/CMakeFiles"
  fi
  [ ! -f "$build/build.ninja" ] || return 0
  printf 'heed: building %sfor the first time\n' "$variant" >&2
  (cd "$root" && quietly cmake --preset "${build##*/}") ||
    fail_to_build "cmake failed to configure the build"
}

variant=  # "the debug version ", which has a build folder of its own

# Makes CMake build heed_mpi too.
mpi=
enable_mpi() {
  [ -n "$mpi" ] || return 0
  grep -q '^HEED_MPI:BOOL=ON' "$build/CMakeCache.txt" 2>/dev/null && return 0
  quietly cmake -DHEED_MPI=ON "$build" && return 0
  show_log
  message=$(first_error)
  cmake -DHEED_MPI=OFF "$build" >/dev/null 2>&1 || :
  fail 1 "heed_mpi cannot be built; ./heed setup --mpi installs MPI: $message"
}

# Builds again if the linker did not find a function of heed: an edited lesson may need more of the
# library than the parts that it included when CMake was configured (lessons/CMakeLists.txt).
build_again() {
  grep -q 'undefined reference to .heed::' "$build/launcher.log" || return 1
  grep -q '^HEED_ALL_WINGS:BOOL=ON' "$build/CMakeCache.txt" 2>/dev/null && return 1
  quietly cmake -DHEED_ALL_WINGS=ON "$build" && quietly cmake --build "$build" --target "$@"
}

installed=  # whether ./heed setup has installed the packages already

# Ranks that mpirun has started install nothing: they would do it all at once.
make_target() {
  [ -n "$mpi_rank$installed" ] || install_missing
  mkdir -p "$build" || fail 1 "$build: cannot be created"
  lock_build
  configure
  enable_mpi
  quietly cmake --build "$build" --target "$@" || build_again "$@" ||
    fail_to_build "the build failed"
  unlock_build
}
