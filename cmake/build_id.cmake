# Writes ${OUT} with the version and git's description of the tree, if they changed.
# cmake -DSOURCE=... -DVERSION=... -DOUT=... -P build_id.cmake
execute_process(
  COMMAND git -C "${SOURCE}" describe --always --dirty --tags
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
set(id "${VERSION}")
if(result EQUAL 0)
  string(APPEND id " (${revision})")
endif()
set(text "#pragma once\n\nnamespace sluice::ngx {\ninline constexpr char kBuildId[] = \"${id}\";\n}\n")
set(old "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
