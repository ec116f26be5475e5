// The reads behind the resources. Each returns the rows of one page, or one object.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "core/json/value.hpp"
#include "core/lists/list.hpp"
#include "core/lists/plain_list.hpp"
#include "core/lists/silence.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {

/// Most rows that one request reads.
inline constexpr std::size_t kRowsReadMax = 10'000;
/// Most bytes of an answer.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{8} << 20;

/// Returns the account's shops, by id, those that sent nothing yet as well.
[[nodiscard]] std::vector<store::RegisteredShop> registered_shops(const Read& read);
/// Returns the shops of the caller's account that have sent something, by shop id: all, or the one
/// that the parameter `shop` names. A shop that the account does not have is not_found.
[[nodiscard]] std::vector<ShopRow> shops_of(Read& read);
/// Returns the names of creators, by id. An id without a name is left out.
[[nodiscard]] Json names_of(Read& read, const std::set<std::string>& ids);
/// Returns the names of the creators whose ids the value has as `creator_id` or `creator`.
[[nodiscard]] Json names_in(Read& read, Json& value);
/// Returns the first id of the creator that the parameter `creator` names, or nothing without one.
/// A creator that the account does not have is not_found.
[[nodiscard]] std::optional<CreatorId> creator_of(Read& read);
/// Returns the program that the parameter `program` names, or nothing without one. A program that
/// the account does not have is not_found.
[[nodiscard]] std::optional<ProgramRow> program_of(Read& read);
[[nodiscard]] std::optional<ProgramId> program_id_of(Read& read);
/// Returns the payout that the parameter `payout` names; not_found if the account has none.
[[nodiscard]] Payout payout_of(Read& read);

/// Cuts the object to what an answer has room for (cut.hpp), and returns it as text; with the
/// parameter `after`, the rest of one list.
[[nodiscard]] std::string fitted(const Read& read, Json& object);

/// The account's shops that have sent something, which are read once.
class Shops {
public:
    explicit Shops(Read& read);

    /// By shop id.
    [[nodiscard]] const std::vector<ShopNumber>& numbers() const noexcept { return numbers_; }
    /// Returns nullptr for a shop that shops_of() does not return.
    [[nodiscard]] const ShopRow* find(ShopNumber number) const;

private:
    std::map<ShopNumber, ShopRow> rows_;
    std::vector<ShopNumber> numbers_;
};

/// Returns a value that was read from a cursor; cursor_invalid if there is none.
template <class Value>
[[nodiscard]] Value from_cursor(std::optional<Value> value) {
    if (!value) {
        refuse("cursor_invalid");
    }
    return *std::move(value);
}
/// Returns the texts of a cursor's key; cursor_invalid unless it has this many.
[[nodiscard]] std::vector<std::string> key_parts(std::string_view key, std::size_t parts);

/// Returns a number of a cursor's key; cursor_invalid if the text is none.
[[nodiscard]] std::uint64_t key_number(std::string_view text);

/// Returns the key of a place in a list of several shops: the shop's id and the key within it.
[[nodiscard]] std::string shop_key(const ShopRow& shop, std::string_view rest);
/// Visits the shops as shops_of() returns them, from the cursor's on, until `page` has a next key.
/// @param visit  Takes a shop, and the place within it after which the page begins, or nothing.
void visit_shops(
    Read& read, const Page& page,
    const std::function<void(const ShopRow& shop, const std::optional<std::string>& after)>& visit);

struct NodeState {
    LedgerHead head;
    /// By its last receipt. This store's node is also behind if its inputs have waited, or its
    /// worker was silent, for over five minutes, and is never gone.
    lists::NodePace pace = lists::NodePace::kCurrent;
};
/// Returns every node, by UUID.
[[nodiscard]] std::vector<NodeState> node_states(Read& read);
/// Returns the payouts that failed or were returned, oldest first, but those of which later ones of
/// the creator in the currency, that are not void, took everything that is open.
[[nodiscard]] std::vector<Payout> unpaid_payouts(Read& read);
/// Returns the payouts that were sent over kSentDays ago and are neither settled nor failed.
[[nodiscard]] std::vector<Payout> payouts_sent_long_ago(Read& read);
inline constexpr std::int64_t kSentDays = 7;

/// @param digest  As code_digest() returns it.
[[nodiscard]] bool has_code(const OrderState& order, const Digest256& digest);

/// A text to find inside others. Upper and lower case of ASCII are alike.
class TextPart {
public:
    explicit TextPart(std::string_view text) : text_(ascii_lower(text)) {}
    [[nodiscard]] bool is_in(std::string_view other) const {
        return ascii_lower(other).find(text_) != std::string::npos;
    }
    /// A shorter text is compared with the beginning of ids only.
    [[nodiscard]] bool is_long_enough() const noexcept { return text_.size() >= kBytesMin; }

private:
    static constexpr std::size_t kBytesMin = 2;

    std::string text_;
};

/// Returns the texts that a row is sorted by. No two rows have the same.
using KeyOf = std::function<std::vector<std::string>(const lists::Row&)>;

