#!/bin/sh
# run.sh BUILD: builds and runs the tests of suites by others. Exit code 77 means skipped.
set -eu

[ -n "${HEED_FOREIGN-}" ] || { echo "skipped: HEED_FOREIGN is not set; see tests/foreign/README.md"; exit 77; }
[ -d "$HEED_FOREIGN" ] || { echo "HEED_FOREIGN: $HEED_FOREIGN is not a folder"; exit 1; }
cmake --build "$1" --target heed_foreign_tests heed_app >/dev/null
exec "$1/tests/heed_foreign_tests"
