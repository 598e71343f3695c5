# find_package(HostcallOffload) gives HostcallOffload::HostcallOffload (shared) and HostcallOffload::Static, and
# hostcall_offload_kernels(TARGET SOURCE… [HOST_IMAGE]), which makes an image of kernels for the processor.
get_filename_component(_hostcall_offload_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET HostcallOffload::HostcallOffload)
  add_library(HostcallOffload::HostcallOffload SHARED IMPORTED)
  set_target_properties(HostcallOffload::HostcallOffload PROPERTIES
    IMPORTED_LOCATION "${_hostcall_offload_prefix}/lib/libhostcall_offload.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostcall_offload_prefix}/include/offload")
  add_library(HostcallOffload::Static STATIC IMPORTED)
  set_target_properties(HostcallOffload::Static PROPERTIES
    IMPORTED_LOCATION "${_hostcall_offload_prefix}/lib/libhostcall_offload.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostcall_offload_prefix}/include/offload")
endif()

function(hostcall_offload_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOST_IMAGE" "" "")
  add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:HostcallOffload::HostcallOffload,INTERFACE_INCLUDE_DIRECTORIES>)
  set_target_properties(${target} PROPERTIES PREFIX "" C_STANDARD 11)
  if(arg_HOST_IMAGE)
    target_compile_definitions(${target} PRIVATE OFFLOAD_HOST_IMAGE)
  endif()
endfunction()
