#!/bin/sh
# install.sh BUILD: installs heed from the build folder, and builds and runs examples/cmake_project against
# the installed library and against the sources, by CMake, and by pkg-config. Then runs the documentation's
# programs as a lesson and as an operation of a copy of the project. `install.sh BUILD --short` leaves out what
# builds the library again: the example against the sources, and the documentation's programs.
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
cp -r "$root/examples/cmake_project" "$folder/cmake_project"

echo "find_package"
cmake -S "$folder/cmake_project" -B "$folder/installed" -G Ninja -DCMAKE_PREFIX_PATH="$folder/heed" >/dev/null
cmake --build "$folder/installed" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
! grep -q 'warning:' "$folder/log" || fail "$(grep 'warning:' "$folder/log")"
run_both "$folder/installed"

echo "pkg-config"
if command -v pkg-config >/dev/null 2>&1; then
  export PKG_CONFIG_PATH=$folder/heed/lib/pkgconfig
  for found in "$folder"/heed/lib/*/pkgconfig; do PKG_CONFIG_PATH=$PKG_CONFIG_PATH:$found; done
  # shellcheck disable=SC2046
  ${CXX-c++} -O1 "$folder/cmake_project/train_mlp.cpp" -o "$folder/train_mlp" $(pkg-config --cflags --libs heed) ||
    fail "the flags of pkg-config do not build a program"
  "$folder/train_mlp" | grep -q 'right on new points' || fail "pkg-config's program failed"
fi

echo "a version that is not installed is rejected"
sed 's/heed 0\.[0-9]*/heed 9.0/' "$folder/cmake_project/CMakeLists.txt" >"$folder/new" && mv "$folder/new" "$folder/cmake_project/CMakeLists.txt"
! cmake -S "$folder/cmake_project" -B "$folder/other" -G Ninja -DCMAKE_PREFIX_PATH="$folder/heed" >/dev/null 2>&1 ||
  fail "version 9.0 was found"

echo "a processor without the instructions of the library is rejected"
config=$(find "$folder/heed" -name heedConfig.cmake)
cp "$config" "$folder/heedConfig.cmake"
sed 's/^heed_missing_instructions(heed_lacking ".*")/heed_missing_instructions(heed_lacking "sse9.7")/' \
  "$folder/heedConfig.cmake" >"$config"
! cmake -S "$root/examples/cmake_project" -B "$folder/lacking" -G Ninja -DCMAKE_PREFIX_PATH="$folder/heed" >"$folder/log" 2>&1 ||
  fail "a library with instructions that the processor lacks was found"
tr -s ' \n' ' ' <"$folder/log" | grep -q 'built for a processor with sse9.7; build it again with -DHEED_NATIVE=OFF' ||
  fail "the rejection does not name the instructions and the remedy: $(cat "$folder/log")"
cp "$folder/heedConfig.cmake" "$config"

echo "a missing library is named with its packages in one line"
! cmake -S "$root" -B "$folder/missing" -G Ninja -DCMAKE_DISABLE_FIND_PACKAGE_xtensor=ON >"$folder/log" 2>&1 ||
  fail "heed was configured without xtensor"
line='heed needs xtensor 0.24 or later: apt install libxtensor-dev xtl-dev | brew install xtensor | conda install -c conda-forge xtensor'
grep -qxF "$line" "$folder/log" || fail "the missing xtensor is not named with its packages: $(cat "$folder/log")"

echo "FetchContent"
mkdir "$folder/fetch"
cp "$root/examples/cmake_project/train_mlp.cpp" "$folder/fetch"
cat >"$folder/fetch/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(fetch LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(heed SOURCE_DIR ${HEED_SOURCE})
FetchContent_MakeAvailable(heed)
add_executable(train_mlp train_mlp.cpp)
target_link_libraries(train_mlp heed::heed)
CMAKE
cmake -S "$folder/fetch" -B "$folder/fetched" -G Ninja -DHEED_SOURCE="$root" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
ninja -C "$folder/fetched" -t commands train_mlp | grep -q "_deps/heed-build/libheed_ops.a" || fail "train_mlp is not linked with FetchContent's heed"

echo "add_subdirectory, with HEED_NATIVE=OFF and without LIBXSMM"
subproject=$folder/subproject
# With -O1, the library compiles in half the time.
cmake -S "$root/examples/cmake_project" -B "$subproject" -G Ninja -DHEED_SOURCE="$root" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DHEED_NATIVE=OFF -DHEED_XSMM=OFF >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
grep -q 'CMAKE_BUILD_TYPE:STRING=RelWithDebInfo' "$subproject/CMakeCache.txt" || fail "the build type changed"
! ninja -C "$subproject" -t targets all | grep -q 'heed_tests\|01_averaging' || fail "tests or lessons are targets"
! grep -q -e '-march=native' -e HEED_WITH_XSMM -e libxsmm "$subproject/build.ninja" ||
  fail "the portable build has -march=native or LIBXSMM"
