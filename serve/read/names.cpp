// The shop, creator, program and payout that parameters name, in the caller's account only.
#include "core/lists/names.hpp"

#include <limits>

#include "core/ledger/paged_reads.hpp"
#include "core/rules/account.hpp"
#include "program/cli/cli_values.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

/// Returns whether the account has a shop that sent nothing yet.
bool is_registered(const Read& read, const ShopId& shop) {
    const std::vector<store::RegisteredShop> shops = registered_shops(read);
    return find_item(shops, shop, &store::RegisteredShop::shop_id) != nullptr;
}

}  // namespace

std::vector<store::RegisteredShop> registered_shops(const Read& read) {
    auto shops = read.worker.shops(read.grant.account_id);
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
    });
    if (only && shops.empty() && !is_registered(read, *only)) {
        refuse("not_found");
    }
    return shops;
}

Shops::Shops(Read& read) {
    for (ShopRow& row : shops_of(read)) {
        numbers_.push_back(row.shop);
        rows_.emplace(row.shop, std::move(row));
    }
}

const ShopRow* Shops::find(ShopNumber number) const {
    return find_value(rows_, number);
}

Json names_of(Read& read, const std::set<std::string>& ids) {
    const lists::CreatorNames first(read.ledger, read.grant.account);
    std::vector<CreatorRow> profiles;
    for (const std::string& id : ids) {
        profiles.push_back(
            {read.grant.account, first.first(read.grant.account, CreatorId(id)), {}, {}, {}});
    }
    load_all(read.ledger, profiles);
    Json names = Json::object();
    for (const CreatorRow& profile : profiles) {
        if (!profile.name.empty()) {
            names[first.shown(read.grant.account, profile.creator).str()] = Json(profile.name);
        }
    }
    return names;
}

Json names_in(Read& read, Json& value) {
    std::set<std::string> ids;
    value.change_members([&ids](std::string_view name, const Json& one) {
        if ((name == "creator_id" || name == "creator") && !one.is_null()) {
            ids.insert(one.cell());
        }
    });
    return names_of(read, ids);
}

std::optional<CreatorId> creator_of(Read& read) {
    const auto given = read.arguments.id<CreatorId>("creator");
    if (!given) {
        return std::nullopt;
    }
    const AccountNumber account = read.grant.account;
    return own_row(read, CreatorRow{account, first_id(read.ledger, account, *given), {}, {}, {}})
        .creator;
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

std::optional<ProgramId> program_id_of(Read& read) {
    const auto row = program_of(read);
    return row ? std::optional(row->program.id) : std::nullopt;
}

Payout payout_of(Read& read) {
    return own_row(read, Payout{read.arguments.required("payout")});
}

std::vector<std::string> key_parts(std::string_view key, std::size_t parts) {
    return from_cursor(split_key(key, parts));
}

std::uint64_t key_number(std::string_view text) {
    const auto number = cli::parse_count(text, 0, std::numeric_limits<std::uint64_t>::max());
    return from_cursor(number.ok() ? std::optional(*number) : std::nullopt);
}

PageOfAll::PageOfAll(const Read& read, KeyOf key_of, std::size_t parts)
    : limit_(read.limit()), key_of_(std::move(key_of)) {
    if (read.after) {
        after_ = key_parts(*read.after, parts);
    }
}

PageOfAll::PageOfAll(const Read& read, const std::vector<lists::Column>& columns,
                     std::string_view sorted_by)
    : PageOfAll(
          read,
          [places = lists::column_places(columns, sorted_by)](const lists::Row& row) {
              return mapped(places, [&row](std::size_t place) { return row[place].cell(); });
          },
          lists::words_of(sorted_by).size()) {}

void PageOfAll::add(const lists::Row& row) {
    std::vector<std::string> key = key_of_(row);
    if (after_ && key <= *after_) {
        return;
    }
    rows_.emplace(std::move(key), row);
    if (rows_.size() > limit_ + 1) {
        rows_.erase(std::prev(rows_.end()));
    }
}

Page PageOfAll::take() && {
    Page page;
    for (auto& [key, row] : rows_) {
        if (page.rows.size() == limit_) {
            break;
        }
        page.rows.push_back(std::move(row));
        if (rows_.size() > limit_) {
            page.next_key = join_key(key);
        }
    }
    return page;
}

}  // namespace sluice::serve
