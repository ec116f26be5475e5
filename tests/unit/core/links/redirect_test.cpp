#include "core/links/redirect.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

/// Where a link leads for a raw target below /l/, or why not.
std::string sent_to(std::string_view url, std::string_view raw, bool is_deep,
                    std::string_view device = "12345678") {
    const Result<Destination> to = parse_destination(url);
    const std::optional<LinkTarget> target = parse_link_target(raw, "/l/");
    if (!target || !fits_link(*target, is_deep)) {
        return "unknown";
    }
    RedirectParts parts;
    parts.device = device;
    if (is_deep) {
        parts.rest = target->rest;
        parts.query = target->query;
    }
    return redirect_address(*to, parts);
}

TEST(Redirect, Example8_TheParameterGoesBehindTheQueryAndBeforeTheFragment) {
    EXPECT_EQ(sent_to("https://shop.example/mug?x=1#top", "/l/anna-mug", false),
              "https://shop.example/mug?x=1&svc_anon_id=12345678#top");
    EXPECT_EQ(sent_to("https://shop.example/mug?", "/l/anna-mug", false),
              "https://shop.example/mug?svc_anon_id=12345678");
    EXPECT_EQ(sent_to("https://shop.example", "/l/anna-mug", false, ""), "https://shop.example");
}

TEST(Redirect, Example9_ADeepLinkTakesPathAndQuery) {
    constexpr const char* kUs = "https://shop.example/us";
    EXPECT_EQ(sent_to(kUs, "/l/anna/mug?utm_source=ig", true),
              "https://shop.example/us/mug?utm_source=ig&svc_anon_id=12345678");
    EXPECT_EQ(sent_to(kUs, "/l/anna", true), "https://shop.example/us?svc_anon_id=12345678");
    EXPECT_EQ(sent_to(kUs, "/l/anna/", true), "https://shop.example/us/?svc_anon_id=12345678");
    EXPECT_EQ(sent_to(kUs, "/l/anna//evil.example", true, ""),
              "https://shop.example/us//evil.example");
    EXPECT_EQ(sent_to("https://shop.example/us?a=1", "/l/anna/x?b=2", true, ""),
              "https://shop.example/us/x?a=1&b=2");
}

TEST(Redirect, LK2_ADestinationSaysNoDeviceUnderAnotherPrefixEither) {
    const auto sent = [](std::string_view url) {
        const Result<Destination> to = parse_destination(url);
        RedirectParts parts;
        parts.device_name = "lc_anon_id";
        parts.device = "12345678";
        return redirect_address(*to, parts);
    };
    EXPECT_EQ(sent("https://shop.example/?lc_anon_id=evil&&a=1#top"),
              "https://shop.example/?a=1&lc_anon_id=12345678#top");
    EXPECT_EQ(sent("https://shop.example/?lc%5Fanon_id=evil"),
              "https://shop.example/?lc_anon_id=12345678");
    EXPECT_EQ(sent("https://shop.example/?a=1&&b"),
              "https://shop.example/?a=1&&b&lc_anon_id=12345678");
}

TEST(Redirect, OtherLinksTakeNoRestButALoneSlash) {
    constexpr const char* kMug = "https://shop.example/mug";
    EXPECT_EQ(sent_to(kMug, "/l/anna/", false, ""), kMug);
    EXPECT_EQ(sent_to(kMug, "/l/anna?x=1", false, ""), kMug);
    EXPECT_EQ(sent_to(kMug, "/l/anna/x", false), "unknown");
    EXPECT_EQ(sent_to(kMug, "/l/anna//", false), "unknown");
}

TEST(Redirect, ADotSegmentIsNoRestHoweverItIsWritten) {
    for (const char* const rest :
         {"/..", "/../admin", "/%2e%2e/admin", "/.%2E/admin", "/a/./b", "/%2e", "/a/%2e%2e",
          "/a%2f..%2fadmin", "/a%5c..%5cadmin", "/a/.."}) {
        EXPECT_EQ(sent_to("https://shop.example/us", "/l/anna" + std::string(rest), true),
                  "unknown")
            << rest;
    }
    for (const char* const rest : {"/...", "/a..b", "/..a", "/.well-known", "/a."}) {
        EXPECT_NE(sent_to("https://shop.example/us", "/l/anna" + std::string(rest), true),
                  "unknown")
            << rest;
    }
}

TEST(Redirect, ARestHasOnlyBytesOfRfc3986) {
    for (const char* const rest :
         {"/a\\b", "/a b", "/a\xc3\xa4", "/a%zz", "/a%2", "/a\"", "/a#b"}) {
        EXPECT_EQ(sent_to("https://shop.example/us", "/l/anna" + std::string(rest), true),
                  "unknown")
            << rest;
    }
    const std::string most = "/l/anna/" + std::string(kLinkRestBytesMax - 1, 'a');
    EXPECT_NE(sent_to("https://shop.example/us", most, true), "unknown");
    EXPECT_EQ(sent_to("https://shop.example/us", most + "a", true), "unknown");
    EXPECT_EQ(sent_to("https://shop.example/us", most + "?a", true), "unknown");
}

