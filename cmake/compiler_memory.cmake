# g++ collects garbage whenever its heap has grown by a third, which takes 9 % of its time for a large
# unit (-ftime-report). With 7 GB or more it collects only beyond a gigabyte, which few units reach.
# What users install does not depend on the memory of the machine that built it: the flag would be
# recorded in its symbols.
if(NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  return()
endif()
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
if(memory_mib GREATER_EQUAL 7000)
  add_compile_options(
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:--param=ggc-min-heapsize=1000000>)
endif()
