// Books: a ledger with inputs made easy, as the tests of the rules and the worked examples use it.
//
// Every input goes the whole way: encoded as a queue record, decoded, parsed and applied. Accounts
// and shops: acme (1) has shop-1 (1) and shop-2 (2); other (2) has shop-9 (9).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/apply/apply.hpp"
#include "core/commands/commands.hpp"
#include "core/forget/search.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice::test {

/// The numbers of the first account and shop that Books makes.
inline constexpr AccountNumber kAcme{1};
inline constexpr ShopNumber kShop{1};

inline constexpr const char* kDay1 = "2026-01-01T00:00:00Z";
inline constexpr const char* kDay2 = "2026-01-02T00:00:00Z";
inline constexpr const char* kDay3 = "2026-01-03T00:00:00Z";

/// A kind of ledger that the rules are held against.
struct LedgerKind {
    std::string name;
    std::function<std::unique_ptr<Ledger>()> make;

    /// On a server a statement costs what a whole input costs on a file: random tests do fewer.
    [[nodiscard]] bool is_on_a_server() const { return name.starts_with("Postgres"); }
};
[[nodiscard]] const std::vector<LedgerKind>& ledger_kinds();
/// An empty ledger of the kind of that name, with sessions of its own if it is on a server.
[[nodiscard]] std::unique_ptr<Ledger> make_ledger(std::string_view kind);
/// Loads these orders, changes and puts each; `found`: it was there.
void change_orders(LedgerTxn& txn, const std::vector<OrderKey>& keys,
                   const std::function<void(OrderState&, bool found)>& change);
/// Adds to a balance of such a ledger. Those that commit no balance but what their journal says
/// are edited behind their backs.
void edit_balance(Ledger& ledger, std::string_view node, const Balance& change);
/// GoogleTest prints this instead of bytes.
inline void PrintTo(const LedgerKind& kind, std::ostream* out) {
    *out << kind.name;
}

[[nodiscard]] Timestamp instant(std::string_view text);

/// The JSON of an order, with what a test does not care about filled in.
struct LineText {
    std::string id = "l1";
    std::string amount = "100.00";
    std::string tax = "0.00";
    std::string quantity = "1";
    std::string sku = "SKU";
    std::string variant_sku = {};
};
struct RefundText {
    std::string id = "r1";
    std::string line = "l1";
    std::string amount = {};
    std::string tax = "0.00";
    std::string quantity = "1";
};
struct OrderText {
    std::string id = "o1";
    std::string updated;  ///< Empty means not sent.
    std::string ordered = "2026-01-01T00:00:00Z";
    std::string cancelled;
    std::string currency = "USD";
    std::string amount;  ///< Empty means the sum of its lines.
    std::string tax = "0.00";
    std::string shipping = "0.00";
    std::string customer, email, phone;
    std::vector<std::string> codes;
    std::vector<std::string> numbers;
    std::string confirmation;
    std::vector<LineText> lines{LineText{}};
    std::vector<RefundText> refunds;
    std::vector<std::string> notes;  ///< Notes of a platform's translation.
};
[[nodiscard]] std::string to_json(const OrderText& order);

/// The webhook of a shop's platform.
struct SourceText {
    Platform platform = Platform::kShopify;
    std::string triggered_at = {};
};

/// An input as an archive keeps it.
struct Kept {
    SequenceNumber seq;
    std::string record, bulk_body;
    std::optional<std::string> dead_reason;
    std::optional<Digest256> body_sha256;
    std::optional<Digest256> digest{};  ///< As it was applied, if it was edited since.
};

/// A program that pays 10 % net, covers every shop of acme, holds for 0 days.
[[nodiscard]] Program program(std::string_view id = "spring",
                              std::string_view default_rate = "10%");
[[nodiscard]] Rule rule(RuleMatch match, std::string_view value, std::string_view rate);

class Books {
public:
    static constexpr std::string_view kNode = "11111111-2222-3333-4444-555555555555";

    /// @param last  What the node has applied already: a worker that was started again.
    explicit Books(Ledger& ledger, std::string_view node = kNode, SequenceNumber last = {})
        : ledger_(ledger), node_(node), seq_(last) {}

    /// Time of receipt of the inputs from now on.
    void receive_at(std::string_view time) { received_at_ = instant(time); }
    void from_shop(std::string_view shop_id);

