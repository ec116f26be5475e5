// What the codecs of the ledger's values share. Inner header of the room: it shows FlatBuffers.
//
// Encoders are deterministic: equal rows give equal bytes. Decoders verify every buffer before they
// read it and check what FlatBuffers cannot know (ranges, enumerations, text lengths).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/protocol/signature.hpp"
#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/ledger/ledger_generated.h"

namespace sluice::store {

/// Where FlatBuffers may read a value: its accessors want 8-byte alignment, LMDB promises 2.
class AlignedCopy {
public:
    /// nullptr: the bytes are no well-formed table. Valid until the next call.
    template <class Table>
    [[nodiscard]] const Table* verified(std::string_view value) {
        if (value.empty()) {
            return nullptr;
        }
        words_.resize((value.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
        std::memcpy(words_.data(), value.data(), value.size());
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(words_.data());
        flatbuffers::Verifier verifier(bytes, value.size(), kDepthMax, kTablesMax);
        return verifier.VerifyBuffer<Table>(nullptr) ? flatbuffers::GetRoot<Table>(bytes) : nullptr;
    }

private:
    static constexpr flatbuffers::uoffset_t kDepthMax = 16;
    static constexpr flatbuffers::uoffset_t kTablesMax = 100'000'000;
    std::vector<std::uint64_t> words_;
};

/// FlatBuffers' verifier looks at bounds, not at where the structs or numbers of a vector lie.
/// @tparam Element  A number, or a pointer to a struct.
template <class Element>
[[nodiscard]] bool is_aligned(const flatbuffers::Vector<Element>* elements) noexcept {
    using Stored = std::remove_cv_t<std::remove_pointer_t<Element>>;
    return elements == nullptr ||
           reinterpret_cast<std::uintptr_t>(elements->Data()) % alignof(Stored) == 0;
}

/// Decimals that do not fit a long; their place in it is their index here.
class WideDecimals {
public:
    static constexpr std::uint8_t kWideBit = 0x80;

    void clear() noexcept { wides_.clear(); }
    /// The long that stands for `value`; sets the scale byte.
    [[nodiscard]] std::int64_t put(const Decimal& value, std::uint8_t& scale);
    [[nodiscard]] const std::vector<fbs::Wide>& wides() const noexcept { return wides_; }

private:
    std::vector<fbs::Wide> wides_;
};

/// Reads what was put; ok() is false once an index or a scale was out of range.
class WideDecimalReader {
public:
    explicit WideDecimalReader(const flatbuffers::Vector<const fbs::Wide*>* wides)
        : wides_(wides), ok_(is_aligned(wides)) {}
    [[nodiscard]] Decimal get(std::int64_t value, std::uint8_t scale) noexcept;
    [[nodiscard]] bool ok() const noexcept { return ok_; }

private:
    const flatbuffers::Vector<const fbs::Wide*>* wides_;
    bool ok_;
};

/// Takes strings off the `text` of a value by their lengths.
class TextReader {
public:
    explicit TextReader(const flatbuffers::Vector<std::uint8_t>* text) noexcept
        : rest_(text == nullptr
                    ? std::string_view{}
                    : std::string_view(reinterpret_cast<const char*>(text->data()), text->size())) {
    }
    [[nodiscard]] std::string_view take(std::size_t bytes) noexcept {
        ok_ = ok_ && bytes <= rest_.size();
        const std::string_view taken = rest_.substr(0, ok_ ? bytes : 0);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    /// Every length was there, and no byte is left.
    [[nodiscard]] bool complete() const noexcept { return ok_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool ok_ = true;
};

[[nodiscard]] fbs::Wide to_wide(const Decimal& value) noexcept;
[[nodiscard]] bool from_wide(const fbs::Wide& wide, Decimal& value) noexcept;

[[nodiscard]] inline fbs::Instant to_instant(Timestamp at) noexcept {
    return {static_cast<std::uint32_t>(at.seconds), static_cast<std::int32_t>(at.seconds >> 32),
            at.nanos};
}
[[nodiscard]] inline Timestamp from_instant(const fbs::Instant& at) noexcept {
    return {std::int64_t{at.seconds_high()} << 32 | at.seconds_low(), at.nanos()};
}
[[nodiscard]] inline fbs::Hash to_hash(const Digest256& digest) noexcept {
    return fbs::Hash(flatbuffers::span<const std::uint8_t, 32>(digest));
}
[[nodiscard]] Digest256 from_hash(const fbs::Hash& hash) noexcept;

[[nodiscard]] fbs::Money3 to_money3(const Currency& currency) noexcept;
/// False: no currency that this build knows. Three 0x00 are the currency of nothing.
[[nodiscard]] bool from_money3(const fbs::Money3& code, Currency& currency) noexcept;

[[nodiscard]] inline std::string_view view_of(const flatbuffers::String* text) noexcept {
    return text == nullptr ? std::string_view{} : std::string_view(text->data(), text->size());
}
[[nodiscard]] inline std::string_view view_of(
    const flatbuffers::Vector<std::uint8_t>* bytes) noexcept {
    return bytes == nullptr
               ? std::string_view{}
               : std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}
[[nodiscard]] inline std::string_view finished(
    const flatbuffers::FlatBufferBuilder& builder) noexcept {
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

/// Fields that are empty are left out: they cost nothing then.
[[nodiscard]] inline flatbuffers::Offset<flatbuffers::String> text_if(
    flatbuffers::FlatBufferBuilder& builder, std::string_view text) {
    return text.empty() ? 0 : builder.CreateString(text.data(), text.size());
}
template <class Struct>
[[nodiscard]] flatbuffers::Offset<flatbuffers::Vector<const Struct*>> structs_if(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<Struct>& rows) {
    return rows.empty() ? 0 : builder.CreateVectorOfStructs(rows);
}

/// Assigns without giving up the string's buffer.
template <class Tag>
void assign(TextId<Tag>& id, std::string_view text) {
    if (id.view() != text) {
        id = TextId<Tag>(text);
    }
}

/// Takes an id that the key had to cut from the value; one that the row already has must match.
/// False: it does not, or there is none.
template <class Tag>
[[nodiscard]] bool complete_id(TextId<Tag>& id, const flatbuffers::String* stored) {
    if (id.empty()) {
        id = TextId<Tag>(view_of(stored));
    }
    return !id.empty() && (stored == nullptr || id.view() == view_of(stored));
}

}  // namespace sluice::store
