// Files of a creator's page that follow from the platform's configuration.
#pragma once

#include <string>

#include "serve/creators/page_config.hpp"

namespace sluice::serve {

/// Returns the module `settings.js`: names, addresses and shops.
[[nodiscard]] std::string settings_js(const AccountPage& page);
/// Returns `theme.css`: the accent in both schemes.
[[nodiscard]] std::string theme_css(const AccountPage& page);
/// Returns the sources of the policy `frame-ancestors`: the page's origins, or 'none'.
[[nodiscard]] std::string frame_ancestors(const AccountPage& page);

}  // namespace sluice::serve
