# find_package(amd_hostcall 1.0) gives the targets amd_hostcall, as AMD's package does, amd_hostcall_static, and amd_hostcall_v0 for programs
# that are compiled with AMD's own header of v0. Each has a second name with amd_hostcall:: before it.
get_filename_component(_amd_hostcall_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

function(_amd_hostcall_target kind file)
  foreach(name IN LISTS ARGN)
    if(NOT TARGET ${name})
      add_library(${name} ${kind} IMPORTED)
      set_target_properties(${name} PROPERTIES
        IMPORTED_LOCATION "${_amd_hostcall_prefix}/lib/${file}"
        INTERFACE_INCLUDE_DIRECTORIES "${_amd_hostcall_prefix}/include")
      if(kind STREQUAL "STATIC")
        set_target_properties(${name} PROPERTIES INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s")
      else()
        set_target_properties(${name} PROPERTIES IMPORTED_SONAME "libamd_hostcall.so")
      endif()
    endif()
  endforeach()
endfunction()

_amd_hostcall_target(SHARED libamd_hostcall.so amd_hostcall amd_hostcall::amd_hostcall)
_amd_hostcall_target(STATIC libamd_hostcall.a amd_hostcall_static amd_hostcall::amd_hostcall_static)
_amd_hostcall_target(SHARED amd_hostcall_v0/libamd_hostcall.so amd_hostcall_v0 amd_hostcall::amd_hostcall_v0)
