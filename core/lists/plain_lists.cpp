#include "core/lists/plain_lists.hpp"

#include "core/lists/creators.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/periods.hpp"

namespace sluice::lists {

const std::vector<const PlainList*>& plain_lists() {
    static const std::vector<const PlainList*> all{&payee_list(), &payout_item_list(),
                                                   &period_sum_list()};
    return all;
}

}  // namespace sluice::lists
