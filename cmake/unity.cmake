# sluice_unity(TARGET)
#
# Compiles each folder of a room as one translation unit (SLUICE_UNITY): the compiler then reads the
# headers once for a folder instead of once for a file, which takes less than half the time.
# apart.txt names what is still compiled file by file.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/apart.txt" SLUICE_APART REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/apart.txt")

function(sluice_unity target)
  if(NOT SLUICE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_filename_component(room "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE relative)
    cmake_path(GET relative PARENT_PATH folder)
    if(folder STREQUAL "")
      set(place "${room}")
    else()
      set(place "${room}/${folder}")
    endif()
    if(NOT relative MATCHES "\\.cpp$" OR place IN_LIST SLUICE_EDITED
       OR place IN_LIST SLUICE_APART OR "${room}/${relative}" IN_LIST SLUICE_APART)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${place}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  # A type of a source file may have members from that file's anonymous namespace.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
  # GCC inlines less the more a unit grows, by a limit that is meant for units of one file: with it an
  # order costs 3 % more. Builds for development keep it, because GCC warns of what it inlines.
  if(NOT SLUICE_DEV)
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:--param=inline-unit-growth=1000>)
  endif()
endfunction()
