#include "program/system/encoding.hpp"

#include <iconv.h>

#include <utility>

namespace sluice::cli {

std::optional<std::string> recoded(std::string_view text, const char* from, const char* to) {
    constexpr std::size_t kBytesMax = 4;  // of a character, for each byte of the text
    const iconv_t converter = ::iconv_open(to, from);
    if (converter == iconv_t(-1)) {  // NOLINT: how iconv_open() reports an error
        return std::nullopt;
    }
    std::string recoded(text.size() * kBytesMax, '\0');
    std::string given(text);
    char* in = given.data();
    char* out = recoded.data();
    std::size_t in_bytes = given.size(), out_bytes = recoded.size();
    const bool whole = ::iconv(converter, &in, &in_bytes, &out, &out_bytes) != std::size_t(-1);
    ::iconv_close(converter);
    recoded.resize(recoded.size() - out_bytes);
    return whole ? std::optional(std::move(recoded)) : std::nullopt;
}

}  // namespace sluice::cli
