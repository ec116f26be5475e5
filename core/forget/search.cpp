#include "core/forget/search.hpp"

#include <algorithm>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/protocol/record.hpp"
#include "core/rules/account.hpp"

namespace sluice {
namespace {

/// An order event of the forget's shop.
struct SeenEvent {
    std::optional<Digest256> device;
    BodyIds ids;
};

std::optional<SeenEvent> event_of(const StoredInput& input, const ForgetWhom& whom) {
    const Result<RecordView> record = decode_record(input.record);
    if (!record || !is_of_order(record->meta.topic) ||
        record->meta.account_number != whom.account || record->meta.shop_number != whom.shop) {
        return std::nullopt;
    }
    const std::string_view body = record->meta.bulk ? input.bulk_body : record->body;
    std::optional<BodyIds> ids = read_ids(body, input.pseudonyms());
    return SeenEvent{device_of(record->meta, input.pseudonyms()),
                     ids ? *std::move(ids) : BodyIds{}};
}

bool has(const std::vector<Digest256>& digests, const Digest256& digest) {
    return std::ranges::find(digests, digest) != digests.end();
}

bool is_whose(const ForgetWhom& whom, const SeenEvent& event) {
    switch (whom.by) {
        case ForgetBy::kCustomer:
            return has(event.ids.customers, whom.digest);
        case ForgetBy::kEmail:
            return has(event.ids.emails, whom.digest) ||
                   has(event.ids.customers, guest_digest(whom.digest));
        case ForgetBy::kPhone:
            return has(event.ids.phones, whom.digest);
        case ForgetBy::kDevice:
            return event.device == whom.digest;
        case ForgetBy::kOrder:
        case ForgetBy::kCreator:
            break;
    }
    return false;
}

/// Returns true if the order's row, which has digests only, belongs to the person.
bool is_whose(const ForgetWhom& whom, const OrderState& state) {
    switch (whom.by) {
        case ForgetBy::kCustomer:
            return state.customer == whom.digest;
        case ForgetBy::kEmail:
            return state.customer == whom.digest || state.customer == guest_digest(whom.digest);
        case ForgetBy::kDevice:
            return state.device == whom.digest;
        default:
            return false;
    }
}

class Search {
public:
    Search(const ForgetWhom& whom, LedgerReader& ledger, const ScanInputs& archive)
        : whom_(whom), ledger_(ledger), archive_(archive) {}

    Result<ForgetFound> run() {
        name();
        scan_ledger([this](const OrderState& state) {
            if (is_whose(whom_, state)) {
                found_.orders.insert(state.key.order_id);
            }
        });
        Status scanned = match();
        if (scanned && !found_.orders.empty()) {
            scan_ledger([this](const OrderState& state) { collect(state); });
            scanned = gather();
        }
        return scanned ? Result<ForgetFound>(found_) : Result<ForgetFound>(scanned.error());
    }

    Result<ForgetFound> run_again(const ForgetJob& job) {
        found_ = job.found;
        job_ = &job;
        const ForgetNames names(job);
        for (const Digest256& digest : found_.customers) {
            made_.insert(*names.customer(digest));
        }
        for (const Digest256& digest : found_.devices) {
            made_.insert(*names.device(digest));
        }
        Status scanned = match();
        if (scanned) {
            scanned = gather();
        }
        return scanned ? Result<ForgetFound>(found_) : Result<ForgetFound>(scanned.error());
    }

private:
    /// Finds the person's orders.
    Status match() {
        return scan_events([this](const SeenEvent& event) {
            if (is_whose(whom_, event)) {
                insert_orders(event);
            }
        });
    }
    /// Gathers the ids that these orders stated.
    Status gather() {
        return scan_events([this](const SeenEvent& event) { collect(event); });
    }

    void name() {
        if (whom_.by == ForgetBy::kOrder) {
            found_.orders.insert(OrderId(whom_.id));
        } else if (whom_.by == ForgetBy::kCustomer) {
            found_.customers.insert(whom_.digest);
        } else if (whom_.by == ForgetBy::kDevice) {
            found_.devices.insert(whom_.digest);
        }
    }

    void insert_orders(const SeenEvent& event) {
        for (const std::string& order : event.ids.orders) {
            found_.orders.emplace(order);
        }
    }

    void collect(const OrderState& state) {
        if (found_.orders.contains(state.key.order_id)) {
            insert(state.customer, state.device);
        }
    }

    /// Like the ledger, takes the e-mail address if there is no customer id.
    void collect(const SeenEvent& event) {
        const bool whose = std::ranges::any_of(event.ids.orders, [this](const std::string& id) {
            return found_.orders.contains(OrderId(id));
        });
        if (!whose) {
            return;
        }
        const auto& customers =
            event.ids.customers.empty() ? event.ids.emails : event.ids.customers;
        for (const Digest256& customer : customers) {
            insert(customer, {});
        }
        insert({}, event.device);
    }

