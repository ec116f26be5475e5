# nginx's headers, configured inside the build directory: an interface target `sluice_nginx`.
#
# By default Debian's nginx-dev with the package's own flags, so that the module passes the
# signature check of the packaged nginx. With SLUICE_NGINX_SRC=DIR any other source tree, with
# SLUICE_NGINX_FLAGS; nothing is written into that tree.
set(SLUICE_NGINX_FLAGS "--with-compat --with-threads --with-http_ssl_module --with-http_v2_module"
  CACHE STRING "configure flags for SLUICE_NGINX_SRC")
set(debian_nginx_src /usr/share/nginx/src)
set(nginx_build "${PROJECT_BINARY_DIR}/nginx")

if(SLUICE_NGINX_SRC)
  get_filename_component(nginx_src "${SLUICE_NGINX_SRC}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  set(nginx_flags "NGX_CONF_FLAGS=( ${SLUICE_NGINX_FLAGS} )")
else()
  set(nginx_src "${debian_nginx_src}")
  if(EXISTS "${nginx_src}/conf_flags")
    file(READ "${nginx_src}/conf_flags" nginx_flags)
  endif()
endif()
if(NOT EXISTS "${nginx_src}/auto/options")
  message(FATAL_ERROR "No nginx sources in \"${nginx_src}\": install nginx-dev, "
    "or name a source tree of nginx with -DSLUICE_NGINX_SRC=DIR.")
endif()
# A tree from version control keeps the script in auto/.
find_file(nginx_configure configure PATHS "${nginx_src}" "${nginx_src}/auto"
  NO_DEFAULT_PATH NO_CACHE REQUIRED)

# configure takes seconds; it runs again only when the tree, the flags or the version changed.
file(READ "${nginx_src}/src/core/nginx.h" nginx_version_header)
string(SHA256 nginx_inputs "${nginx_src}|${nginx_flags}|${nginx_version_header}")
set(nginx_stamp "${nginx_build}/configured")
set(nginx_stamp_text "")
if(EXISTS "${nginx_stamp}")
  file(READ "${nginx_stamp}" nginx_stamp_text)
endif()

if(NOT nginx_stamp_text STREQUAL nginx_inputs)
  message(STATUS "Configuring nginx headers from ${nginx_src}")
  file(REMOVE_RECURSE "${nginx_build}")
  file(MAKE_DIRECTORY "${nginx_build}/tree")
  # configure writes a Makefile where it runs: it gets a tree of links to run in.
  file(GLOB nginx_entries "${nginx_src}/*")
  foreach(entry ${nginx_entries})
    get_filename_component(name "${entry}" NAME)
    if(NOT name MATCHES "^(Makefile|objs)$")
      file(CREATE_LINK "${entry}" "${nginx_build}/tree/${name}" SYMBOLIC)
    endif()
  endforeach()
  file(WRITE "${nginx_build}/configure.sh"
    "${nginx_flags}\nset -e\nexec '${nginx_configure}' \"\${NGX_CONF_FLAGS[@]}\" "
    "--builddir='${nginx_build}/objs'\n")
  execute_process(
    COMMAND bash "${nginx_build}/configure.sh"
    WORKING_DIRECTORY "${nginx_build}/tree"
    OUTPUT_FILE "${nginx_build}/configure.log" ERROR_FILE "${nginx_build}/configure.log"
    RESULT_VARIABLE nginx_result)
  if(NOT nginx_result EQUAL 0)
    message(FATAL_ERROR "nginx's configure failed: see ${nginx_build}/configure.log")
  endif()
  file(WRITE "${nginx_stamp}" "${nginx_inputs}")
endif()
file(STRINGS "${nginx_build}/objs/ngx_auto_config.h" nginx_has REGEX "define +NGX_(COMPAT|THREADS) ")
if(NOT nginx_has MATCHES "NGX_THREADS ")
  message(FATAL_ERROR "nginx is configured without threads, on which commits run: add --with-threads to "
    "SLUICE_NGINX_FLAGS, and configure nginx with it.")
endif()
if(NOT nginx_has MATCHES "NGX_COMPAT ")
  message(WARNING "nginx is configured without --with-compat: the module fits only an nginx with exactly the "
    "flags of SLUICE_NGINX_FLAGS. Add --with-compat to both.")
endif()

add_library(sluice_nginx INTERFACE)
# SYSTEM: nginx's headers are not held to this project's warnings.
target_include_directories(sluice_nginx SYSTEM INTERFACE
  "${nginx_build}/objs"
  "${nginx_src}/src/core" "${nginx_src}/src/event" "${nginx_src}/src/event/modules"
  "${nginx_src}/src/event/quic" "${nginx_src}/src/os/unix" "${nginx_src}/src/http"
  "${nginx_src}/src/http/modules" "${nginx_src}/src/http/v2" "${nginx_src}/src/http/v3")
