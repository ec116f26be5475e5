# Compiles each schema of `target` into its binary directory, where it is included as
# "<room>/<folder>/<name>_generated.h". The headers are third-party code to the compiler (SYSTEM).
function(sluice_flatbuffers target)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/generated")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  foreach(schema ${ARGN})
    get_filename_component(name "${schema}" NAME_WE)
    get_filename_component(inner "${schema}" DIRECTORY)
    set(header "${out}/${folder}/${inner}/${name}_generated.h")
    add_custom_command(
      OUTPUT "${header}"
      COMMAND "${SLUICE_FLATC}" --cpp --scoped-enums --gen-object-api --cpp-std c++17
              -o "${out}/${folder}/${inner}" "${CMAKE_CURRENT_SOURCE_DIR}/${schema}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${schema}"
      VERBATIM)
    target_sources(${target} PRIVATE "${header}")
  endforeach()
  target_include_directories(${target} SYSTEM PUBLIC "${out}")
endfunction()
