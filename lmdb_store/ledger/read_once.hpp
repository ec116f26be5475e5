// Read once: a cache of rows that a transaction reads for one order after the other.
//
// LMDB has one writer at a time, so a value stays true until the transaction itself writes to the
// table. Internal to lmdb_store.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sluice::store {

/// Memory: kValuesMax values.
template <class Value>
class ReadOnce {
public:
    /// Returns the value of `key`, which `read` gives at the first call. Valid until the next call.
    template <class Read>
    [[nodiscard]] const Value& get(std::string_view key, Read&& read) {
        if (last_ != nullptr && last_->first == key) {
            return last_->second;
        }
        auto known = values_.find(key);
        if (known == values_.end()) {
            Value value = read();
            if (values_.size() >= kValuesMax) {
                forget();
            }
            known = values_.emplace(std::string(key), std::move(value)).first;
        }
        last_ = &*known;
        return last_->second;
    }
    /// Discards the cached values. Call this when the transaction writes a row of the table.
    void forget() noexcept {
        last_ = nullptr;
        values_.clear();
    }

private:
    static constexpr std::size_t kValuesMax = 4096;

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, Value, Hash, std::equal_to<>> values_;
    const std::pair<const std::string, Value>* last_ =
        nullptr;  ///< The last value returned, which is often wanted again.
};

}  // namespace sluice::store
