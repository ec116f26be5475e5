// Click ring: the counted clicks of one nginx process that are not written yet, oldest first. Its
// memory is allocated once. Pure; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/links/published_links.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

struct BufferedClick {
    Digest256 device{};
    std::uint64_t at_ms = 0;              ///< Milliseconds since 1970.
    const PublishedLink* link = nullptr;  ///< Its file stays in memory as long as the click.
};

class ClickRing {
public:
    explicit ClickRing(std::size_t capacity) : clicks_(capacity) {}

    /// Returns false if there is no room; nothing is kept then.
    [[nodiscard]] bool push(const BufferedClick& click) noexcept {
        if (count_ == clicks_.size()) {
            return false;
        }
        clicks_[(first_ + count_) % clicks_.size()] = click;
        ++count_;
        return true;
    }
    /// Passes up to `most` clicks, the oldest first, to `use`, and removes them. Returns their
    /// number.
    template <class Use>
    std::size_t take(std::size_t most, Use&& use) {
        const std::size_t taken = std::min(most, count_);
        for (std::size_t i = 0; i < taken; ++i) {
            fetch_ahead(i, taken);
            use(clicks_[(first_ + i) % clicks_.size()]);
        }
        if (taken != 0) {  // a ring without room divides by nothing
            first_ = (first_ + taken) % clicks_.size();
            count_ -= taken;
        }
        return taken;
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

private:
    /// Lets the processor fetch the links of clicks that follow soon: of 100,000 links hardly one
    /// is in its cache.
    void fetch_ahead(std::size_t i, std::size_t taken) const noexcept {
        constexpr std::size_t kLink = 8, kId = 4;
        const auto link_of = [this](std::size_t at) {
            return clicks_[(first_ + at) % clicks_.size()].link;
        };
        if (i + kLink < taken) {
            __builtin_prefetch(link_of(i + kLink));
        }
        if (i + kId < taken && link_of(i + kId) != nullptr) {
            __builtin_prefetch(link_of(i + kId)->id.data());
        }
    }

    std::vector<BufferedClick> clicks_;
    std::size_t first_ = 0, count_ = 0;
};

}  // namespace sluice
