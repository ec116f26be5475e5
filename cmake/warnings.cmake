# One interface target carries the warnings, so that a user's newer compiler never breaks the
# build: they become errors only with SLUICE_DEV.
add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor>
  -Wcast-qual -Wundef
  # g++ 12 sees overlaps in std::string's operator+ that are not there (GCC PR 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${SLUICE_DEV}>:-Werror>
  -fstack-protector-strong)
if(SLUICE_SANITIZE)
  # Sanitized code hides from g++ 12 that an optional without a value is not read.
  target_compile_options(sluice_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
else()
  target_compile_options(sluice_warnings INTERFACE
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
endif()
# __int128 is an extension that every supported compiler has; money needs it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
