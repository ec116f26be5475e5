// Identifiers as types of their own, so that a shop cannot be passed where an order is meant.
//
// Text ids own their bytes. The registry assigns numbers densely, and never reuses one.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice {

/// A text identifier of any type, for code that treats all ids alike.
class AnyTextId {
public:
    [[nodiscard]] std::string_view view() const noexcept { return text_; }
    [[nodiscard]] const std::string& str() const noexcept { return text_; }
    [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
    /// Keeps its buffer.
    void assign(std::string_view text) { text_.assign(text); }

protected:
    AnyTextId() = default;
    explicit AnyTextId(std::string_view text) : text_(text) {}

    std::string text_;
};

/// A text identifier. Bytes as received: case matters, nothing is normalised.
template <class Tag>
class TextId : public AnyTextId {
public:
    TextId() = default;
    explicit TextId(std::string_view text) : AnyTextId(text) {}

    friend bool operator==(const TextId& a, const TextId& b) { return a.text_ == b.text_; }
    friend std::strong_ordering operator<=>(const TextId& a, const TextId& b) {
        return a.text_.compare(b.text_) <=> 0;
    }
};

/// A 32-bit number that the registry assigned. 0 means "none".
template <class Tag>
struct NumberId {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(NumberId, NumberId) = default;
};

using AccountId = TextId<struct AccountIdTag>;
using ShopId = TextId<struct ShopIdTag>;
using OrderId = TextId<struct OrderIdTag>;
using LineItemId = TextId<struct LineItemIdTag>;
using RefundLineItemId = TextId<struct RefundLineItemIdTag>;
using ProductId = TextId<struct ProductIdTag>;
using Sku = TextId<struct SkuTag>;
using VariantSku = TextId<struct VariantSkuTag>;
using CreatorId = TextId<struct CreatorIdTag>;
using ProgramId = TextId<struct ProgramIdTag>;
using LinkId = TextId<struct LinkIdTag>;
using TokenId = TextId<struct TokenIdTag>;

using AccountNumber = NumberId<struct AccountNumberTag>;
using ShopNumber = NumberId<struct ShopNumberTag>;

/// The place of an account in nginx's shared memory: 0 <= slot < max_accounts. Never reused.
struct AccountSlot {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(AccountSlot, AccountSlot) = default;
};

/// The queue's sequence number: 1, 2, 3 ... never reused, also when the queue runs empty.
struct SequenceNumber {
    std::uint64_t value = 0;
    friend constexpr auto operator<=>(SequenceNumber, SequenceNumber) = default;
};

/// Returns true for an id that people may choose (account, shop, program, creator), as kAdminIdForm
/// says.
[[nodiscard]] bool is_admin_id(std::string_view text) noexcept;
inline constexpr std::size_t kAdminIdBytesMax = 128;
inline constexpr std::string_view kAdminIdForm = "1 to 128 of A-Z a-z 0-9 . _ - : @ + / =";
inline constexpr std::string_view kAdminIdCharacters = kAdminIdForm.substr(12);
static_assert(kAdminIdCharacters.starts_with("A-Z "));
/// Returns true for the id of a link: 1 to 64 of `A-Z a-z 0-9 . _ ~ -`, but not `.` or `..`.
[[nodiscard]] bool is_link_id(std::string_view text) noexcept;
inline constexpr std::size_t kLinkIdBytesMax = 64;
/// Ids from outside (order, line, refund, product, variant, sku).
inline constexpr std::size_t kWireIdBytesMax = 1024;

}  // namespace sluice

template <class Tag>
struct std::hash<sluice::TextId<Tag>> {
    std::size_t operator()(const sluice::TextId<Tag>& id) const noexcept {
        return std::hash<std::string_view>{}(id.view());
    }
};
