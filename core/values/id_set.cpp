#include "core/values/id_set.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

void IdSet::assign(std::span<const std::string_view> ids) {
    ids_ = ids;
    has_repeats_ = false;
    repeats_.assign(ids.size(), 0);
    sorted_.clear();
    const auto mark_if_equal = [this](std::size_t earlier, std::size_t later) {
        if (ids_[earlier] == ids_[later] && !ids_[later].empty()) {
            repeats_[later] = 1;
            has_repeats_ = true;
        }
    };
    if (ids.size() <= kSmall) {
        for (std::size_t later = 1; later < ids.size(); ++later) {
            for (std::size_t earlier = 0; earlier < later; ++earlier) {
                mark_if_equal(earlier, later);
            }
        }
        return;
    }
    sorted_.resize(ids.size());
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    std::ranges::sort(sorted_, [ids](std::uint32_t a, std::uint32_t b) {
        const int order = ids[a].compare(ids[b]);
        return order != 0 ? order < 0 : a < b;
    });
    for (std::size_t i = 1; i < sorted_.size(); ++i) {
        mark_if_equal(sorted_[i - 1], sorted_[i]);
    }
}

bool IdSet::contains(std::string_view id) const noexcept {
    if (sorted_.empty()) {
        return std::ranges::find(ids_, id) != ids_.end();
    }
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), id,
                                        [this](std::uint32_t position, std::string_view wanted) {
                                            return ids_[position] < wanted;
                                        });
    return found != sorted_.end() && ids_[*found] == id;
}

}  // namespace sluice
