# Debian 12 packages only; docs/internals.md has the reason for each.
find_package(OpenSSL 3 REQUIRED)
find_package(Threads REQUIRED)
find_package(simdjson REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS url)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_library(SLUICE_LMDB_LIBRARY lmdb REQUIRED)
find_library(SLUICE_ISAL_LIBRARY isal REQUIRED)

add_library(sluice_lmdb INTERFACE)
target_link_libraries(sluice_lmdb INTERFACE ${SLUICE_LMDB_LIBRARY})
add_library(sluice_isal INTERFACE)
target_link_libraries(sluice_isal INTERFACE ${SLUICE_ISAL_LIBRARY})
