# Release builds are hardened as Debian's packages are, also with "make install": the program's
# addresses are random (PIE), its table of imported functions is read-only before it starts, and
# returns and indirect calls are checked where the processor can (CET, BTI).
add_compile_options("$<$<CONFIG:Release>:-fstack-protector-strong;-fstack-clash-protection>")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  add_compile_options("$<$<CONFIG:Release>:-fcf-protection=full>")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  add_compile_options("$<$<CONFIG:Release>:-mbranch-protection=standard>")
endif()
add_link_options("$<$<CONFIG:Release>:LINKER:-z,relro,-z,now>"
  "$<$<AND:$<CONFIG:Release>,$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>>:-pie>")
