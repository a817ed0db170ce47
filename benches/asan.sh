#!/bin/sh
# The kernels' tests under the address sanitizer: reads and writes beyond a slice, which the unsafe parts of
# ppgn-kernels must never do, end the process with a report. Not part of CI: it builds the standard library's users anew
# with a flag of nightly compilers, which RUSTC_BOOTSTRAP allows on a stable one.
#
#     benches/asan.sh [arguments of the tests]
#
# Every level of vector instructions that the machine has is run: one of the tests starts the others again per level.
set -eu
cd "$(dirname "$0")/.."
export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address
# Allocations that are refused must fail as they do without the sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=0}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/asan"
exec cargo test --release -p ppgn-kernels --lib --target x86_64-unknown-linux-gnu -- "$@"
