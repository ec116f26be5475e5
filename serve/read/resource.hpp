// Resources: the table from which requests are routed, parameters checked, and the OpenAPI document
// made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/intake/registry_view.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/row_output.hpp"
#include "core/protocol/page_token.hpp"
#include "serve/read/caller.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {

enum class ValueKind : std::uint8_t {
    kId,        ///< Account, shop, program, creator: 1 to 128 of a few characters.
    kLink,      ///< A link: 1 to 64 of a few characters.
    kWireId,    ///< An order: 1 to 1024 bytes.
    kText,      ///< 1 to 1024 bytes.
    kTime,      ///< RFC 3339.
    kMonth,     ///< 2026-01
    kMonthEnd,  ///< The first instant of a month.
    kDay,       ///< The first instant of a UTC day.
    kNumber,    ///< An order's, as a shop shows it: 1 to 64 bytes.
    kDate,      ///< 2026-01-31
    kAmount,    ///< A decimal, 0 or more.
    kFuture,    ///< RFC 3339, now or later.
    kCurrency,  ///< ISO 4217
    kFlag,      ///< true or false
    kVersion,   ///< A number from 1.
    kLimit,     ///< 1 to 1000
    kCursor,
    kSeconds,  ///< 0 to 30.
    kMinutes,  ///< 1 to 60.
    kWord,     ///< One of Parameter::words.
};

inline constexpr std::size_t kRowsOfPageMax = 1000;
inline constexpr std::uint64_t kLinkMinutesMax = kPageTokenSecondsMax / 60;
inline constexpr std::uint64_t kWaitSecondsMax = 30;  ///< Longest wait for a change of the feed.

struct Parameter {
    std::string_view name;
    ValueKind kind = ValueKind::kText;
    std::string_view description;
    bool required = false;
    std::vector<std::string_view> words{};
};