TEST(Redirect, OtherBytesOfAQueryAreEncoded) {
    EXPECT_EQ(sent_to("https://shop.example/us", "/l/anna?a=\xc3\xa4|\"<#%", true, ""),
              "https://shop.example/us?a=%C3%A4%7C%22%3C%23%25");
}

TEST(Redirect, ADeviceOfTheRequestIsRemovedHoweverItIsWritten) {
    constexpr const char* kUs = "https://shop.example/us";
    EXPECT_EQ(sent_to(kUs, "/l/anna?svc_anon_id=x&a=1&svc%5Fanon_id=y&svc_anon_id", true, ""),
              "https://shop.example/us?a=1");
    EXPECT_EQ(sent_to(kUs, "/l/anna?svc_anon_id=x", true, "deadbeef"),
              "https://shop.example/us?svc_anon_id=deadbeef");
}

TEST(Redirect, TheRawPathBeginsWithPrefixAndId) {
    const auto id_of = [](std::string_view raw) {
        const std::optional<LinkTarget> target = parse_link_target(raw, "/l/");
        return target ? std::string(target->id) : std::string("unknown");
    };
    EXPECT_EQ(id_of("/l/anna-mug?x"), "anna-mug");
    EXPECT_EQ(id_of("/l/" + std::string(64, 'a')), std::string(64, 'a'));
    for (const std::string& raw :
         {std::string("/l/"), std::string("/l/%00"), "/l/" + std::string(65, 'a'),
          std::string("/l//anna"), std::string("/l/%61nna"), std::string("/x/../l/anna"),
          std::string("/l/."), std::string("/l/.."), std::string("/%6c/anna"), std::string("/l"),
          std::string()}) {
        EXPECT_EQ(id_of(raw), "unknown") << raw;
    }
}

TEST(Device, TheFirstSoundCookieOfTheNameCounts) {
    const auto found = [](std::string_view cookies) {
        return std::string(find_device(cookies, kDeviceName));
    };
    EXPECT_EQ(found("a=b; svc_anon_id=12345678; c=d"), "12345678");
    EXPECT_EQ(found("svc_anon_id=short; svc_anon_id=0123456789"), "0123456789");
    EXPECT_EQ(found("svc_anon_id=\"12345678\""), "");
    EXPECT_EQ(found("svc_anon_id=" + std::string(129, 'a')), "");
    EXPECT_EQ(found("svc_anon_id=" + std::string(4096, 'a') + "; x=1"), "");
    EXPECT_EQ(found("svc_anon_id=" + std::string(128, 'a')), std::string(128, 'a'));
    EXPECT_EQ(found("xsvc_anon_id=12345678; svc_anon_id2=12345678; SVC_ANON_ID=12345678"), "");
    EXPECT_EQ(found(";;;=;svc_anon_id;svc_anon_id="), "");
    EXPECT_EQ(found("svc_anon_id=12345\t678;\tsvc_anon_id=a.b_c~d-e"), "a.b_c~d-e");
}

FetchHeaders with(std::string_view FetchHeaders::*field, std::string_view value) {
    FetchHeaders headers;
    headers.*field = value;
    return headers;
}

TEST(FetchHeaders, GuessesAndPartsOfPagesCountNothing) {
    EXPECT_TRUE(with(&FetchHeaders::sec_purpose, "prefetch").is_speculative());
    EXPECT_TRUE(with(&FetchHeaders::sec_purpose, "Prefetch;prerender").is_speculative());
    EXPECT_TRUE(with(&FetchHeaders::purpose, "prefetch").is_speculative());
    EXPECT_TRUE(with(&FetchHeaders::x_moz, "PREFETCH").is_speculative());
    EXPECT_TRUE(with(&FetchHeaders::x_purpose, "preview").is_speculative());
    EXPECT_FALSE(with(&FetchHeaders::sec_purpose, "navigate").is_speculative());
    EXPECT_FALSE(with(&FetchHeaders::purpose, "prefetching").is_speculative());
    EXPECT_FALSE(FetchHeaders{}.is_speculative());
    EXPECT_TRUE(with(&FetchHeaders::sec_fetch_dest, "image").is_embedded());
    EXPECT_TRUE(with(&FetchHeaders::sec_fetch_dest, "iframe").is_embedded());
    EXPECT_FALSE(with(&FetchHeaders::sec_fetch_dest, "Document").is_embedded());
    EXPECT_FALSE(FetchHeaders{}.is_embedded());
}

}  // namespace
}  // namespace sluice
