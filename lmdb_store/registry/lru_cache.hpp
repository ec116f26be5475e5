// LruCache: a cache with text keys that evicts the least recently used entry. Internal to
// lmdb_store. Threads: one at a time.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sluice::store {

template <class Value>
class LruCache {
public:
    /// @param entries_max  At least 1.
    explicit LruCache(std::size_t entries_max) : entries_max_(entries_max) {}

    /// Returns the value, valid until the next put() or erase(), or nullptr. Counts as a use.
    [[nodiscard]] Value* find(std::string_view key) {
        const auto found = index_.find(key);
        if (found == index_.end()) {
            return nullptr;
        }
        entries_.splice(entries_.begin(), entries_, found->second);
        return &found->second->second;
    }

    /// Inserts or replaces.
    Value& put(std::string_view key, Value value) {
        if (Value* old = find(key)) {
            *old = std::move(value);
            return *old;
        }
        if (entries_.size() >= entries_max_) {
            index_.erase(entries_.back().first);
            entries_.pop_back();
        }
        entries_.emplace_front(std::string(key), std::move(value));
        index_.emplace(entries_.front().first, entries_.begin());
        return entries_.front().second;
    }

    void erase(std::string_view key) {
        const auto found = index_.find(key);
        if (found != index_.end()) {
            const auto entry = found->second;
            index_.erase(found);
            entries_.erase(entry);
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
    using Entries = std::list<std::pair<std::string, Value>>;

    std::size_t entries_max_;
    Entries entries_;  ///< Most recently used first.
    std::unordered_map<std::string_view, typename Entries::iterator> index_;
};

}  // namespace sluice::store
