# sluice_install(TARGET KIND FOLDER): installs a program (KIND: PROGRAMS) or a module (FILES) without its symbols. They
# lie next to it in FILE.debug, and a section of it names that file to gdb and perf.
option(SLUICE_STRIP "Install programs without symbols, and the symbols next to them (Debian's packages have their own)" ON)

function(sluice_install target kind folder)
  if(NOT SLUICE_STRIP)
    install(TARGETS ${target} RUNTIME DESTINATION "${folder}" LIBRARY DESTINATION "${folder}")
    return()
  endif()
  set(stripped "${CMAKE_CURRENT_BINARY_DIR}/stripped/$<TARGET_FILE_NAME:${target}>")
  install(CODE "
    file(MAKE_DIRECTORY \"${CMAKE_CURRENT_BINARY_DIR}/stripped\")
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug \"$<TARGET_FILE:${target}>\" \"${stripped}.debug\"
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-unneeded \"--add-gnu-debuglink=${stripped}.debug\"
      \"$<TARGET_FILE:${target}>\" \"${stripped}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(${kind} "${stripped}" DESTINATION "${folder}")
  install(FILES "${stripped}.debug" DESTINATION "${folder}")
endfunction()
