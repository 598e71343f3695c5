#!/bin/sh
# Installs libhostcall for C and C++ programs: libraries, headers, pkg-config and CMake files.
#
#   cargo build --release -p hostcall-c
#   crates/hostcall-c/packaging/install.sh --prefix DIR [--from target/release]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix= from=$here/../../../target/release version=0.1.0
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --from) from=$2; shift 2 ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
[ -n "$prefix" ] || { echo "install.sh: --prefix DIR is needed" >&2; exit 2; }
archive=$from/libhostcall_c.a
[ -f "$archive" ] || { echo "install.sh: no $archive; run cargo build --release -p hostcall-c" >&2; exit 1; }
mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/hostcall" "$prefix/include"
prefix=$(cd "$prefix" && pwd)

# The shared library is linked from the archive: Rust's own gives its names no version. It stays loaded once it is,
# because its threads and the simulator's handler of faults may outlive a dlclose.
"${CC:-cc}" -shared -o "$prefix/lib/libhostcall.so.$version" -Wl,-soname,libhostcall.so.0 "-Wl,--version-script=$here/hostcall.map" \
  -Wl,-z,nodelete -Wl,--gc-sections -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lpthread -ldl -lm -lgcc_s
ln -sf "libhostcall.so.$version" "$prefix/lib/libhostcall.so.0"
ln -sf libhostcall.so.0 "$prefix/lib/libhostcall.so"
cp "$archive" "$prefix/lib/libhostcall.a"
cp "$here"/../include/hostcall*.h* "$prefix/include/"
# The device header, for CUDA programs.
for part in "$here"/../../../include/hostcall*; do
  if [ -e "$part" ]; then cp -R "$part" "$prefix/include/"; fi
done
examples=$prefix/share/doc/hostcall/examples
for example in c/add42.c c/add42.cpp c/CMakeLists.txt cuda/add42.cu cuda/services.cuh cuda/services.rs \
  existing/before.cu existing/existing.cu existing/host_services.cuh existing/host_services.hpp; do
  mkdir -p "$examples/$(dirname "$example")"
  cp "$here/../../../examples/$example" "$examples/$example"
done
sed -e "s|@VERSION@|$version|" "$here/hostcall.pc.in" >"$prefix/lib/pkgconfig/hostcall.pc"
cp "$here/hostcallConfig.cmake" "$here/hostcallConfigVersion.cmake" "$prefix/lib/cmake/hostcall/"
echo "installed in $prefix"
