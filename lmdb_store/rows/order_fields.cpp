#include "lmdb_store/rows/order_fields.hpp"

namespace sluice::store {
namespace {

/// Lines with equal rates are mostly adjacent, so a search of this length finds nearly all.
constexpr std::size_t kRatesLookBack = 8;
/// Up to this number of lines, a linear search is faster than an index.
constexpr std::size_t kFewLines = 16;

/// To the last digit: 1.50 is not 1.500.
bool same_text(const FrozenRate& a, const FrozenRate& b) noexcept {
    return a == b && a.rate.value.scale() == b.rate.value.scale();
}

}  // namespace

std::size_t OrderWriter::place_of(const LineItemId& id) {
    if (id.empty()) {
        return 0;
    }
    if (guess_ < lines_.size() && lines_[guess_].id == id) {
        return guess_ + 1;
    }
    if (lines_.size() <= kFewLines) {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i].id == id) {
                return i + 1;
            }
        }
        return 0;
    }
    if (index_.empty()) {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            index_.try_emplace(lines_[i].id.view(), i + 1);
        }
    }
    const auto found = index_.find(id.view());
    return found == index_.end() ? 0 : found->second;
}

void OrderWriter::rate(const FrozenRate& rate) {
    for (std::size_t back = 1; back <= std::min(kRatesLookBack, rates_.size()); ++back) {
        if (same_text(rates_[rates_.size() - back], rate)) {
            number(back);
            return;
        }
    }
    number(0);
    rate_fields(*this, rate);
    rates_.push_back(rate);
}

void OrderReader::rate(FrozenRate& rate) {
    const std::uint64_t back = number();
    if (back == 0) {
        rate_fields(*this, rate);
        rates_.push_back(rate);
    } else if (back <= rates_.size()) {
        rate = rates_[rates_.size() - back];
    } else {
        fail();
    }
}

}  // namespace sluice::store
