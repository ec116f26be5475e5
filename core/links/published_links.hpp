// Published links: the file of all links that the worker writes and nginx reads. Pure;
// docs/record-format.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// A link as nginx needs it. Views of the bytes of its file.
struct PublishedLink {
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
        const auto found = by_id_.find(id);
        return found == by_id_.end() ? nullptr : &links_[found->second];
    }
    [[nodiscard]] const std::vector<PublishedLink>& links() const noexcept { return links_; }

private:
    PublishedLinks() = default;

    PublishedHead head_;
    std::vector<char> bytes_;  ///< Stays in place when this object moves.
    std::vector<PublishedLink> links_;
    std::unordered_map<std::string_view, std::uint32_t> by_id_;
};

}  // namespace sluice
