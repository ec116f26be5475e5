// libcurl, loaded when the first request is sent or the first URL of a destination is read.
#pragma once

#include <curl/curl.h>

#include "os/libraries/lazy_library.hpp"

namespace sluice {

inline constinit const LazyLibrary kLibcurl{"libcurl.so.4", "libcurl4"};

SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_cleanup);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_getinfo);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_header);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_init);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_reset);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_setopt);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_easy_strerror);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_free);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_getdate);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_global_init);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_add_handle);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_cleanup);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_info_read);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_init);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_perform);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_poll);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_remove_handle);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_multi_wakeup);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_slist_append);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_slist_free_all);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_url);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_url_cleanup);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_url_get);
SLUICE_LAZY_FUNCTION(kLibcurl, curl_url_set);

}  // namespace sluice
