// Unsent bytes: how much of the answers waits for clients to take it. A client that reads nothing
// keeps its answer in memory, so the bytes of one caller and of all are limited.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace sluice::serve {

/// One thread.
class UnsentBytes {
public:
    /// Most bytes of all callers, and of one.
    static constexpr std::size_t kMax = std::size_t{64} << 20;
    static constexpr std::size_t kOfOneMax = kMax / 4;

    /// Returns true if there is room for an answer that the caller has not read.
    [[nodiscard]] bool has_room(const std::string& caller, std::size_t bytes) const {
        const auto own = by_caller_.find(caller);
        return total_ + bytes <= kMax &&
               (own == by_caller_.end() ? 0 : own->second) + bytes <= kOfOneMax;
    }
    void add(const std::string& caller, std::size_t bytes) {
        total_ += bytes;
        by_caller_[caller] += bytes;
    }
    /// Takes back what add() counted.
    void remove(const std::string& caller, std::size_t bytes) {
        const auto own = by_caller_.find(caller);
        own->second -= bytes;
        total_ -= bytes;
        if (own->second == 0) {
            by_caller_.erase(own);
        }
    }

private:
    std::map<std::string, std::size_t> by_caller_;
    std::size_t total_ = 0;
};

}  // namespace sluice::serve
