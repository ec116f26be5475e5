// Columns that repeat others: indexes of the catalog, and what an event's packed form has too.
#include "core/copy/row_sink.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/ledger/snapshot.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {
namespace {

/// Variants that no product has, and variants that are missing. A SKU above 1024 bytes, which no
/// request may have, would be cut there and marked with U+0001 (key_text()): a marked row is
/// compared here.
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
constexpr const char* kMarkedVariants =
    "SELECT account, shop, variant_sku, language, country, product_id FROM sluice_ledger.variants "
    "WHERE position(chr(1) in variant_sku) > 0";
constexpr Statement kSkusOfProduct{
    "SELECT sku FROM sluice_ledger.catalog c, unnest(c.variant_skus) AS sku WHERE c.account = $1 "
    "AND c.shop = $2 AND c.language = $3 AND c.country = $4 AND c.product_id = $5"};
constexpr const char* kCutProducts =
    "SELECT account, shop, product_id, language, country, full_id FROM sluice_ledger.catalog "
    "WHERE full_id IS NOT NULL";
constexpr const char* kEvents =
    "SELECT account, shop, order_id, seq, received_s, received_ns, topic, digest, event FROM "
    "sluice_ledger.events";

/// A row of an index of variants.
struct VariantRow {
    std::uint32_t account = 0, shop = 0;
    std::string sku, language, country, product;

    explicit VariantRow(RowReader& row) {
        account = row.u4();
        shop = row.u4();
        for (std::string* column : {&sku, &language, &country, &product}) {
            *column = row.string();
        }
    }
    [[nodiscard]] RowWriter of_product() const {
        RowWriter parameters;
        parameters.u4(account).u4(shop).text(language).text(country).text(product);
        return parameters;
    }
};

class Contradictions {
public:
    Contradictions(Connection& session, const Visitor<ContradictedColumn>& visit)
        : session_(session), visit_(visit) {}

    void find() {
        each(kStrayVariants, [this](RowReader& row) { found_variant(VariantRow(row), true); });
        each(kMissingVariants, [this](RowReader& row) { found_variant(VariantRow(row), false); });
        each(kMarkedVariants, [this](RowReader& row) { marked_variant(VariantRow(row)); });
        products();
        events();
    }

private:
    void report(ContradictedColumn found) { more_ = more_ && visit_(found); }
    template <class Visit>
    void each(const char* sql, Visit visit) {
        if (!more_) {
            return;
        }
        session_.script(std::string("DECLARE repeated NO SCROLL CURSOR FOR ") + sql);
        visit_cursor(session_, "repeated", 1000, [&](RowReader& row) {
            visit(row);
            return more_;
        });
        session_.script("CLOSE repeated");
    }
    static std::string shop_key(RowReader& row) {
        const std::uint32_t account = row.u4();
        return "account " + std::to_string(account) + ", shop " + std::to_string(row.u4());
    }
    void found_variant(const VariantRow& row, bool is_there) {
        const std::string key = "account " + std::to_string(row.account) + ", shop " +
                                std::to_string(row.shop) + ", variant_sku " + row.sku +
                                ", language " + row.language + ", country " + row.country +
                                ", product_id " + row.product;
        ContradictedColumn found{"variants", key};
        (is_there ? found.stored : found.right) = "a row";
        report(std::move(found));
    }
    void marked_variant(const VariantRow& row) {
        const Rows skus = session_.query(kSkusOfProduct, row.of_product());
        bool is_known = false;
        for (int i = 0; i < skus.count() && !is_known; ++i) {
            is_known = key_text(skus.row(i).string()) == row.sku;
        }
        if (!is_known) {
            found_variant(row, true);
        }
    }
    void products() {
        each(kCutProducts, [this](RowReader& row) {
            const std::string shop = shop_key(row);
            const std::string stored = row.string();
            const std::string key = shop + ", product_id " + stored + ", language " + row.string();
            const std::string country = row.string();
            const std::string right = key_text(row.string());
            if (stored != right) {
                report({"catalog", key + ", country " + country, "product_id", stored, right});
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
                report({"events", key + ", seq " + std::to_string(seq), "event", "damaged",
                        std::nullopt});
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
            report({"events", key, column, stored, right});
        }
    }

    Connection& session_;
    const Visitor<ContradictedColumn>& visit_;
    bool more_ = true;
};

}  // namespace

void visit_contradicted_columns(WholeReader& reader, const Visitor<ContradictedColumn>& visit) {
    if (auto* snapshot = dynamic_cast<WholeSnapshot*>(&reader)) {
        Contradictions(snapshot->session(), visit).find();
    }
}

}  // namespace sluice::pg
