#include "serve/creators/page_files.hpp"

#include "core/json/writer.hpp"
#include "core/values/texts.hpp"

namespace sluice::serve {
namespace {

std::string rule_of(const std::string& accent) {
    return accent.empty() ? "" : ":root { --one: " + accent + "; }";
}

}  // namespace

std::string settings_js(const AccountPage& page) {
    std::string text = "export default ";
    JsonWriter json(text);
    json.begin_object();
    json.field("name", page.name).key("origins").begin_array();
    for (const std::string& origin : page.origins) {
        json.value(origin);
    }
    json.end_array();
    json.field("return_url", page.return_url).field("ask", page.ask).field("paid", page.paid);
    json.field("links", page.links).field("logo", page.logo ? "logo" : "");
    json.key("shops").begin_object();
    for (const auto& [shop, name] : page.shops) {
        json.field(shop.view(), name);
    }
    json.end_object().end_object();
    return text + ";\n";
}

std::string theme_css(const AccountPage& page) {
    const std::string dark = rule_of(page.accent_dark);
    std::string text = page.accent.empty() ? ""
                                           : "@media (prefers-color-scheme: light) { " +
                                                 rule_of(page.accent) + " }\n";
    return text + (dark.empty() ? "" : "@media (prefers-color-scheme: dark) { " + dark + " }\n");
}

std::string frame_ancestors(const AccountPage& page) {
    return page.origins.empty() ? "'none'" : joined(page.origins, " ");
}

}  // namespace sluice::serve
