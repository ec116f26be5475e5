// The file of the creators' pages (creators CE10, 8).
#include "serve/creators/page_config.hpp"

#include <gtest/gtest.h>

#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::serve {
namespace {

constexpr const char* kName = "creators.toml";

/// Returns why a file with this line in its one table is refused, or "".
std::string refused(const std::string& line, const std::string& base = "https://pages.example") {
    const auto config = parse_page_config(
        kName, "base_url = \"" + base + "\"\n[acme]\nname = \"Acme\"\n" + line + "\n");
    return config.ok() ? "" : config.error().message;
}

std::string refused_origin(const std::string& origin) {
    return refused("origins = [\"" + origin + "\"]");
}

TEST(PageConfig, AnOriginIsASchemeAHostAndAPort) {
    for (const char* const origin :
         {"https://app.acme.example", "https://app-2.acme.example:8443", "https://a.example:1",
          "https://xn--kreatr-8wa.example:65535", "https://192.0.2.7", "https://[2001:db8::1]:8443",
          "http://localhost:3000", "http://127.0.0.1", "http://[::1]:8080"}) {
        EXPECT_EQ(refused_origin(origin), "") << origin;
        EXPECT_EQ(refused("", origin), "") << origin;
    }
}

TEST(PageConfig, AnOriginIsKeptAsBrowsersStateIt) {
    const auto config = parse_page_config(
        kName,
        "base_url = \"https://pages.example\"\n[acme]\nname = \"Acme\"\n"
        "origins = [\"https://App.Acme.example:443\", \"https://a.example:4443\", "
        "\"http://localhost:80\", \"http://localhost:443\", \"https://[2001:DB8::443]\"]\n");
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_EQ(config->accounts.begin()->second.origins,
              (std::vector<std::string>{"https://app.acme.example", "https://a.example:4443",
                                        "http://localhost", "http://localhost:443",
                                        "https://[2001:db8::443]"}));
}

TEST(PageConfig, AHostHasNoBytesThatAPolicyReadsOtherwise) {
    for (const char* const origin : {"*",
                                     "https://*",
                                     "https://*.acme.example",
                                     "https://app.*",
                                     "https://a;b.example",
                                     "https://a.example;script-src",
                                     "https://a.example'",
                                     "https://'none'",
                                     "https://a,b.example",
                                     "https://a_b.example",
                                     "https://%2a.example",
                                     "https://a..example",
                                     "https://a.example:",
                                     "https://a.example:0",
                                     "https://a.example:65536",
                                     "https://a.example:99999",
                                     "https://a.example:*",
                                     "https://",
                                     "https://:443",
                                     "https://[fe80::1%25eth0]",
                                     "https://[v1.x]",
                                     "https://me@a.example",
                                     "https://a.example/",
                                     "https://a.example?x",
                                     "http://a.example",
                                     "http://*",
                                     "//a.example",
                                     "null"}) {
        EXPECT_NE(
            refused_origin(origin).find("creators.toml:4: origins: expected an origin such as "
                                        "https://app.acme.example, without a path and without *"),
            std::string::npos)
            << origin << ": " << refused_origin(origin);
        EXPECT_NE(
            refused("", origin)
                .find("creators.toml:1: base_url: expected https:// and a host, without a path"),
            std::string::npos)
            << origin << ": " << refused("", origin);
    }
}

TEST(PageConfig, AnAddressHasAHostOfTheSameKind) {
    for (const char* const key : {"return_url", "links", "ask"}) {
        const auto line = [key](const std::string& url) {
            return std::string(key) + " = \"" + url + "\"";
        };
        EXPECT_EQ(refused(line("https://app.acme.example/a;b/*?c='d'#e")), "") << key;
        for (const char* const url : {"https://*.acme.example/", "https://a.example:99999/",
                                      "https://a;b.example/", "javascript:alert(1)"}) {
            EXPECT_NE(refused(line(url)).find(std::string(key) + ": expected an address that"),
                      std::string::npos)
                << url;
        }
    }
}

TEST(PageConfig, ALogoIsAPictureOf32Kb) {
    const store::TempStore folder;
    const std::string path = folder.paths().root / "acme.svg";
    const auto refused_with = [&path](std::size_t bytes) {
        std::ofstream(path) << std::string(bytes, 'x');
        return refused("logo = \"" + path + "\"");
    };
    EXPECT_EQ(refused_with(32 << 10), "");
    EXPECT_EQ(refused_with((32 << 10) + 1),
              "creators.toml:4: logo: " + path + ": larger than 32 KB; save the picture smaller");
    EXPECT_NE(refused("logo = \"/none/acme.svg\"").find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace sluice::serve
