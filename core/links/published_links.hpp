// Published links: the file of all links that the worker writes and nginx reads. Pure;
// docs/record-format.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/links/destination.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"

namespace sluice {

inline constexpr std::size_t kLinksMax = 100'000;  ///< In one ledger.

struct PublishedHead {
    std::string store;             ///< UUID of the store whose worker wrote the file.
    std::uint64_t generation = 0;  ///< Grows with every file of the store.
    std::uint64_t revision = 0;    ///< LinksHead::revision of the ledger.
};

/// A link as nginx needs it. Views of the bytes of its file. Aligned to two lines of the
/// processor's cache, which it fetches together.
struct alignas(128) PublishedLink {
    std::string_view id;
    AccountNumber account;
    std::string_view url;
    bool is_deep = false;
    bool is_stopped = false;
    Destination to{};  ///< `url` in parts.
};

/// Collects the rows of a file, which must come in the order of their ids.
class PublishedLinksWriter {
public:
    void add(const PublishedLink& link);
    /// Returns the file.
    [[nodiscard]] std::string finish(const PublishedHead& head) const;

private:
    std::string rows_;
    std::uint32_t count_ = 0;
};

/// The links of one file. Immutable; any thread.
class PublishedLinks {
public:
    /// Returns kCorrupt if the bytes are not what a PublishedLinksWriter writes.
    [[nodiscard]] static Result<PublishedLinks> read(std::string bytes);
    /// Reads the head alone, of the first bytes of a file, which may be damaged behind them.
    [[nodiscard]] static Result<PublishedHead> read_head(std::string_view bytes);
    /// Bytes that read_head() needs.
    static constexpr std::size_t kHeadBytes = 64;

    PublishedLinks(PublishedLinks&&) = default;
    PublishedLinks& operator=(PublishedLinks&&) = default;

    [[nodiscard]] const PublishedHead& head() const noexcept { return head_; }
    /// Returns nullptr if there is none. Valid as long as this object.
    [[nodiscard]] const PublishedLink* find(std::string_view id) const noexcept {
        const Slot& slot = slots_[probe(id, hash_of(id))];
        return slot.number == kNone ? nullptr : &links_[slot.number];
    }
    /// Lets the processor fetch the slot that find() will read.
    void prefetch(std::string_view id) const noexcept {
        __builtin_prefetch(&slots_[hash_of(id) & (slots_.size() - 1)]);
    }
    [[nodiscard]] const std::vector<PublishedLink>& links() const noexcept { return links_; }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    /// A place of the hash table. It names the id's bytes, so that id and link are fetched at once.
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t number = kNone;  ///< The link's.
        std::uint32_t id_at = 0, id_bytes = 0;
    };

    PublishedLinks() = default;

    [[nodiscard]] static std::uint32_t hash_of(std::string_view id) noexcept {
        return static_cast<std::uint32_t>(std::hash<std::string_view>{}(id));
    }
    /// Returns the index of the slot of this id, or of an empty one.
    [[nodiscard]] std::size_t probe(std::string_view id, std::uint32_t hash) const noexcept;
    /// Returns false if there is a link of this id.
    [[nodiscard]] bool insert(const PublishedLink& link);

    PublishedHead head_;
    std::vector<char> bytes_;  ///< Stays in place when this object moves.
    std::vector<PublishedLink> links_;
    std::vector<Slot> slots_;  ///< A power of two; a quarter is empty at least.
};

}  // namespace sluice
