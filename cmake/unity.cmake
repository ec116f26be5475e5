# sluice_unity(TARGET)
#
# Compiles the folders of a room in the units of units.txt (SLUICE_UNITY): the compiler then reads the
# headers once for a unit instead of once for a file, which takes less than half the time.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/units.txt" lines REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/units.txt")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" places "${line}")
  list(GET places 0 first)
  foreach(place IN LISTS places)
    set(SLUICE_UNIT_${place} "${first}")
  endforeach()
endforeach()

function(sluice_unity target)
  if(NOT SLUICE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_filename_component(room "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE relative)
    set(file "${room}/${relative}")
    cmake_path(GET file PARENT_PATH folder)
    if(NOT relative MATCHES "\\.cpp$" OR folder IN_LIST SLUICE_EDITED)
      continue()
    endif()
    set(unit "${folder}")
    foreach(place IN ITEMS "${file}" "${folder}")
      if(DEFINED SLUICE_UNIT_${place})
        set(unit "${SLUICE_UNIT_${place}}")
        break()
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER "${unit}" group)
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
