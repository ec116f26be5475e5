// libcurl, loaded when the first request is sent or the first URL of a destination is read.
#pragma once

#include <curl/curl.h>

#include "os/libraries/lazy_library.hpp"

namespace sluice {

inline constinit const LazyLibrary kLibcurl{"libcurl.so.4", "libcurl4"};

// libcurl documents these functions.
#define SLUICE_LIBCURL(name)                                      \
    inline constinit const LazyFunction<decltype(&::name)> name { \
        kLibcurl, #name                                           \
    }
SLUICE_LIBCURL(curl_easy_cleanup);
SLUICE_LIBCURL(curl_easy_getinfo);
SLUICE_LIBCURL(curl_easy_header);
SLUICE_LIBCURL(curl_easy_init);
SLUICE_LIBCURL(curl_easy_reset);
SLUICE_LIBCURL(curl_easy_setopt);
SLUICE_LIBCURL(curl_easy_strerror);
SLUICE_LIBCURL(curl_free);
SLUICE_LIBCURL(curl_getdate);
SLUICE_LIBCURL(curl_global_init);
SLUICE_LIBCURL(curl_multi_add_handle);
SLUICE_LIBCURL(curl_multi_cleanup);
SLUICE_LIBCURL(curl_multi_info_read);
SLUICE_LIBCURL(curl_multi_init);
SLUICE_LIBCURL(curl_multi_perform);
SLUICE_LIBCURL(curl_multi_poll);
SLUICE_LIBCURL(curl_multi_remove_handle);
SLUICE_LIBCURL(curl_multi_wakeup);
SLUICE_LIBCURL(curl_slist_append);
SLUICE_LIBCURL(curl_slist_free_all);
SLUICE_LIBCURL(curl_url);
SLUICE_LIBCURL(curl_url_cleanup);
SLUICE_LIBCURL(curl_url_get);
SLUICE_LIBCURL(curl_url_set);
#undef SLUICE_LIBCURL

}  // namespace sluice