/// Checked parameters.
class Arguments {
public:
    [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }
    [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
    /// Requires: the parameter is a required one. Throws otherwise.
    [[nodiscard]] std::string required(std::string_view name) const { return text(name).value(); }
    [[nodiscard]] Timestamp required_time(std::string_view name) const {
        return time(name).value();
    }
    template <class Id>
    [[nodiscard]] std::optional<Id> id(std::string_view name) const {
        const auto value = text(name);
        return value ? std::optional(Id(*value)) : std::nullopt;
    }
    [[nodiscard]] std::optional<Timestamp> time(std::string_view name) const;
    [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
    [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t otherwise) const;
    [[nodiscard]] bool is(std::string_view name, std::string_view value) const {
        return text(name) == value;
    }
    void set(std::string name, std::string value) {
        values_.insert_or_assign(std::move(name), std::move(value));
    }
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const noexcept {
        return values_;
    }

private:
    std::map<std::string, std::string, std::less<>> values_;
};

/// Figures of the worker of this store, from the control page.
struct WorkerPage {
    std::string node;  ///< UUID of its queue. Empty before it has applied an input.
    std::string state, version;
    std::uint64_t waiting = 0;  ///< Inputs that are not applied.
    bool is_behind = false;     ///< Inputs wait for over five minutes, or the worker is silent.
    /// Returns the shops that an account has in the registry, by id. May be called on any thread.
    std::function<Result<std::vector<store::RegisteredShop>>(const AccountId& account)> shops{};
    std::string rate_limit;  ///< The limit of this server, `600/60`.
};

/// Signs links to the pages of an account's creators.
struct PageLinks {
    std::string address;  ///< The address of the page.
    PageSigner signer;    ///< Follows from the secret that the caller sent.
};

/// The input of a read: a snapshot, and the checked request.
struct Read {
    LedgerReader& ledger;
    const Grant& grant;
    const Caller& caller;
    const Arguments& arguments;
    Timestamp now;
    /// Key of the last row of the page before; nothing on the first page.
    std::optional<std::string> after;
    const WorkerPage& worker;
    /// Returns the cursor of a key of this query.
    std::function<std::string(const std::string& key)> cursor_of;
    /// Most rows of the page, below the caller's limit if those would be too large.
    std::size_t rows_max = kRowsOfPageMax;
    const PageLinks* links = nullptr;  ///< Set for a resource of kMakesLink.

    [[nodiscard]] bool sees_ledger() const noexcept { return (grant.scopes & kReadLedger) != 0; }
    /// Returns whether the caller reads what belongs to creators.
    [[nodiscard]] bool sees_creators() const noexcept {
        return (grant.scopes & (kReadLedger | kReadCreators)) != 0;
    }
    /// Returns whether the caller reads every member of a resource that the caller may read.
    [[nodiscard]] bool sees_all_of(std::string_view path) const noexcept {
        return sees_ledger() ||
               (sees_creators() && path != "today" && !path.starts_with("program"));
    }
    [[nodiscard]] std::size_t limit() const {
        return std::min<std::size_t>(arguments.number("limit", 100), rows_max);
    }
};

/// One page of a list.
struct Page {
    std::vector<lists::Row> rows;
    std::vector<std::string> raw_rows;      ///< JSON objects, if the list has no `rows`.
    std::vector<lists::Column> columns{};   ///< Columns of this page; empty means the resource's.
    std::optional<std::string> next_key{};  ///< Key of the last row; absent on the last page.
    /// Further members of the answer; Resource::extras has their names.
    std::vector<std::pair<std::string_view, Json>> extras{};
};

/// Thrown by a read for an answer other than its rows.
struct Refusal {
    Answer answer;
};
[[noreturn]] inline void refuse(std::string_view code, std::string_view detail = {}) {
    throw Refusal{problem(code, detail)};
}
/// Returns the row of the ledger that has this key; not_found if the caller's account has none.
template <class Row>
[[nodiscard]] Row own_row(const Read& read, Row row) {
    if (!read.ledger.load(row) || row.account != read.grant.account) {
        refuse("not_found");
    }
    return row;
}

/// Bits of Resource::options.
enum ResourceOption : unsigned {
    kPlain = 0,
    kCsv = 1,
    kNoAccount = 2,
    kUnpaged = 4,    ///< Does not take `after`, nor a list `limit`.
    kMakesLink = 8,  ///< Signs with the caller's secret: for tokens only; no answer may be stored.
};

struct Resource {
    /// Returns a page of a list, an object, or an answer of another shape.
    using Reading = std::variant<std::function<Page(Read&)>, Json (*)(Read&), Answer (*)(Read&)>;

    std::string_view path;  ///< Below /v1/.
    std::uint16_t scope;    ///< Bits, of which a caller needs one, or 0 for every caller.
    std::string_view summary;
    std::vector<Parameter> parameters;
    std::vector<lists::Column> columns;  ///< Columns of a list, or members of an object.
    Reading read;
    unsigned options;
    std::vector<lists::Column> extras;  ///< Page::extras. The read decides who sees them.

    Resource(std::string_view of_path, std::uint16_t of_scope, std::string_view of_summary,
             std::vector<Parameter> of_parameters, std::vector<lists::Column> of_columns,
             Reading of_read, unsigned of_options = kPlain,
             std::vector<lists::Column> of_extras = {})
        : path(of_path),
          scope(of_scope),
          summary(of_summary),
          parameters(std::move(of_parameters)),
          columns(std::move(of_columns)),
          read(std::move(of_read)),
          options(of_options),
          extras(std::move(of_extras)) {}

    [[nodiscard]] bool has(ResourceOption option) const noexcept { return (options & option) != 0; }
    [[nodiscard]] bool is_list() const noexcept { return read.index() == 0; }
    [[nodiscard]] bool is_feed() const noexcept { return path == "changes"; }
    /// Returns whether an answer may have the mark `cut`, and a cursor to the rest.
    [[nodiscard]] bool is_cut() const noexcept {
        return !is_list() && !is_feed() && !has(kUnpaged);
    }
};

/// Returns every resource, in the order of the document.
[[nodiscard]] const std::vector<Resource>& resources();
[[nodiscard]] const Resource* find_resource(std::string_view path);
/// Returns the OpenAPI document as JSON.
[[nodiscard]] const std::string& openapi_json();
/// Returns the resource's parameters with those that all have: account, and for lists limit and
/// after, and format.
[[nodiscard]] std::vector<Parameter> parameters_of(const Resource& resource);

/// Checks the parameters. Adds an error for each that is unknown, repeated, malformed, missing or
/// contradicts another.
/// @param known  Those of the path; for a resource, parameters_of() it.
[[nodiscard]] Arguments check_parameters(
    const std::vector<Parameter>& known,
    const std::vector<std::pair<std::string, std::string>>& given, Timestamp now,
    std::vector<ParameterError>& errors);

}  // namespace sluice::serve
