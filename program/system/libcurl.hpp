// libcurl, loaded when the first request is sent or the first URL is read; and URLs as it reads
// them.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "core/values/result.hpp"
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

/// A URL as libcurl reads it.
class CurlUrl {
public:
    /// Returns an error if libcurl cannot be loaded.
    [[nodiscard]] static Result<CurlUrl> read(const std::string& text) {
        if (Status loaded = kLibcurl.load(); !loaded.ok()) {
            return loaded.error();
        }
        CurlUrl read{curl_url()};
        if (read.url_ == nullptr) {
            throw std::bad_alloc();
        }
        read.is_valid_ = curl_url_set(read.url_.get(), CURLUPART_URL, text.c_str(),
                                      CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
        return read;
    }

    [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
    [[nodiscard]] bool has(CURLUPart part) const { return find(part).has_value(); }
    /// Returns a part of the URL, or an empty text if the URL has none.
    [[nodiscard]] std::string part(CURLUPart part) const { return find(part).value_or(""); }

private:
    struct UrlEnd {
        void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
    };
    struct TextEnd {
        void operator()(char* text) const noexcept { curl_free(text); }
    };

    explicit CurlUrl(CURLU* url) noexcept : url_(url) {}

    [[nodiscard]] std::optional<std::string> find(CURLUPart part) const {
        char* text = nullptr;
        const bool is_there = curl_url_get(url_.get(), part, &text, 0) == CURLUE_OK;
        const std::unique_ptr<char, TextEnd> owned(text);
        return is_there ? std::optional<std::string>(text) : std::nullopt;
    }

    std::unique_ptr<CURLU, UrlEnd> url_;
    bool is_valid_ = false;
};

}  // namespace sluice