    Applied event(Topic topic, const OrderText& order, std::string_view anon = {});
    Applied create(const OrderText& order, std::string_view anon = {}) {
        return event(Topic::kOrderCreate, order, anon);
    }
    Applied update(const OrderText& order, std::string_view anon = {}) {
        return event(Topic::kOrderUpdate, order, anon);
    }
    Applied cancel(const OrderText& order, std::string_view anon = {}) {
        return event(Topic::kOrderCancel, order, anon);
    }
    /// Deletes an order, as its platform does. An empty version is not stated.
    Applied remove(std::string_view order_id, std::string_view version = {});
    /// Empties the memory of the worker, as its restart does.
    void restart() { applier_.discard(); }
    /// Any body, as it is.
    Applied raw(Topic topic, std::string_view body, std::string_view anon = {});
    Applied products(Topic topic, std::string_view products_json);
    /// As `actor`, with `key` and `reason`; the account's, or of the shop if `names_shop`.
    Applied command(const Command& command);
    Applied apply(std::vector<Program> programs);
    Applied creators(const std::vector<CreatorImport::Row>& rows);
    Applied creator(std::string_view creator, std::string_view program, std::string_view code = {});
    Applied click(std::string_view anon, std::string_view creator, std::string_view program,
                  std::string_view at);
    /// Clicks that a server posted in one request.
    Applied clicks(const std::vector<RecordedClick>& rows);
    /// Closes the payouts of one program without minimum, and settles them by a second command.
    Applied close(std::string_view program, std::string_view until);
    /// Closes the payouts of every program of the account.
    Applied close_account(std::string_view until);
    Applied adjust(std::string_view order, std::string_view amount,
                   std::string_view reason = "goodwill");
    /// The record's bytes, whatever they are.
    Applied input(std::string_view record, std::string_view bulk_body = {},
                  std::optional<std::string> bulk_error = {});

    [[nodiscard]] std::unique_ptr<LedgerReader> read() { return ledger_.snapshot(node_); }
    [[nodiscard]] OrderState order(std::string_view id = "o1");
    /// "8.00 USD", for the current shop.
    [[nodiscard]] std::string commission(std::string_view id = "o1");
    /// Returns "c1@spring CODE+LANDED", or "unattributed".
    [[nodiscard]] std::string creator_of(std::string_view id = "o1");
    /// "<event> <order>/<line> <amount> <currency> <reason>", by entry.
    [[nodiscard]] std::vector<std::string> journal();
    /// "<kind> <order> first=<event> count=<n>", by order and kind, of all shops.
    [[nodiscard]] std::vector<std::string> anomalies();
    /// "<creator>@<program> <currency> pending=.. payable=.. paid=.. total=..", followed by the
    /// amounts in payouts and blocked, if they are not 0.
    [[nodiscard]] std::vector<std::string> balances(std::string_view now);
    /// "<creator>@<program> <amount> <currency> orders=<n>", each of one program.
    [[nodiscard]] std::vector<std::string> payouts();
    [[nodiscard]] Totals totals() { return read()->head().totals; }
    [[nodiscard]] SequenceNumber last_seq() const noexcept { return seq_; }
    /// Checks the sums, chains and indexes of the ledger. Returns an empty text if all hold.
    [[nodiscard]] std::string broken_invariant();
    /// Compares the views of a ViewedLedger with an export. Returns an empty text if they are
    /// equal, and for ledgers that have none.
    [[nodiscard]] std::string wrong_views();
    /// Every row of the ledger, as text; equal texts are equal ledgers.
    [[nodiscard]] std::string dump();

    /// Applies what another ledger's archive holds, as a rebuild does.
    void rebuild_from(const std::vector<Kept>& archive);
    /// Every input so far, edited by the forgets among them.
    [[nodiscard]] const std::vector<Kept>& archive() const noexcept { return archive_; }
    /// A FORGET of the current shop, or (kCreator) account, with a secret of its own.
    Applied forget(ForgetBy by, std::string_view value);

    std::string actor = "finance", key, reason = "as agreed";  ///< Used by commands.
    std::optional<SourceText> source;  ///< Set if the shop of the events has a platform.
    bool names_shop = true;            ///< Commands name the shop, not only its account.
    std::size_t work_slice = 1000;     ///< Orders of retry work done in one transaction.
    /// Called once, when the next input is applied and not yet committed.
    std::function<void()> before_commit;

private:
    Applied close_until(PayoutClose close, std::string_view until);
    Applied apply_and_commit(const Kept& input);
    [[nodiscard]] ScanInputs scan_archive() const;
    void finish_forget(Kept command);

    Ledger& ledger_;
    std::string node_;
    Applier applier_;
    SequenceNumber seq_;
    std::vector<Kept> archive_;
    Timestamp received_at_{1'769'904'000, 0};  // 2026-02-01
    std::string account_id_ = "acme", shop_id_ = "shop-1";
    AccountNumber account_{1};
    ShopNumber shop_{1};
};

}  // namespace sluice::test
