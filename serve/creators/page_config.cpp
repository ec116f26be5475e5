#include "serve/creators/page_config.hpp"

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cmath>

#include "core/links/destination.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/texts.hpp"
#include "program/system/file.hpp"
#include "program/toml/toml_table.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {
namespace {

using cli::fail;
using cli::TomlTable;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20, kLogoBytesMax = std::size_t{32} << 10;
constexpr std::size_t kOriginsMax = 16;
constexpr std::string_view kUrlExample = R"("https://pages.acme.example")";

// ---- Addresses ----------------------------------------------------------------------------------

/// Returns whether browsers treat plain HTTP to the host as safe.
bool is_this_machine(std::string_view host) {
    return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

/// Returns whether host and port are of letters, digits, dots and hyphens. A host of RFC 3986 may
/// also have `*` and `;`: in Content-Security-Policy a wildcard, and the end of a directive.
bool is_plain_host(const boost::urls::url_view& url, const std::string& host) {
    // An address in brackets was parsed already, and is none of a destination's names.
    const bool is_ip_6 = url.host_type() == boost::urls::host_type::ipv6 &&
                         host.find('%') == std::string::npos;  // no zone
    const std::string port(url.port().data(), url.port().size());
    return parse_destination("https://" + (is_ip_6 ? "ip" : host) +
                             (url.has_port() ? ":" + port : ""))
        .ok();
}

/// Returns whether the text is https: with a host, or http: to this machine, without user info.
/// @param has_path  Whether more may follow the port.
bool is_web_address(std::string_view text, bool has_path) {
    const auto url = boost::urls::parse_uri(text);
    if (!url || url->has_userinfo() || !url->has_authority()) {
        return false;
    }
    const std::string_view scheme(url->scheme().data(), url->scheme().size());
    const std::string host(url->encoded_host().data(), url->encoded_host().size());
    if (!is_plain_host(*url, host)) {
        return false;
    }
    const bool is_bare = url->encoded_path().empty() && !url->has_query() && !url->has_fragment();
    return (scheme == "https" || (scheme == "http" && is_this_machine(host))) &&
           (has_path || is_bare);
}

std::string address_of(const toml::node& node, std::string_view key) {
    std::string text = cli::word_of(node, key, R"("https://app.acme.example/earnings")");
    if (!is_web_address(text, true)) {
        fail(node, std::string(key) + ": expected an address that begins with https://");
    }
    return text;
}

std::string ask_of(const toml::node& node, std::string_view key) {
    std::string text = cli::word_of(node, key, R"("mailto:creators@acme.example")");
    // The page replaces {number} and {cause}, which a URI cannot have.
    std::string filled = text;
    for (const std::string_view name : {"{number}", "{cause}"}) {
        for (std::size_t at = filled.find(name); at != std::string::npos; at = filled.find(name)) {
            filled.replace(at, name.size(), "x");
        }
    }
    const bool is_mail = filled.starts_with("mailto:") && boost::urls::parse_uri(filled);
    if (!is_mail && !is_web_address(filled, true)) {
        fail(node, "ask: expected an address that begins with mailto: or https://");
    }
    return text;
}

/// Returns an origin as browsers state it: in small letters, and without the usual port. The page
/// takes messages from no other text.
std::string stated(const std::string& origin) {
    std::string text = ascii_lower(origin);
    const std::string_view usual = text.starts_with("https:") ? ":443" : ":80";
    if (text.ends_with(usual)) {
        text.resize(text.size() - usual.size());
    }
    return text;
}

std::vector<std::string> origins_of(const toml::node& node, std::string_view key) {
    constexpr std::string_view kExample = R"(["https://app.acme.example"])";
    std::vector<std::string> origins;
    for (const toml::node& item : cli::list_of(node, key, kExample)) {
        origins.push_back(cli::word_of(item, key, kExample));
        if (!is_web_address(origins.back(), false)) {
            fail(item,
                 "origins: expected an origin such as https://app.acme.example, without a "
                 "path and without *");
        }
        origins.back() = stated(origins.back());
    }
    if (origins.empty() || origins.size() > kOriginsMax) {
        fail(node, "origins: expected 1 to " + std::to_string(kOriginsMax) + " origins");
    }
    return origins;
}

// ---- Looks --------------------------------------------------------------------------------------

using Colour = std::array<std::uint8_t, 3>;

/// Returns the relative luminance (WCAG 2.2).
double luminance_of(const Colour& colour) {
    const auto linear = [](std::uint8_t byte) {
        const double part = byte / 255.0;
        return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
}

double contrast_of(const Colour& one, const Colour& other) {
    const auto [low, high] = std::minmax({luminance_of(one), luminance_of(other)});
    return (high + 0.05) / (low + 0.05);
}

/// @param grounds  The colours of tokens.css on which links and the heading lie.
std::string colour_of(const toml::node& node, std::string_view key,
                      const std::array<Colour, 2>& grounds) {
    std::string text = cli::word_of(node, key, R"("#7a2e8e")");
    Colour colour{};
    if (!text.starts_with('#') ||
        !read_hex(std::string_view(text).substr(1), colour, HexCase::kEither)) {
        fail(node, std::string(key) + ": expected a colour such as \"#7a2e8e\"");
    }
    constexpr double kContrastMin = 4.5;
    for (const Colour& ground : grounds) {
        if (contrast_of(colour, ground) < kContrastMin) {
            fail(node, std::string(key) +
                           ": text in this colour cannot be read on the page: "
                           "expected a contrast of at least 4.5:1 with #" +
                           to_hex(ground));
        }
    }
    return text;
}

PageLogo logo_of(const toml::node& node, std::string_view key) {
    const std::string path = cli::word_of(node, key, R"("/etc/sluice/acme.svg")");
    PageLogo logo;
    for (const auto& [ending, type] :
         {std::pair(".svg", "image/svg+xml"), std::pair(".png", "image/png"),
          std::pair(".webp", "image/webp")}) {
        logo.type = path.ends_with(ending) ? type : logo.type;
    }
    if (logo.type.empty()) {
        fail(node, "logo: expected a file that ends with .svg, .png or .webp");
    }
    auto bytes = cli::read_to_end(path, kLogoBytesMax);
    if (!bytes.ok()) {
        fail(node, "logo: " + (bytes.error().code == ErrorCode::kInvalid
                                   ? path + ": larger than 32 KB; save the picture smaller"
                                   : bytes.error().message));
    }
    logo.bytes = std::move(bytes).value();
    return logo;
}

// ---- Tables -------------------------------------------------------------------------------------

std::map<ShopId, std::string> shop_names_of(const toml::node& node, std::string_view /*key*/) {
    std::map<ShopId, std::string> shops;
    const toml::table* const names = node.as_table();
    if (names == nullptr) {
        fail(node, R"(shops: expected a table such as { shop-1 = "Mug Shop" })");
    }
    for (const auto& [key, value] : *names) {
        if (!is_admin_id(key.str())) {
            fail(value, "shops: expected ids of shops");
        }
        shops.emplace(ShopId(key.str()), cli::word_of(value, key.str(), R"("Mug Shop")"));
    }
    return shops;
}

AccountPage page_of(const std::string& account, const toml::node& node) {
    const TomlTable table(node, account,
                          {"name", "origins", "return_url", "ask", "paid", "links", "accent",
                           "accent_dark", "logo", "shops"});
    constexpr std::array<Colour, 2> kLight{{{0xf5, 0xf5, 0xf2}, {0xff, 0xff, 0xff}}};
    constexpr std::array<Colour, 2> kDark{{{0x16, 0x16, 0x15}, {0x20, 0x20, 0x1e}}};
    AccountPage page;
    page.name =
        cli::word_of(table.require("name", R"("Acme Creators")"), "name", R"("Acme Creators")");
    table.read_if("origins", page.origins, origins_of);
    table.read_if("return_url", page.return_url, address_of);
    table.read_if("ask", page.ask, ask_of);
    table.read_if("paid", page.paid, cli::word_of, R"("around the 5th")");
    table.read_if("links", page.links, address_of);
    table.read_if("accent", page.accent, colour_of, kLight);
    table.read_if("accent_dark", page.accent_dark, colour_of, kDark);
    table.read_if("logo", page.logo, logo_of);
    table.read_if("shops", page.shops, shop_names_of);
    return page;
}

PageConfig read_config(const toml::table& file) {
    const toml::node* const base = file.get("base_url");
    if (base == nullptr) {
        throw cli::TomlMistake{1, "expected base_url = " + std::string(kUrlExample)};
    }
    PageConfig config;
    config.base_url = cli::word_of(*base, "base_url", kUrlExample);
    if (!is_web_address(config.base_url, false)) {
        fail(*base, "base_url: expected https:// and a host, without a path");
    }
    for (const auto& [key, value] : file) {
        if (key.str() == "base_url") {
            continue;
        }
        const std::string account(key.str());
        if (!value.is_table() || !is_admin_id(account)) {
            throw cli::TomlMistake{
                key.source().begin.line,
                "unknown key '" + account + "'; expected base_url, and a table for each account"};
        }
        if (account == "." || account == "..") {  // a browser takes it for a folder
            throw cli::TomlMistake{key.source().begin.line, "account '" + account +
                                                                "' has no page, because no address "
                                                                "of a page can have this name"};
        }
        config.accounts.emplace(AccountId(account), page_of(account, value));
    }
    if (config.accounts.empty()) {
        throw cli::TomlMistake{1, "expected a table for at least one account"};
    }
    return config;
}

}  // namespace

std::optional<std::string> PageConfig::address_of(const AccountId& account) const {
    return accounts.contains(account)
               ? std::optional(base_url + "/c/" + encoded(account.view()) + "/")
               : std::nullopt;
}

Result<PageConfig> load_page_config(const std::string& path) {
    return cli::read_to_end(path, kFileBytesMax).and_then([&path](const std::string& text) {
        return parse_page_config(path, text);
    });
}

Result<PageConfig> parse_page_config(const std::string& name, std::string_view text) {
    return cli::parse_toml(name, text, read_config);
}

}  // namespace sluice::serve