    void insert(const std::optional<Digest256>& customer, const std::optional<Digest256>& device) {
        if (customer && !made_.contains(*customer)) {
            found_.customers.insert(*customer);
        }
        if (device && !made_.contains(*device)) {
            found_.devices.insert(*device);
        }
    }

    template <class Visit>
    void scan_ledger(Visit visit) {
        ledger_.scan_orders(whom_.account, whom_.shop, visit);
    }

    template <class Visit>
    Status scan_events(Visit visit) {
        const auto visit_input = [&](const StoredInput& input) {
            if (const std::optional<SeenEvent> event = event_of(input, whom_)) {
                visit(*event);
            }
        };
        ledger_.scan_dead([&](const DeadLetter& letter) {
            if (job_ != nullptr &&
                !job_->is_before(ledger_.head().node, letter.seq, letter.received_at)) {
                return;
            }
            visit_input({letter.record, letter.bulk_body, letter.body_sha256});
        });
        return archive_(visit_input);
    }

    const ForgetWhom& whom_;
    LedgerReader& ledger_;
    const ScanInputs& archive_;
    ForgetFound found_;
    const ForgetJob* job_ = nullptr;  ///< Set by run_again().
    std::set<Digest256> made_;        ///< Pseudonyms of that task.
};

}  // namespace

CreatorIds ids_of_creator(AccountNumber account, const std::string& id, LedgerReader& ledger) {
    CreatorIds ids{first_id(ledger, account, CreatorId(id)), {}};
    ids.all.insert(ids.first);
    ledger.scan(CreatorAlias{account, {}, {}}, {1, 1}, [&ids](const CreatorAlias& row) {
        if (row.creator == ids.first) {
            ids.all.insert(row.alias);
        }
    });
    return ids;
}

Result<ForgetFound> search_forgotten(const ForgetWhom& whom, LedgerReader& ledger,
                                     const ScanInputs& archive) {
    if (whom.by == ForgetBy::kCreator) {
        return ForgetFound{.creators = ids_of_creator(whom.account, whom.id, ledger).all};
    }
    return Search(whom, ledger, archive).run();
}

Result<ForgetFound> search_more(const ForgetJob& job, LedgerReader& ledger,
                                const ScanInputs& archive) {
    return job.whom.by == ForgetBy::kCreator ? Result<ForgetFound>(job.found)
                                             : Search(job.whom, ledger, archive).run_again(job);
}

namespace {

/// Returns true if a row has the creator's name, or a payee that is not a digest yet.
bool has_rows_of_creator(const ForgetWhom& whom, LedgerReader& ledger) {
    const CreatorId creator = first_id(ledger, whom.account, CreatorId(whom.id));
    CreatorRow profile{whom.account, creator, {}, {}, {}};
    bool any = ledger.load(profile) && (!profile.name.empty() || !profile.payee.empty());
    ledger.scan(PayeeChange{whom.account, creator}, {2, 2}, [&any](const PayeeChange& row) {
        for (const std::string& payee : {row.old_payee, row.new_payee}) {
            any = any || (!payee.empty() && !is_forgotten_payee(payee));
        }
    });
    return any;
}

}  // namespace

bool finds_anything(const ForgetWhom& whom, const ForgetFound& found, LedgerReader& ledger) {
    if (whom.by == ForgetBy::kCreator) {
        return has_rows_of_creator(whom, ledger);
    }
    bool any = !found.orders.empty();
    for (const Digest256& device : found.devices) {
        ledger.scan(Click{.account = whom.account, .anon = device}, {2, 2}, [&any](const Click&) {
            any = true;
            return false;
        });
    }
    return any;
}

bool holds_numbers(const ForgetWhom& whom, const ForgetFound& found, const OrderState& state) {
    return state.key.shop == whom.shop && found.orders.contains(state.key.order_id) &&
           (!state.numbers.empty() || !state.confirmation_number.empty());
}

void visit_forgotten(const ForgetWhom& whom, const ForgetFound& found, LedgerReader& ledger,
                     const std::function<void(const OrderState&)>& visit) {
    if (found.orders.empty() && found.customers.empty() && found.devices.empty()) {
        return;
    }
    std::vector<ShopNumber> shops;
    ledger.scan_shops([&](const ShopRow& shop) {
        if (shop.account == whom.account && (shop.shop == whom.shop || !found.devices.empty())) {
            shops.push_back(shop.shop);
        }
    });
    for (const ShopNumber shop : shops) {
        ledger.scan_orders(whom.account, shop, [&](const OrderState& state) {
            const bool holds_customer =
                shop == whom.shop && state.customer && found.customers.contains(*state.customer);
            if (holds_customer || (state.device && found.devices.contains(*state.device))) {
                visit(state);
            } else if (holds_numbers(whom, found, state)) {
                visit(state);
            }
        });
    }
}

}  // namespace sluice
