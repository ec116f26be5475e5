# The tests start `sluice` thousands of times, and most of such a start is the dynamic linker's: addresses in libraries,
# each page of which is a page fault. So in a build for tests the program lies where it was linked to, and contains the
# libraries with most addresses; a package has them as Debian does (make test-package).
#
# sluice_library(NAME SHARED STATIC [NEEDED...]): a target that is the static library in such a program, with the libraries
# that it needs, else the shared one.
function(sluice_library name shared static)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE ${shared})
  find_library(${name}_static ${static})
  if(${name}_static)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES
      "$<IF:$<BOOL:$<TARGET_PROPERTY:SLUICE_QUICK_START>>,${${name}_static};${ARGN},${shared}>")
  endif()
endfunction()

pkg_check_modules(SLUICE_LIBCRYPTO QUIET libcrypto)
set(needed "${SLUICE_LIBCRYPTO_STATIC_LIBRARIES}")
list(REMOVE_ITEM needed crypto)
sluice_library(sluice_crypto OpenSSL::Crypto libcrypto.a ${needed})
sluice_library(sluice_url Boost::url libboost_url.a)
sluice_library(sluice_pugixml pugixml::pugixml libpugixml.a)

function(sluice_quick_start program)
  if(SLUICE_DEV AND NOT SLUICE_SANITIZE)
    set_target_properties(${program} PROPERTIES SLUICE_QUICK_START ON)
    target_link_options(${program} PRIVATE -no-pie)
  endif()
endfunction()
