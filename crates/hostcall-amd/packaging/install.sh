#!/bin/sh
# Installs libamd_hostcall for C and C++ programs: libraries, headers, pkg-config and CMake files.
#
#   cargo build --release -p hostcall-amd
#   crates/hostcall-amd/packaging/install.sh --prefix DIR [--from target/release]
#
# DESTDIR goes before the prefix, as with make.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# The interface's version is that of AMD's library.
prefix= from=$here/../../../target/release version=1.0.0
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --from) from=$2; shift 2 ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
[ -n "$prefix" ] || { echo "install.sh: --prefix DIR is needed" >&2; exit 2; }
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
archive=$from/libamd_hostcall.a
[ -f "$archive" ] || { echo "install.sh: no $archive; run cargo build --release -p hostcall-amd" >&2; exit 1; }
to=${DESTDIR:-}$prefix
mkdir -p "$to/lib/pkgconfig" "$to/lib/cmake/amd_hostcall" "$to/lib/amd_hostcall_v0" "$to/include"

# The shared library is linked from the archive, because the one that Rust links has no soname. Its name is that of
# AMD's library: programs that were linked to that run on this.
shared() { # FILE ARCHIVE [MORE]
  "${CC:-cc}" -shared -o "$1" -Wl,-soname,libamd_hostcall.so "-Wl,--version-script=$here/amd_hostcall.map" \
    -Wl,-z,nodelete -Wl,--gc-sections -Wl,--whole-archive "$2" -Wl,--no-whole-archive ${3:+-fPIC "$3"} -lpthread -ldl -lm -lgcc_s
}
shared "$to/lib/libamd_hostcall.so" "$archive"
cp "$archive" "$to/lib/libamd_hostcall.a"

# AMD's v0 has five functions of the same names and with other parameters. A program that was compiled with AMD's own
# header of v0 needs them under these names, so it has a library of its own, of the same name in another folder. v1's
# functions have others there.
renames=
for name in create_consumer destroy_consumer register_service register_buffer on_error; do
  renames="$renames --redefine-sym amd_hostcall_$name=hostcall_amd_v1_$name --redefine-sym hostcall_amd_v0_$name=amd_hostcall_$name"
done
"${OBJCOPY:-objcopy}" $renames "$archive" "$to/lib/amd_hostcall_v0/libamd_hostcall.a"
# Programs that were compiled with this library's header find its names there, too.
shared "$to/lib/amd_hostcall_v0/libamd_hostcall.so" "$to/lib/amd_hostcall_v0/libamd_hostcall.a" "$here/names.c"

for header in amd_hostcall.h amd_hostcall_device.h; do cp "$here/../include/$header" "$to/include/"; done
for name in amd_hostcall amd_hostcall_v0; do
  folder=; [ $name = amd_hostcall ] || folder=/$name
  sed -e "s|@NAME@|$name|" -e "s|@FOLDER@|$folder|" -e "s|@VERSION@|$version|" "$here/amd_hostcall.pc.in" \
    >"$to/lib/pkgconfig/$name.pc"
done
cp "$here/amd_hostcall-config.cmake" "$to/lib/cmake/amd_hostcall/"
sed -e "s|@VERSION@|$version|" "$here/amd_hostcall-config-version.cmake.in" >"$to/lib/cmake/amd_hostcall/amd_hostcall-config-version.cmake"
echo "installed in $to"
