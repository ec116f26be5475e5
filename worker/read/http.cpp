#include "worker/read/http.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url_view.hpp>

namespace sluice::serve {
namespace {

namespace urls = boost::urls;

std::string decoded(urls::pct_string_view text) {
    urls::encoding_opts options;
    options.space_as_plus = true;
    return text.decode(options);
}

}  // namespace

std::optional<Target> parse_target(std::string_view text) {
    const auto url = urls::parse_origin_form({text.data(), text.size()});
    if (!url) {
        return std::nullopt;
    }
    Target target;
    target.path = std::string(url->encoded_path());
    for (const auto& parameter : url->encoded_params()) {
        if (!parameter.key.empty() || !parameter.value.empty()) {  // as in `?` and `&&`
            target.parameters.emplace_back(decoded(parameter.key), decoded(parameter.value));
        }
    }
    return target;
}

std::string encoded(std::string_view text) {
    return urls::encode({text.data(), text.size()}, urls::unreserved_chars);
}

}  // namespace sluice::serve
