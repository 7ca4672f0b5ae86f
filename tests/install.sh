#!/bin/sh
# install.sh BUILD: installs heed from the build folder, and builds and runs examples/outside against
# the installed library and against the sources, by CMake, and by pkg-config.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "install.sh: $*"; exit 1; }

run_both() {
  "$1/train_mlp" >"$folder/mlp.txt" || fail "train_mlp failed"
  grep -q 'right on new points: 0.9[5-9]\|right on new points: 1' "$folder/mlp.txt" || fail "$(cat "$folder/mlp.txt")"
  "$1/custom_operation" >"$folder/custom.txt" || fail "$(cat "$folder/custom.txt")"
  grep -q 'the gradient is right' "$folder/custom.txt" || fail "$(cat "$folder/custom.txt")"
}

cmake --install "$build" --prefix "$folder/heed" >/dev/null
cp -r "$root/examples/outside" "$folder/outside"

echo "find_package"
cmake -S "$folder/outside" -B "$folder/installed" -G Ninja -DCMAKE_PREFIX_PATH="$folder/heed" >/dev/null
cmake --build "$folder/installed" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
! grep -q 'warning:' "$folder/log" || fail "$(grep 'warning:' "$folder/log")"
run_both "$folder/installed"

echo "pkg-config"
if command -v pkg-config >/dev/null 2>&1; then
  export PKG_CONFIG_PATH=$folder/heed/lib/pkgconfig
  for found in "$folder"/heed/lib/*/pkgconfig; do PKG_CONFIG_PATH=$PKG_CONFIG_PATH:$found; done
  # shellcheck disable=SC2046
  ${CXX-c++} -O1 "$folder/outside/train_mlp.cpp" -o "$folder/train_mlp" $(pkg-config --cflags --libs heed) ||
    fail "the flags of pkg-config do not build a program"
  "$folder/train_mlp" | grep -q 'right on new points' || fail "pkg-config's program failed"
fi

echo "a version that is not installed is refused"
sed 's/heed 0\.[0-9]*/heed 9.0/' "$folder/outside/CMakeLists.txt" >"$folder/new" && mv "$folder/new" "$folder/outside/CMakeLists.txt"
! cmake -S "$folder/outside" -B "$folder/other" -G Ninja -DCMAKE_PREFIX_PATH="$folder/heed" >/dev/null 2>&1 ||
  fail "version 9.0 was found"

echo "add_subdirectory"
cmake -S "$root/examples/outside" -B "$folder/subproject" -G Ninja -DHEED_SOURCE="$root" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
grep -q 'CMAKE_BUILD_TYPE:STRING=RelWithDebInfo' "$folder/subproject/CMakeCache.txt" || fail "the build type changed"
! ninja -C "$folder/subproject" -t targets all | grep -q 'heed_tests\|01_averaging' || fail "tests or lessons are targets"
[ "${HEED_SHORT-}" ] || cmake --build "$folder/subproject" >"$folder/log" 2>&1 || fail "$(tail -n 40 "$folder/log")"
[ "${HEED_SHORT-}" ] || run_both "$folder/subproject"
