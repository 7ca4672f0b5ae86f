#!/bin/sh
# docs.sh: Doxygen reads the headers without a warning. Exits with 77 (skipped) without Doxygen.
set -eu
command -v doxygen >/dev/null 2>&1 || { echo "doxygen is not installed"; exit 77; }
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
warnings=$({ cat docs/doxygen/Doxyfile; echo "OUTPUT_DIRECTORY = $folder"; } | doxygen - 2>&1)
[ -z "$warnings" ] || { printf '%s\n' "$warnings"; exit 1; }
! grep '`' "$folder"/xml/*.xml || { echo "the filter left a mark of code"; exit 1; }
grep -q scaled_dot_product_attention "$folder"/xml/namespaceheed.xml
