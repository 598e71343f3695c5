# find_package(amd_hostcall) gives amd_hostcall::amd_hostcall (shared) and amd_hostcall::amd_hostcall_static.
get_filename_component(_amd_hostcall_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET amd_hostcall::amd_hostcall)
  add_library(amd_hostcall::amd_hostcall SHARED IMPORTED)
  set_target_properties(amd_hostcall::amd_hostcall PROPERTIES
    IMPORTED_LOCATION "${_amd_hostcall_prefix}/lib/libamd_hostcall.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_amd_hostcall_prefix}/include")
  add_library(amd_hostcall::amd_hostcall_static STATIC IMPORTED)
  set_target_properties(amd_hostcall::amd_hostcall_static PROPERTIES
    IMPORTED_LOCATION "${_amd_hostcall_prefix}/lib/libamd_hostcall.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s"
    INTERFACE_INCLUDE_DIRECTORIES "${_amd_hostcall_prefix}/include")
endif()
