# What users install is hardened as Debian's packages are, whatever the build type ("make install", the
# packages, a plain cmake): the program's addresses are random (PIE), its table of imported functions is
# read-only before it starts, and returns and indirect calls are checked where the processor, the
# kernel and the C library can (CET, BTI).
if(SLUICE_DEV)
  return()
endif()
add_compile_options(-fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  add_compile_options(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  add_compile_options(-mbranch-protection=standard)
endif()
add_link_options(LINKER:-z,relro,-z,now "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>")
