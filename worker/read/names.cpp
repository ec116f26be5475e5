// The shop, creator, program and payout that parameters name, in the caller's account only.
#include <algorithm>
#include <cstdlib>

#include "core/reports/payouts.hpp"
#include "core/rules/account.hpp"
#include "worker/read/cursor.hpp"
#include "worker/read/lists.hpp"

namespace sluice::serve {
namespace {

/// Returns whether the account has a shop that sent nothing yet.
bool is_registered(const Read& read, const ShopId& shop) {
    const std::vector<store::ShopRow> shops = registered_shops(read);
    return std::any_of(shops.begin(), shops.end(),
                       [&](const store::ShopRow& row) { return row.shop_id == shop; });
}

}  // namespace

std::vector<store::ShopRow> registered_shops(const Read& read) {
    const auto registry =
        store::Registry::open(*read.worker.paths, store::Registry::Mode::kPublished);
    auto shops = registry.ok() ? (*registry)->shops(read.grant.account_id)
                               : Result<std::vector<store::ShopRow>>(registry.error());
    if (!shops.ok()) {
        throw LedgerFailure(shops.error());
    }
    return std::move(shops).value();
}

std::vector<ShopRow> shops_of(Read& read) {
    const auto only = read.arguments.id<ShopId>("shop");
    std::vector<ShopRow> shops;
    read.ledger.scan_shops([&](const ShopRow& shop) {
        if (shop.account == read.grant.account && (!only || *only == shop.shop_id)) {
            shops.push_back(shop);
        }
        return true;
    });
    if (only && shops.empty() && !is_registered(read, *only)) {
        refuse("not_found");
    }
    return shops;
}

std::optional<CreatorId> creator_of(Read& read) {
    const auto given = read.arguments.id<CreatorId>("creator");
    if (!given) {
        return std::nullopt;
    }
    CreatorRow row{
        read.grant.account, first_id(read.ledger, read.grant.account, *given), {}, {}, {}};
    if (!read.ledger.load(row)) {
        refuse("not_found");
    }
    return row.creator;
}

std::optional<ProgramRow> program_of(Read& read) {
    const auto given = read.arguments.id<ProgramId>("program");
    if (!given) {
        return std::nullopt;
    }
    auto row = read.ledger.program(*given);
    if (!row || row->program.account != read.grant.account) {
        refuse("not_found");
    }
    return row;
}

Payout payout_of(Read& read) {
    Payout payout;
    payout.payout_id = *read.arguments.text("payout");
    if (!read.ledger.load(payout) || payout.account != read.grant.account) {
        refuse("not_found");
    }
    return payout;
}

PageOfAll::PageOfAll(const Read& read, std::vector<std::size_t> sorted_by)
    : limit_(read.limit()), sorted_by_(std::move(sorted_by)) {
    if (read.after && sorted_by_.empty()) {
        first_ = std::strtoull(read.after->c_str(), nullptr, 10);
    } else if (read.after) {
        after_ = split_key(*read.after, sorted_by_.size());
        if (!after_) {
            refuse("cursor_invalid");
        }
    }
}

void PageOfAll::add(const reports::Row& row) {
    if (sorted_by_.empty()) {
        return add_by_place(row);
    }
    std::vector<std::string> key;
    for (const std::size_t cell : sorted_by_) {
        key.push_back(row[cell].cell());
    }
    if (after_ && key <= *after_) {
        return;
    }
    has_more_ = page_.rows.size() >= limit_;
    if (!has_more_) {
        page_.rows.push_back(row);
        last_ = std::move(key);
    }
}

void PageOfAll::add_by_place(const reports::Row& row) {
    const std::size_t place = count_++;
    if (place >= first_ && place < first_ + limit_) {
        page_.rows.push_back(row);
    }
}

Page PageOfAll::take() && {
    if (has_more_) {
        page_.next_key = join_key(last_);
    } else if (count_ > first_ + limit_) {
        page_.next_key = std::to_string(first_ + limit_);
    }
    return std::move(page_);
}

}  // namespace sluice::serve
