#include "tool/reconcile/listed_orders.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "core/protocol/signature.hpp"

namespace sluice::cli {
namespace {

EventDigest digest_of(std::string_view id) {
    const Digest256 whole = sha256(id);
    EventDigest half{};
    std::copy_n(whole.begin(), half.size(), half.begin());
    return half;
}

std::string text_of(const std::optional<Decimal>& amount) {
    return amount ? amount->rescaled(Decimal::kFractionDigitsMax).to_string() : "-";
}

std::uint64_t hash_of(const std::string& text) {
    return std::hash<std::string>()(text);
}

/// Everything that is compared, by value.
std::uint64_t values_of(const ListedOrder& order) {
    std::string text = order.cancelled ? std::to_string(*order.cancelled) : "-";
    for (const auto* amount : {&order.amount, &order.tax, &order.shipping}) {
        text += " " + text_of(*amount);
    }
    text += order.currency ? " " + std::string(order.currency->code()) : " -";
    return hash_of(text);
}

}  // namespace

std::size_t ListedOrders::Hash::operator()(const EventDigest& digest) const noexcept {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof(hash));
    return hash;
}

ListedOrders::Seen ListedOrders::add(const ListedOrder& order) {
    const Row row{order.line, values_of(order),
                  order.version ? hash_of(order.version->to_string()) : 0};
    const EventDigest id = digest_of(order.plain_id.empty() ? order.order_id : order.plain_id);
    if (is_full() && !rows_.contains(id)) {
        return {};
    }
    const auto [known, added] = rows_.try_emplace(id, row);
    if (added || known->second.line == 0 || known->second.version != row.version) {
        known->second = row;
        return {};
    }
    return {known->second.values == row.values ? Seen::As::kSame : Seen::As::kOther,
            known->second.line};
}

void ListedOrders::add_id(std::string_view id) {
    rows_.try_emplace(digest_of(id));
}

bool ListedOrders::has(std::string_view id) const {
    return rows_.contains(digest_of(id));
}

}  // namespace sluice::cli
