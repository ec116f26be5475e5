// Stored rows of the registry with any one byte changed, or cut: refused, or read as a row that can
// be written.
#include <gtest/gtest.h>

#include <functional>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/registry/rows.hpp"

namespace sluice::store {
namespace {

constexpr Timestamp kAt{1'700'000'000, 5};

/// One kind of row. `reread`: nothing if the bytes are refused, else what is written of them.
struct RowKind {
    const char* name;
    std::string bytes;
    std::function<std::optional<std::string>(std::string_view)> reread;
};

template <class Row>
RowKind registry_kind(const char* name, const Row& sample, std::string (*encode)(const Row&),
                      std::optional<Row> (*decode)(std::string_view, std::string_view)) {
    return {name, encode(sample), [=](std::string_view bytes) -> std::optional<std::string> {
                const std::optional<Row> row = decode("id", bytes);
                return row ? std::optional(encode(*row)) : std::nullopt;
            }};
}

std::vector<RowKind> registry_kinds() {
    const RegisteredAccount account{AccountId("acme"), {1}, {0}, RateLimit{5, 60}, true, kAt};
    const RegisteredShop shop{ShopId("shop-1"), {1}, AccountId("acme"), {1}, false, kAt};
    const StoredToken token{
        {TokenId("t"), AccountId("acme"), kWriteOrders, kAt, kAt, kAt}, {1}, {}, "sealed"};
    const StoredToken page_token{{TokenId("p"), AccountId("acme"), kCreatorPages, kAt, kAt, kAt},
                                 {1},
                                 {},
                                 "sealed",
                                 PageKey{7, 8}};
    return {
        registry_kind<RegisteredAccount>("account", account, encode_account, decode_account),
        registry_kind<RegisteredShop>("shop", shop, encode_shop, decode_shop),
        registry_kind<StoredToken>("token", token, encode_token, decode_token),
        registry_kind<StoredToken>("page token", page_token, encode_token, decode_token),
    };
}

/// @return how many of the changed rows were refused.
int expect_refused_or_sound(const RowKind& kind) {
    int refused = 0;
    for (std::size_t at = 0; at < kind.bytes.size(); ++at) {
        for (const int mask : {0x01, 0x04, 0x80, 0xFF}) {
            std::string damaged = kind.bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ mask);
            const auto first = kind.reread(damaged);
            if (!first) {
                ++refused;
                continue;
            }
            EXPECT_EQ(kind.reread(*first), first) << kind.name << " at " << at << " ^ " << mask;
        }
    }
    return refused;
}

TEST(RegistryRowDamage, ARowWithAByteChangedIsRefusedOrARow) {
    for (const RowKind& kind : registry_kinds()) {
        EXPECT_EQ(kind.reread(kind.bytes), kind.bytes) << kind.name;
        EXPECT_GE(expect_refused_or_sound(kind), 4) << kind.name;
    }
}

TEST(RegistryRowDamage, ARowThatIsCutIsRefused) {
    for (const RowKind& kind : registry_kinds()) {
        EXPECT_EQ(kind.reread(""), std::nullopt) << kind.name;
        for (std::size_t cut = 1; cut < 12; ++cut) {
            EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, cut)), std::nullopt)
                << kind.name << " of " << cut;
        }
        EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, kind.bytes.size() / 2)),
                  std::nullopt)
            << kind.name;
    }
}

}  // namespace
}  // namespace sluice::store