grep -q 'heed_missing_instructions(heed_lacking "")' "$(find "$subproject" -name heedConfig.cmake)" ||
  fail "the portable build needs instructions beyond the baseline"

echo "the archive without solutions of docs/teaching.md"
if git -C "$root" rev-parse --verify -q HEAD >/dev/null 2>&1; then
  sed -n '/^git archive /,/[^\\]$/p' "$root/docs/teaching.md" | sed "s|-o heed.tar.gz|-o '$folder/heed.tar.gz'|" >"$folder/pack"
  (cd "$root" && sh -e "$folder/pack") || fail "$(cat "$folder/pack")"
  mkdir "$folder/handed_out"
  tar xzf "$folder/heed.tar.gz" -C "$folder/handed_out"
  handed_out=$folder/handed_out/heed
  for file in README.md lessons/01_averaging/exercise.cpp lessons/01_averaging/exercise_check.cpp lessons/01_averaging/hints.md; do
    [ -f "$handed_out/$file" ] || fail "the archive lacks $file"
  done
  solutions=$(find "$handed_out" -name '*_solution.cpp' -o -name answers.md -o -path '*/wrong_answers/[0-9]*')
  [ -z "$solutions" ] || fail "the archive has $solutions"
  cmake -S "$handed_out" -B "$folder/without" -G Ninja >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
  # With -n, Ninja builds nothing, and a missing file is an error. The copy of build.ninja does not start CMake again.
  cp "$folder/without/build.ninja" "$folder/without/copy.ninja"
  ninja -n -C "$folder/without" -f copy.ninja all heed_wrong_answers heed_debug_programs >"$folder/log" 2>&1 || fail "$(tail "$folder/log")"
  grep -q 28_a_real_model "$folder/log" || fail "lesson 28 is not built"
  ! grep -q 'solution_[0-9]' "$folder/log" || fail "a solution is built: $(grep -m 1 'solution_[0-9]' "$folder/log")"
fi

[ "${2-}" != --short ] || exit 0

echo "a build of the library in a project"
cmake --build "$subproject" >"$folder/log" 2>&1 || fail "$(tail -n 40 "$folder/log")"
run_both "$subproject"

echo "the program of docs/architecture.md: lessons/99_try/lesson.cpp"
mkdir "$folder/project" "$folder/bin"
for name in "$root"/*; do
  case ${name##*/} in build | runs | book) ;; *) cp -r "$name" "$folder/project" ;; esac
done
printf '#!/bin/sh\n' >"$folder/bin/apt-get"  # so that the launcher installs nothing
chmod +x "$folder/bin/apt-get"
sed 's/"CMAKE_BUILD_TYPE": "Release"/&, "CMAKE_CXX_FLAGS_RELEASE": "-O1"/' "$root/CMakePresets.json" >"$folder/project/CMakePresets.json"
lesson() {
  (cd "$folder/project" && PATH=$folder/bin:$PATH ./heed lesson "$@" >"$folder/lesson.txt" 2>"$folder/log") ||
    fail "lesson $*: $(cat "$folder/log")"
}
lesson 1  # the build finds a file that is added later
mkdir "$folder/project/lessons/99_try"
awk '/^```/ { if (block ~ /"lesson.hpp"/) { printf "%s", block; exit } block = ""; next } { block = block $0 "\n" }' \
  "$root/docs/architecture.md" >"$folder/project/lessons/99_try/lesson.cpp"
lesson 99
for array in 'weights (3, 3)' 'gradient of x (3, 5)'; do
  grep -qxF "$array" "$folder/lesson.txt" || fail "lesson 99 does not print $array: $(cat "$folder/lesson.txt")"
done

echo "the operation of CONTRIBUTING.md: src/extra/softsign.cpp"
for file in src/extra/softsign.cpp include/heed/extra/softsign.hpp; do
  awk -v first="// $file:" 'index($0, first) == 1 { inside = 1 } /^```/ { inside = 0 } inside' \
    "$root/CONTRIBUTING.md" >"$folder/project/$file"
done
mkdir "$folder/project/lessons/98_softsign"
cat >"$folder/project/lessons/98_softsign/lesson.cpp" <<'CPP'
// 98 softsign: its value and its gradient.
#include "heed/extra/softsign.hpp"
#include "heed/heed.hpp"
#include "lesson.hpp"

int main() {
  heed::Tensor x(heed::Array({-1, 0, 3}), /*requires_grad=*/true);
  heed::Tensor y = heed::softsign(x);
  heed::backward(heed::sum(y));
  std::cout << y.value() << x.grad() << '\n';
}
CPP
lesson 98
for array in '{-0.5 ,  0.  ,  0.75}' '{ 0.25  ,  1.    ,  0.0625}'; do
  grep -qF "$array" "$folder/lesson.txt" || fail "lesson 98 does not print $array: $(cat "$folder/lesson.txt")"
done
