#!/bin/sh
# run.sh: builds the fuzz tests and runs them for 32 seconds in all. `run.sh --short` leaves out that of the
# options, which needs all commands. Exit code 77 means skipped.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
build=$root/build/fuzz

# Whether clang++ has libFuzzer, and OpenMP, which heed needs and some clang packages lack.
works() {
  mkdir -p "$build"
  printf '#include <omp.h>\nextern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return omp_get_max_threads() < 0; }\n' |
    clang++ -x c++ -fopenmp -fsanitize=fuzzer,address,undefined - -o "$build/probe" 2>"$build/probe.log"
}
if ! command -v clang++ >/dev/null || ! works; then
  echo "left out: no clang++ with libFuzzer and OpenMP; apt install clang libclang-rt-14-dev libomp-14-dev"
  exit 77
fi

cd "$root"
[ -f "$build/build.ninja" ] || cmake --preset fuzz >"$build/configure.log" || { cat "$build/configure.log"; exit 1; }
[ "${1-}" = --short ] && target=fuzz_programs || target=all_fuzz_programs
cmake --build --preset fuzz --target $target >"$build/build.log" || { tail -n 40 "$build/build.log"; exit 1; }

# fuzz NAME SECONDS MAX_LENGTH. libFuzzer writes new inputs to $corpus, failing ones to $build.
fuzz() {
  corpus=$build/corpus/$1
  seeds=$root/tests/fuzz/seeds/$1
  [ "$1" != safetensors ] || seeds=$root/tests/invalid_files
  mkdir -p "$corpus"
  if ! "$build/fuzz_$1" -max_total_time="$2" -max_len="$3" -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="$build/$1-" "$corpus" "$seeds" >"$build/$1.log" 2>&1; then
    tail -n 60 "$build/$1.log"
    exit 1
  fi
  sed -n 's/^Done \([0-9]*\) runs in.*/\1/p' "$build/$1.log" |
    xargs -I N echo "$1: N inputs, none fails"
}

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
fuzz safetensors 3 512
fuzz checkpoint 3 256
fuzz utf8 3 128
[ "${1-}" = --short ] || fuzz options 3 128
fuzz golden 3 512
fuzz loss_csv 3 256
fuzz einsum 2 32
fuzz tokenizers 3 384
fuzz tokenizer_json 3 1024
fuzz import_folder 3 256
fuzz llama2_c 3 256
