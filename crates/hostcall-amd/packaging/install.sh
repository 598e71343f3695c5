#!/bin/sh
# Installs libamd_hostcall for C and C++ programs: libraries, headers, pkg-config and CMake files.
#
#   cargo build --release -p hostcall-amd
#   crates/hostcall-amd/packaging/install.sh --prefix DIR [--from target/release]
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
archive=$from/libamd_hostcall.a
[ -f "$archive" ] || { echo "install.sh: no $archive; run cargo build --release -p hostcall-amd" >&2; exit 1; }
mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/amd_hostcall" "$prefix/include"
prefix=$(cd "$prefix" && pwd)

# The shared library is linked from the archive, because the one that Rust links has no soname. Its name is that of AMD's library: programs
# that were linked to that run on this.
"${CC:-cc}" -shared -o "$prefix/lib/libamd_hostcall.so" -Wl,-soname,libamd_hostcall.so "-Wl,--version-script=$here/amd_hostcall.map" \
  -Wl,-z,nodelete -Wl,--gc-sections -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lpthread -ldl -lm -lgcc_s
cp "$archive" "$prefix/lib/libamd_hostcall.a"
for header in amd_hostcall.h amd_hostcall_device.h; do cp "$here/../include/$header" "$prefix/include/"; done
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/amd_hostcall.pc.in" >"$prefix/lib/pkgconfig/amd_hostcall.pc"
cp "$here/amd_hostcall-config.cmake" "$prefix/lib/cmake/amd_hostcall/"
sed -e "s|@VERSION@|$version|" "$here/amd_hostcall-config-version.cmake.in" >"$prefix/lib/cmake/amd_hostcall/amd_hostcall-config-version.cmake"
echo "installed in $prefix"
