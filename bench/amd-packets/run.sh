#!/bin/sh
# Builds the library and the benchmark, and runs it: bench/amd-packets/run.sh [MILLISECONDS PER ROW | waits]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
cargo build --release --quiet --manifest-path "$root/Cargo.toml" -p hostcall-amd
"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread -I "$root/crates/hostcall-amd/include" "$here/bench.c" "$target/release/libamd_hostcall.a" \
  -ldl -lm -o "$target/release/bench-amd-hostcall"
HOSTCALL_AMD_DOORBELL=own exec "$target/release/bench-amd-hostcall" "$@"
