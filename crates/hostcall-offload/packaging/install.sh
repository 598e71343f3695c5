#!/bin/sh
# Installs libhostcall_offload for C and C++ programs: libraries, headers, pkg-config and CMake files.
#
#   cargo build --release -p hostcall-offload
#   crates/hostcall-offload/packaging/install.sh --prefix DIR [--from target/release] [--as-llvm]
#
# --as-llvm also makes lib/offload-llvm/libLLVMOffload.so with the versions (VERS1.0) of LLVM's library, for programs that were linked to that:
#   LD_LIBRARY_PATH=DIR/lib/offload-llvm program
set -eu
here=$(cd "$(dirname "$0")" && pwd)
api=$here/../../liboffload
prefix= from=$here/../../../target/release llvm=no version=0.1.0
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --from) from=$2; shift 2 ;;
    --as-llvm) llvm=yes; shift ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
[ -n "$prefix" ] || { echo "install.sh: --prefix DIR is needed" >&2; exit 2; }
archive=$from/libhostcall_offload.a
[ -f "$archive" ] || { echo "install.sh: no $archive; run cargo build --release -p hostcall-offload" >&2; exit 1; }
mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/HostcallOffload" "$prefix/include/offload"
prefix=$(cd "$prefix" && pwd)

# The shared libraries are linked from the archive: Rust's own gives its names no version.
link() { # link OUTPUT SONAME
  "${CC:-cc}" -shared -o "$1" "-Wl,-soname,$2" "-Wl,--version-script=$api/OffloadAPI.map" -Wl,-z,nodelete -Wl,--gc-sections \
    -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lpthread -ldl -lm -lgcc_s
}
link "$prefix/lib/libhostcall_offload.so.$version" libhostcall_offload.so.0
ln -sf "libhostcall_offload.so.$version" "$prefix/lib/libhostcall_offload.so.0"
ln -sf libhostcall_offload.so.0 "$prefix/lib/libhostcall_offload.so"
cp "$archive" "$prefix/lib/libhostcall_offload.a"
for header in OffloadAPI.h OffloadPrint.hpp OffloadKernel.h OffloadPort.h; do cp "$api/include/$header" "$prefix/include/offload/"; done
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/hostcall_offload.pc.in" >"$prefix/lib/pkgconfig/hostcall_offload.pc"
cp "$here/HostcallOffloadConfig.cmake" "$prefix/lib/cmake/HostcallOffload/"
sed -e "s|@VERSION@|$version|" "$here/HostcallOffloadConfigVersion.cmake.in" >"$prefix/lib/cmake/HostcallOffload/HostcallOffloadConfigVersion.cmake"
if [ $llvm = yes ]; then
  mkdir -p "$prefix/lib/offload-llvm"
  # LLVM's name for its library carries the major version of LLVM; the plain one is what links at build time ask for.
  link "$prefix/lib/offload-llvm/libLLVMOffload.so" libLLVMOffload.so
  for major in 22.1 23.0 23.1; do ln -sf libLLVMOffload.so "$prefix/lib/offload-llvm/libLLVMOffload.so.$major"; done
fi
echo "installed in $prefix"
