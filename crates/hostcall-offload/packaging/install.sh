#!/bin/sh
# Installs libhostcall_offload for C and C++ programs: libraries, headers, pkg-config and CMake files.
#
#   cargo build --release -p hostcall-offload
#   crates/hostcall-offload/packaging/install.sh --prefix DIR [--from target/release] [--llvm 24] [--as-llvm]
#
# --llvm 24 installs libhostcall_offload24 (cargo build --release -p hostcall-offload24), which has LLVM 24's API. Both
# can be installed: the library has another name, its headers are in include/offload24, and CMake finds it as
# HostcallOffload24.
#
# --as-llvm also makes lib/offload-llvm/libLLVMOffload.so (with --llvm 24, lib/offload-llvm24) with the versions
# (VERS1.0) of LLVM's library, for programs that were linked to that: LD_LIBRARY_PATH=DIR/lib/offload-llvm program
set -eu
here=$(cd "$(dirname "$0")" && pwd)
api=$here/../../hostcall-offload-api
prefix= from=$here/../../../target/release llvm=no version=0.1.0 api_version=23
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --from) from=$2; shift 2 ;;
    --as-llvm) llvm=yes; shift ;;
    --llvm) api_version=$2; shift 2 ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
[ -n "$prefix" ] || { echo "install.sh: --prefix DIR is needed" >&2; exit 2; }
# What the version's library is called, its headers, LLVM's names for its own, and where the files come from.
case $api_version in
  23) n= names="22.1 23.0 23.1" headers=$api/include ;;
  24) n=24 names="24.0 24.1" headers=$api/include/24 ;;
  *) echo "install.sh: --llvm $api_version: there are 23 and 24" >&2; exit 2 ;;
esac
lib=hostcall_offload$n package=HostcallOffload$n include=include/offload$n
archive=$from/lib$lib.a
[ -f "$archive" ] || { echo "install.sh: no $archive; run cargo build --release -p hostcall-offload$n" >&2; exit 1; }
mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/$package" "$prefix/$include"
prefix=$(cd "$prefix" && pwd)

# The shared libraries are linked from the archive: Rust's own gives its names no version.
link() { # link OUTPUT SONAME
  "${CC:-cc}" -shared -o "$1" "-Wl,-soname,$2" "-Wl,--version-script=$api/OffloadAPI$n.map" -Wl,-z,nodelete -Wl,--gc-sections \
    -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lpthread -ldl -lm -lgcc_s
}
link "$prefix/lib/lib$lib.so.$version" "lib$lib.so.0"
ln -sf "lib$lib.so.$version" "$prefix/lib/lib$lib.so.0"
ln -sf "lib$lib.so.0" "$prefix/lib/lib$lib.so"
cp "$archive" "$prefix/lib/lib$lib.a"
for header in OffloadAPI.h OffloadPrint.hpp; do cp "$headers/$header" "$prefix/$include/"; done
for header in OffloadKernel.h OffloadPort.h; do cp "$api/include/$header" "$prefix/$include/"; done
mkdir -p "$prefix/$include/simulator"
cp "$api/include/simulator/gpuintrin.h" "$prefix/$include/simulator/"
fill() { # fill TEMPLATE OUTPUT
  sed -e "s|@VERSION@|$version|" -e "s|@LIB@|$lib|g" -e "s|@INCLUDE@|$include|g" -e "s|@PACKAGE@|$package|g" \
    -e "s|@N@|$n|g" -e "s|@LLVM@|$api_version|g" "$here/$1" >"$2"
}
fill hostcall_offload.pc.in "$prefix/lib/pkgconfig/$lib.pc"
fill HostcallOffloadConfig.cmake.in "$prefix/lib/cmake/$package/${package}Config.cmake"
fill HostcallOffloadConfigVersion.cmake.in "$prefix/lib/cmake/$package/${package}ConfigVersion.cmake"
if [ $llvm = yes ]; then
  mkdir -p "$prefix/lib/offload-llvm$n"
  # LLVM's name for its library carries the major version of LLVM; the plain one is what links at build time ask for.
  link "$prefix/lib/offload-llvm$n/libLLVMOffload.so" libLLVMOffload.so
  for major in $names; do ln -sf libLLVMOffload.so "$prefix/lib/offload-llvm$n/libLLVMOffload.so.$major"; done
fi
echo "installed in $prefix"
