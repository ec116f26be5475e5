#include "core/ledger/account_rows.hpp"
#include "core/lists/plain_lists.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {

Columns columns_of(lists::ColumnType type, lists::Scope scope, std::string_view names) {
    return mapped(lists::words_of(names), [type, scope](std::string_view name) {
        return lists::Column(name, type, scope);
    });
}

// ---- Plain lists --------------------------------------------------------------------------------

namespace {

/// Returns the end of the closed period that the parameter `until` names; not_found without one.
Timestamp closed_period(Read& read) {
    return own_row(read, Period{read.grant.account, read.arguments.required_time("until")}).until;
}

/// A key of one text is that text.
std::vector<std::string> texts_of(const std::string& key, std::size_t texts) {
    return texts == 1 ? std::vector{key} : key_parts(key, texts);
}
std::string key_of(const std::vector<std::string>& texts) {
    return texts.size() == 1 ? texts.front() : join_key(texts);
}

std::uint16_t scope_of(lists::ReadBy readers) {
    return readers == lists::ReadBy::kOrders     ? std::uint16_t{kReadOrders}
           : readers == lists::ReadBy::kCreators ? kOfCreators
                                                 : std::uint16_t{kReadLedger};
}

/// The parameters that a plain list requires, then those that select some of its rows.
std::vector<Parameter> parameters_of(const lists::PlainList& list) {
    std::vector<Parameter> parameters;
    if (list.within == "payout_id") {
        parameters.push_back(payout_parameter());
    } else if (list.within == "account until") {
        parameters.push_back({"until", ValueKind::kMonthEnd, "End of the period", true});
    }
    if (list.by_creator) {
        parameters.push_back(creator_parameter());
    }
    if (list.history != nullptr) {
        parameters.push_back({"history", ValueKind::kFlag, "Whether to list every change"});
    }
    return parameters;
}

/// Columns of the list, then those that only its history has.
Columns all_columns(const lists::PlainList& list) {
    Columns columns = list.columns();
    for (const lists::Column& column :
         list.history == nullptr ? Columns() : list.history->columns()) {
        if (find_item(list.columns(), column.name, &lists::Column::name) == nullptr) {
            columns.push_back(column);
        }
    }
    return columns;
}

Page plain_page(Read& read, const lists::PlainList& given) {
    lists::PlainListing listing{read.grant.account, read.grant.account_id};
    if (given.within == "payout_id") {
        listing.with.emplace_back("payout_id", payout_of(read).payout_id);
    } else if (given.within == "account until") {
        listing.with.emplace_back("until", closed_period(read).to_string());
    }
    if (const auto creator = creator_of(read)) {
        listing.with.emplace_back("creator", creator->str());
    }
    const bool has_history = read.arguments.flag("history").value_or(false);
    const lists::PlainList& list = has_history ? *given.history : given;
    if (read.after) {
        listing.after = texts_of(*read.after, list.key_columns());
    }
    Page page;
    page.columns = list.columns();
    page.rows =
        from_cursor(lists::plain_rows(read.ledger, list, listing, read.limit(), kRowsReadMax));
    if (listing.after) {
        page.next_key = key_of(*listing.after);
    }
    return page;
}

}  // namespace

Resource plain_resource(const lists::PlainList& list) {
    return {list.resource,
            scope_of(list.read_by),
            list.resource_text,
            parameters_of(list),
            all_columns(list),
            [&list](Read& read) { return plain_page(read, list); },
            kCsv};
}

// ---- The table ----------------------------------------------------------------------------------

const std::vector<Resource>& resources() {
    static const std::vector<Resource> all = [] {
        std::vector<Resource> list;
        for (const auto part :
             {caller_resources, today_resources, search_resources, order_resources,
              anomaly_resources, shop_resources, link_resources, people_resources,
              journal_resources, money_resources, statement_resources, node_resources}) {
            const std::vector<Resource> more = part();
            list.insert(list.end(), more.begin(), more.end());
        }
        for (const lists::PlainList* const one : lists::plain_lists()) {
            if (!one->resource.empty() &&
                find_item(list, one->resource, &Resource::path) == nullptr) {
                list.push_back(plain_resource(*one));
            }
        }
        return list;
    }();
    return all;
}

const Resource* find_resource(std::string_view path) {
    return find_item(resources(), path, &Resource::path);
}

}  // namespace sluice::serve
