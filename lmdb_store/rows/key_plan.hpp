// Key plan: how long the texts of a described key may be, so that LMDB takes every key.
//
// A text stays whole if what can be behind it is sure to fit: the place of the cut depends on what
// comes before it and on the table, so keys with one beginning are cut alike and sort alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/ledger/row_tables.hpp"
#include "core/values/assert.hpp"

namespace sluice::store {

inline constexpr std::size_t kKeyBytesMax = 511;
inline constexpr std::size_t kKeyTextsMax = 6;
/// Behind the bytes of a text that are kept: a mark and a SHA-256.
inline constexpr std::size_t kCutBytes = 1 + 32;

struct KeyPlan {
    /// Where text n must end at the latest to stay whole, from the beginning of the key.
    std::array<std::size_t, kKeyTextsMax> end_max{};
};

/// Visits the columns of a key in their order.
class KeyPlanner {
public:
    void operator()(const char* /*name*/, const auto& value) {
        ++columns_;
        add(value);
    }
    [[nodiscard]] KeyPlan plan() const {
        KeyPlan plan;
        for (std::size_t i = 0; i < texts_; ++i) {
            const Text& text = text_at_[i];
            const std::size_t end = text.column < columns_ ? 1 : 0;  // 0x00
            const std::size_t behind =
                end + fixed_ - text.fixed_before + (texts_ - 1 - i) * kTextBytesSure;
            plan.end_max[i] = kKeyBytesMax - kCutBytes - behind;
            // What comes before it takes no more than this, so each text has its sure bytes.
            const std::size_t before = kNodeBytes + text.fixed_before + i * kTextBytesSure;
            SLUICE_ASSERT(before + kWholeSure <= plan.end_max[i]);
        }
        return plan;
    }

private:
    struct Text {
        std::size_t fixed_before = 0;
        unsigned column = 0;  ///< 1: the first.
    };
    static constexpr std::size_t kNodeBytes = 4;
    static constexpr std::size_t kWholeSure = 48;
    static constexpr std::size_t kTextBytesSure = kWholeSure + kCutBytes + 1;
    static constexpr std::size_t kInstantBytes = 12;

    void add(const std::string& /*text*/) { add_text(); }
    template <class Tag>
    void add(const TextId<Tag>& /*text*/) {
        add_text();
    }
    void add(const Timestamp& /*at*/) { fixed_ += kInstantBytes; }
    void add(const Currency& currency) { fixed_ += currency.code().size(); }
    template <std::size_t N>
    void add(const std::array<std::uint8_t, N>& /*digest*/) {
        fixed_ += N;
    }
    template <class Tag>
    void add(NumberId<Tag> /*number*/) {
        fixed_ += sizeof(std::uint32_t);
    }
    void add(SequenceNumber /*seq*/) { fixed_ += sizeof(std::uint64_t); }
    template <class Value>
    requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
    void add(Value /*value*/) { fixed_ += sizeof(Value); }
    void add_text() {
        SLUICE_ASSERT(texts_ < kKeyTextsMax);
        text_at_[texts_++] = {fixed_, columns_};
    }

    std::array<Text, kKeyTextsMax> text_at_{};
    std::size_t texts_ = 0;
    std::size_t fixed_ = 0;
    unsigned columns_ = 0;
};

template <class Row>
[[nodiscard]] const KeyPlan& key_plan() {
    static const KeyPlan plan = [] {
        KeyPlanner planner;
        const Row row{};
        TableOf<Row>::key(row, planner);
        return planner.plan();
    }();
    return plan;
}

}  // namespace sluice::store
