// Columns that repeat others: indexes of the catalog, and what an event's packed form has too.
#include "core/copy/row_sink.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/ledger/snapshot.hpp"
#include "pg_store/rows/order_row.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {
namespace {

/// Variants that no product has. A long SKU is cut there, and marked with U+0001.
constexpr const char* kStrayVariants =
    "SELECT account, shop, variant_sku, language, country, product_id FROM sluice_ledger.variants "
    "v WHERE position(chr(1) in variant_sku) = 0 AND NOT EXISTS (SELECT 1 FROM "
    "sluice_ledger.catalog c WHERE c.account = v.account AND c.shop = v.shop AND c.product_id = "
    "v.product_id AND c.language = v.language AND c.country = v.country AND v.variant_sku = "
    "ANY (c.variant_skus))";
constexpr const char* kMissingVariants =
    "SELECT account, shop, sku, language, country, product_id FROM sluice_ledger.catalog c, "
    "unnest(c.variant_skus) AS sku WHERE octet_length(sku) <= 1024 AND NOT EXISTS (SELECT 1 FROM "
    "sluice_ledger.variants v WHERE v.account = c.account AND v.shop = c.shop AND v.product_id = "
    "c.product_id AND v.language = c.language AND v.country = c.country AND v.variant_sku = sku)";
constexpr const char* kCutProducts =
    "SELECT account, shop, product_id, language, country, full_id FROM sluice_ledger.catalog "
    "WHERE full_id IS NOT NULL";
constexpr const char* kEvents =
    "SELECT account, shop, order_id, seq, received_s, received_ns, topic, digest, event FROM "
    "sluice_ledger.events";

class Contradictions {
public:
    explicit Contradictions(Connection& session) : session_(session) {}

    std::vector<ContradictedColumn> find() {
        variants(kStrayVariants, true);
        variants(kMissingVariants, false);
        products();
        events();
        return std::move(found_);
    }

private:
    template <class Visit>
    void each(const char* sql, Visit visit) {
        constexpr int kRows = 1000;
        session_.script(std::string("DECLARE repeated NO SCROLL CURSOR FOR ") + sql);
        const std::string fetch = "FETCH " + std::to_string(kRows) + " FROM repeated";
        for (int got = kRows; got == kRows;) {
            const Rows rows = session_.query_text(fetch);
            got = rows.count();
            for (int i = 0; i < got; ++i) {
                RowReader row = rows.row(i);
                visit(row);
            }
        }
        session_.script("CLOSE repeated");
    }
    static std::string shop_key(RowReader& row) {
        const std::uint32_t account = row.u4();
        return "account " + std::to_string(account) + ", shop " + std::to_string(row.u4());
    }
    void variants(const char* sql, bool is_there) {
        each(sql, [&](RowReader& row) {
            std::string key = shop_key(row);
            for (const char* column : {"variant_sku", "language", "country", "product_id"}) {
                key += std::string(", ") + column + " " + row.string();
            }
            found_.push_back({"variants", key, {}, {}, {}});
            (is_there ? found_.back().stored : found_.back().right) = "a row";
        });
    }
    void products() {
        each(kCutProducts, [this](RowReader& row) {
            const std::string shop = shop_key(row);
            const std::string stored = row.string();
            const std::string key = shop + ", product_id " + stored + ", language " + row.string();
            const std::string country = row.string();
            const std::string right = key_text(row.string());
            if (stored != right) {
                found_.push_back(
                    {"catalog", key + ", country " + country, "product_id", stored, right});
            }
        });
    }
    void events() {
        each(kEvents, [this](RowReader& row) {
            const std::string shop = shop_key(row);
            const std::string key = shop + ", order_id " + row.string();
            const std::uint64_t seq = row.u8();
            const Timestamp received = row.instant();
            const std::int64_t topic = row.i8();
            const auto digest = to_digest<EventDigest>(row.next());
            std::vector<EventTrace> events;
            unpack_events(row.text(), events);
            if (events.size() != 1) {
                found_.push_back({"events", key + ", seq " + std::to_string(seq), "event",
                                  "damaged", std::nullopt});
                return;
            }
            const EventTrace& event = events.front();
            const std::string whole = key + ", seq " + std::to_string(event.seq.value);
            compare(whole, "seq", std::to_string(seq), std::to_string(event.seq.value));
            compare(whole, "received", received.to_string(), event.received_at.to_string());
            compare(whole, "topic", std::to_string(topic),
                    std::to_string(static_cast<int>(event.topic)));
            compare(whole, "digest", to_hex(digest), to_hex(event.digest));
        });
    }
    void compare(const std::string& key, const char* column, const std::string& stored,
                 const std::string& right) {
        if (stored != right) {
            found_.push_back({"events", key, column, stored, right});
        }
    }

    Connection& session_;
    std::vector<ContradictedColumn> found_;
};

}  // namespace

std::vector<ContradictedColumn> contradicted_columns(WholeReader& reader) {
    auto* snapshot = dynamic_cast<WholeSnapshot*>(&reader);
    return snapshot == nullptr ? std::vector<ContradictedColumn>()
                               : Contradictions(snapshot->session()).find();
}

}  // namespace sluice::pg
