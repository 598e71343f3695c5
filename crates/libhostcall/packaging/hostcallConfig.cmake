# find_package(hostcall) gives hostcall::hostcall (shared) and hostcall::static.
get_filename_component(_hostcall_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET hostcall::hostcall)
  add_library(hostcall::hostcall SHARED IMPORTED)
  set_target_properties(hostcall::hostcall PROPERTIES
    IMPORTED_LOCATION "${_hostcall_prefix}/lib/libhostcall.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostcall_prefix}/include")
  add_library(hostcall::static STATIC IMPORTED)
  set_target_properties(hostcall::static PROPERTIES
    IMPORTED_LOCATION "${_hostcall_prefix}/lib/libhostcall.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostcall_prefix}/include")
endif()
