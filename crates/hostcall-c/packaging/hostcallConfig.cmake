# find_package(hostcall) gives hostcall::hostcall (shared) and hostcall::static.
get_filename_component(_hostcall_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET hostcall::hostcall)
  # This file lies in lib/cmake/hostcall or in share/cmake/hostcall, and the libraries where the distribution has them.
  foreach(_hostcall_folder lib lib64 "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
    if(EXISTS "${_hostcall_prefix}/${_hostcall_folder}/libhostcall.so")
      set(_hostcall_libraries "${_hostcall_prefix}/${_hostcall_folder}")
    endif()
  endforeach()
  if(NOT _hostcall_libraries)
    set(hostcall_FOUND FALSE)
    set(hostcall_NOT_FOUND_MESSAGE "there is no libhostcall.so below ${_hostcall_prefix}")
    return()
  endif()
  add_library(hostcall::hostcall SHARED IMPORTED)
  set_target_properties(hostcall::hostcall PROPERTIES
    IMPORTED_LOCATION "${_hostcall_libraries}/libhostcall.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostcall_prefix}/include")
  add_library(hostcall::static STATIC IMPORTED)
  set_target_properties(hostcall::static PROPERTIES
    IMPORTED_LOCATION "${_hostcall_libraries}/libhostcall.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostcall_prefix}/include")
endif()