/// Cuts a page out of rows that were all read, for lists that stay short: sorts them by their keys,
/// so that a row is neither repeated nor passed over when others come and go between two pages.
class PageOfAll : public lists::RowOutput {
public:
    /// @param parts  Texts of a key.
    PageOfAll(const Read& read, KeyOf key_of, std::size_t parts);
    /// @param sorted_by  Names of the columns of a key.
    PageOfAll(const Read& read, const std::vector<lists::Column>& columns,
              std::string_view sorted_by);
    void add(const lists::Row& row) override;
    [[nodiscard]] Page take() &&;

private:
    std::size_t limit_;
    KeyOf key_of_;
    std::optional<std::vector<std::string>> after_;
    /// The first rows after the cursor, at most one more than the page has.
    std::multimap<std::vector<std::string>, lists::Row> rows_;
};

/// Returns the line of a CSV file that names the columns.
[[nodiscard]] std::string csv_head(const std::vector<lists::Column>& columns);

/// Passes the rows of a listing to a function.
class EachRow : public lists::RowOutput {
public:
    explicit EachRow(std::function<void(const lists::Row&)> take) : take_(std::move(take)) {}
    void add(const lists::Row& row) override { take_(row); }

private:
    std::function<void(const lists::Row&)> take_;
};

/// Counts the rows that a request reads, and ends the page with the last of them.
class ReadLimit {
public:
    explicit ReadLimit(const Read& read) : limit_(read.limit()) {}

    /// Counts a row that was read, for a page that has `rows` rows. Returns false, and sets the
    /// page's next key, if the row is the first beyond the page.
    [[nodiscard]] bool admits(std::string key, Page& page, std::size_t rows) {
        if (rows >= limit_ || rows_read_ >= kRowsReadMax || bytes_ >= kAnswerBytesMax / 2) {
            page.next_key = last_;
            return false;
        }
        ++rows_read_;
        last_ = std::move(key);
        return true;
    }
    [[nodiscard]] bool admits(std::string key, Page& page) {
        return admits(std::move(key), page, std::max(page.rows.size(), page.raw_rows.size()));
    }
    void add_bytes(std::size_t bytes) { bytes_ += bytes; }

private:
    std::size_t limit_, rows_read_ = 0, bytes_ = 0;
    std::string last_;
};

/// Returns the creator's ten links with the most clicks of this month, as rows of link_list().
[[nodiscard]] Json best_links_of(Read& read, const CreatorId& creator);
/// Returns the creator's last ten payouts, the newest first.
[[nodiscard]] Json newest_payouts(Read& read, const CreatorId& creator);
/// Returns rows of payout_list().
[[nodiscard]] std::vector<lists::Row> payout_rows(Read& read, std::span<const Payout> payouts);

// ---- Parts of the table of resources, each in the file of its reads -----------------------------

// In the order of the document.
[[nodiscard]] std::vector<Resource> caller_resources();
[[nodiscard]] std::vector<Resource> today_resources();
[[nodiscard]] std::vector<Resource> search_resources();
[[nodiscard]] std::vector<Resource> order_resources();
[[nodiscard]] std::vector<Resource> anomaly_resources();
[[nodiscard]] std::vector<Resource> shop_resources();
[[nodiscard]] std::vector<Resource> link_resources();
[[nodiscard]] std::vector<Resource> people_resources();
[[nodiscard]] std::vector<Resource> journal_resources();
[[nodiscard]] std::vector<Resource> money_resources();
[[nodiscard]] std::vector<Resource> statement_resources();
[[nodiscard]] std::vector<Resource> node_resources();

[[nodiscard]] Resource plain_resource(const lists::PlainList& list);
[[nodiscard]] Resource payout_age_resource();

// Scopes: every caller, and callers who read rows of creators.
inline constexpr std::uint16_t kAnyone = 0;
inline constexpr std::uint16_t kOfCreators = kReadLedger | kReadCreators;

[[nodiscard]] inline Parameter shop_parameter(bool required = false) {
    return {"shop", ValueKind::kId, "Shop", required};
}
[[nodiscard]] inline Parameter creator_parameter(bool required = false) {
    return {"creator", ValueKind::kId, "Creator, by any of its ids", required};
}
[[nodiscard]] inline Parameter program_parameter(bool required = false) {
    return {"program", ValueKind::kId, "Program", required};
}
[[nodiscard]] inline Parameter payout_parameter() {
    return {"payout", ValueKind::kId, "Payout", true};
}
[[nodiscard]] inline Parameter word_parameter(std::string_view name, std::string_view description,
                                              std::vector<std::string_view> words) {
    return {name, ValueKind::kWord, description, false, std::move(words)};
}

using Columns = std::vector<lists::Column>;
/// Returns columns of one type and scope; spaces separate the names.
[[nodiscard]] Columns columns_of(lists::ColumnType type, lists::Scope scope,
                                 std::string_view names);

// Columns that every caller sees.
[[nodiscard]] inline Columns extra(std::string_view name, lists::ColumnType type,
                                   Columns members = {}) {
    return {{name, type, lists::Scope::kEveryone, std::move(members)}};
}
[[nodiscard]] inline Columns texts(std::string_view names) {
    return columns_of(lists::ColumnType::kText, lists::Scope::kEveryone, names);
}
[[nodiscard]] inline Columns amounts(std::string_view names) {
    return columns_of(lists::ColumnType::kAmount, lists::Scope::kEveryone, names);
}
[[nodiscard]] inline Columns times(std::string_view names) {
    return columns_of(lists::ColumnType::kTime, lists::Scope::kEveryone, names);
}
[[nodiscard]] inline Columns integers(std::string_view names) {
    return columns_of(lists::ColumnType::kInteger, lists::Scope::kEveryone, names);
}

}  // namespace sluice::serve
