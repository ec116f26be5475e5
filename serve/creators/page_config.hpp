// Page config: the accounts whose creators have a page, and how it looks: the file of
// --creators-config.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"

namespace sluice::serve {

struct PageLogo {
    std::string type;  ///< image/svg+xml, image/png or image/webp
    std::string bytes;
};

/// The page of an account's creators. Addresses are checked, so that a page may use them as they
/// are; texts may be anything.
struct AccountPage {
    std::string name;                  ///< The platform's, as its creators know it.
    std::vector<std::string> origins;  ///< May embed the page; may be empty.
    std::string return_url;            ///< Where creators log in.
    std::string ask;                   ///< mailto: or https:, may be empty.
    std::string paid;                  ///< When payouts are sent, in words; may be empty.
    std::string links;                 ///< The beginning of creators' links; may be empty.
    std::string accent, accent_dark;   ///< `#7a2e8e`; may be empty.
    std::optional<PageLogo> logo;
    std::map<ShopId, std::string> shops;  ///< Names of shops.
};

struct PageConfig {
    std::string base_url;  ///< Without a final slash.
    std::map<AccountId, AccountPage> accounts;

    /// Returns the address of the page of an account's creators, or nothing if it has none.
    [[nodiscard]] std::optional<std::string> address_of(const AccountId& account) const;
};

/// Reads a file and the logos that it names. The error names file, line and key.
[[nodiscard]] Result<PageConfig> load_page_config(const std::string& path);
/// @param name  The file's name, for messages.
[[nodiscard]] Result<PageConfig> parse_page_config(const std::string& name, std::string_view text);

}  // namespace sluice::serve
