// sluice forget
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "core/forget/edit.hpp"
#include "core/forget/search.hpp"
#include "core/forget/task.hpp"
#include "core/json/document.hpp"
#include "core/lists/places.hpp"
#include "core/protocol/record.hpp"
#include "core/rules/account.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/drain/forget_archive.hpp"

namespace sluice::cli {
namespace {

struct ForgetCommand {
    Forget forget;
    std::optional<std::uint64_t> request;  ///< Number of a dead letter, in place of `forget`.
    SubmitOptions submit;
    bool dry_run = false;
    Format format = Format::kTable;
};

/// The rows and inputs of this node that a forget would change.
struct Counts {
    std::vector<std::string> orders;  ///< Their ids.
    std::uint64_t clicks = 0, dead_letters = 0, archived = 0;
};

std::uint64_t count_clicks(const ForgetJob& job, LedgerReader& ledger) {
    std::uint64_t count = 0;
    for (const Digest256& device : job.found.devices) {
        ledger.scan(Click{job.whom.account, device}, {2, 2}, [&count](const Click&) { ++count; });
    }
    return count;
}

Result<Counts> count_forgotten(const ForgetWhom& whom, LedgerReader& ledger,
                               const std::filesystem::path& folder) {
    const auto all = [](std::string_view, SequenceNumber, std::string_view) { return true; };
    std::error_code failure;
    const ScanInputs none = [](const auto&) { return Status::success(); };
    const ScanInputs archive = std::filesystem::is_directory(folder, failure)
                                   ? worker::archived_inputs(folder, {}, all, [] {})
                                   : none;
    auto found = search_forgotten(whom, ledger, archive);
    if (!found) {
        return found.error();
    }
    const ForgetJob job{{}, whom, {}, {}, {}, {}, *std::move(found)};
    ForgetEdit edit(job, ledger);
    Counts counts;
    counts.clicks = count_clicks(job, ledger);
    visit_forgotten(whom, job.found, ledger, [&counts](const OrderState& order) {
        counts.orders.push_back(order.key.order_id.str());
    });
    std::vector<SequenceNumber> letters;
    ledger.scan_dead([&letters](const DeadLetter& letter) { letters.push_back(letter.seq); });
    for (const SequenceNumber seq : letters) {
        const std::optional<DeadLetter> letter = ledger.dead_letter(seq);
        const bool holds =
            letter && edit.edit({letter->record, letter->bulk_body, letter->body_sha256});
        counts.dead_letters += holds ? 1U : 0U;
    }
    const Status counted =
        archive([&](const StoredInput& input) { counts.archived += edit.edit(input) ? 1U : 0U; });
    return counted ? Result(std::move(counts)) : counted.error();
}

Result<ForgetWhom> find_whom(const Frame& frame, const ForgetCommand& command) {
    if (command.submit.account) {
        const auto account = account_number(frame, *command.submit.account);
        return account.ok() ? Result(forget_subject(command.forget, *account, {}))
                            : account.error();
    }
    const auto shop = ask_registry(frame, [&](store::Registry& registry) {
        return find_shop(registry, *command.submit.shop);
    });
    return shop.ok() ? Result(forget_subject(command.forget, shop->account_number, shop->number))
                     : shop.error();
}

Result<Counts> counts_of(const Frame& frame, const ForgetCommand& command) {
    const auto whom = find_whom(frame, command);
    if (!whom.ok()) {
        return whom.error();
    }
    return with_snapshot(frame, command.submit.ledger_url, ReadFrom::kPrimary,
                         [&](LedgerReader& ledger) {
                             return count_forgotten(*whom, ledger, frame.paths().archive);
                         });
}

Status print_counts(const Frame& frame, const ForgetCommand& command) {
    const auto counts = counts_of(frame, command);
    if (!counts) {
        return counts.error();
    }
    write_object(command.format, {{"orders", std::uint64_t{counts->orders.size()}},
                                  {"clicks", counts->clicks},
                                  {"dead_letters", counts->dead_letters},
                                  {"archived_inputs", counts->archived}});
    return Status::success();
}

/// Lists the bank files of this store that name the creator. They stay, because they prove the
/// instruction to the bank.
Status list_kept_files(const Frame& frame, const ForgetCommand& command) {
    std::set<std::filesystem::path> files;
    Status read =
        with_account(frame, *command.submit.account, command.submit.ledger_url, ReadFrom::kPrimary,
                     [&](LedgerReader& ledger, AccountNumber account) {
                         const lists::PayoutListing listing{
                             account, first_id(ledger, account, CreatorId(command.forget.value))};
                         const auto all = std::numeric_limits<std::size_t>::max();
                         for (const std::string& id : lists::payout_ids(ledger, listing, all)) {
                             Payout payout{id};
                             if (ledger.load(payout) && !payout.message.empty()) {
                                 files.insert(frame.paths().exports / payout.message);
                             }
                         }
                     });
    if (!read.ok()) {
        return read;
    }
    for (const std::filesystem::path& file : files) {
        std::error_code failure;
        if (std::filesystem::exists(file, failure)) {
            std::printf(
                "kept: %s, which has the creator's name and account: it proves the "
                "instruction to the bank; remove it once it need not be kept\n",
                printable(file.string()).c_str());
        }
    }
    return Status::success();
}

Forget drawn(Forget forget) {
    fill_random(forget.secret.emplace());  // R (F2), which is erased once the forget is done
    return forget;
}

// ---- Requests of a platform ---------------------------------------------------------------------

/// A platform's request about a person, which waits as a dead letter.
struct PrivacyRequest {
    std::string topic;  ///< As the platform names it: `customers/redact`.
    ShopId shop;
    std::vector<Forget> persons;  ///< The orders first, because forgetting one keeps their ids.
};

std::string text_in(const simdjson::dom::element& object, std::string_view member) {
    std::string_view text;
    return object[member].get_string().get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

void add_person(ForgetBy by, std::string value, PrivacyRequest& request) {
    if (!value.empty()) {
        Forget& person = request.persons.emplace_back();
        person.by = by;
        person.value = std::move(value);
    }
}

Result<PrivacyRequest> read_request(const Frame& frame, const ForgetCommand& command) {
    const std::string name = "dead letter " + std::to_string(*command.request);
    const auto letter = with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kPrimary,
        [&](LedgerReader& ledger) { return Result(ledger.dead_letter({*command.request})); });
    if (!letter.ok()) {
        return letter.error();
    }
    if (!*letter) {
        return not_found("there is no " + name);
    }
    const auto record = decode_record((*letter)->record);
    JsonDocument json;
    if (!record.ok() || record->meta.topic != Topic::kPrivacyRequest ||
        !json.parse(record->meta.bulk ? std::string_view((*letter)->bulk_body) : record->body)) {
        return invalid(name + " is not a request about a person");
    }
    PrivacyRequest request;
    request.topic = text_in(json.root(), "topic");
    request.shop = ShopId((*letter)->shop_id);
    simdjson::dom::array orders;
    if (json.root()["platform_order_ids"].get_array().get(orders) == simdjson::SUCCESS) {
        for (const simdjson::dom::element order : orders) {
            std::string_view id;
            if (order.get_string().get(id) == simdjson::SUCCESS) {
                add_person(ForgetBy::kOrder, std::string(id), request);
            }
        }
    }
    // A guest's customer id is the digest of the address.
    add_person(ForgetBy::kCustomer, text_in(json.root(), "mail_id"), request);
    add_person(ForgetBy::kCustomer, text_in(json.root(), "platform_customer_id"), request);
    return request;
}

/// Prints what this store holds of each person that the request names.
Status list_held(const Frame& frame, const ForgetCommand& command, const PrivacyRequest& request) {
    Listing listing(command.format,
                    left("person orders") + right("clicks dead_letters archived_inputs"));
    for (const Forget& person : request.persons) {
        ForgetCommand one = command;
        one.forget = person;
        const auto counts = counts_of(frame, one);
        if (!counts.ok()) {
            return counts.error();
        }
        listing.add({std::string(to_string(person.by)) + " " + person.value, Json(counts->orders),
                     counts->clicks, counts->dead_letters, counts->archived});
    }
    listing.finish();
    return Status::success();
}

/// Forgets all persons of the request, and ends it.
Status forget_all(const Frame& frame, const ForgetCommand& command, const PrivacyRequest& request) {
    SubmitOptions options = command.submit;
    options.key.clear();  // one for each command
    for (const Forget& person : request.persons) {
        const auto done = submit_quietly(frame, drawn(person), options);
        if (!done.ok()) {
            return done.error();
        }
    }
    DeadDiscard ended;
    ended.seqs.push_back({*command.request});
    options.shop.reset();
    options.reason = request.topic + " is done";
    const auto done = submit_quietly(frame, ended, options);
    if (!done.ok()) {
        return done.error();
    }
    std::fprintf(stderr, "sluice: forgotten, and the request is ended\n");
    return Status::success();
}

Status answer_request(const Frame& frame, const ForgetCommand& given) {
    const auto request = read_request(frame, given);
    if (!request.ok()) {
        return request.error();
    }
    ForgetCommand command = given;
    command.submit.shop = request->shop;
    if (Status listed = list_held(frame, command, *request); !listed.ok()) {
        return listed;
    }
    if (request->topic == "customers/redact") {
        return command.dry_run ? Status::success() : forget_all(frame, command, *request);
    }
    const std::string end = "once it is answered, end it with `sluice dead discard " +
                            std::to_string(*command.request) + " --reason TEXT`";
    if (request->topic == "shop/redact") {
        std::fprintf(stderr,
                     "sluice: nothing was erased: the books of shop %s are kept, and they name no "
                     "person; %s\n",
                     printable(request->shop.str()).c_str(), end.c_str());
    } else {
        std::fprintf(stderr,
                     "sluice: nothing was erased: the person wants to see these data (`sluice "
                     "explain ORDER --shop %s`); %s\n",
                     printable(request->shop.str()).c_str(), end.c_str());
    }
    return Status::success();
}

Status run_forget(const Frame& frame, const ForgetCommand& command) {
    if (command.request) {
        return answer_request(frame, command);
    }
    if (command.dry_run) {
        return print_counts(frame, command);
    }
    const Forget forget = drawn(command.forget);
    Status done = submit(frame, forget, command.submit);
    return done.ok() && forget.by == ForgetBy::kCreator ? list_kept_files(frame, command) : done;
}

/// Adds an option that names a person.
Option add_whom(Subcommand app, const char* name, const char* type, ForgetBy by, Forget& target,
                const char* help) {
    return app.add(
        name, type,
        [&target, by](const std::string& value) -> Status {
            target.by = by;
            target.value = value;
            return value.empty() || value.size() > kWireIdBytesMax
                       ? Status(invalid("expected 1 to 1024 bytes"))
                       : Status::success();
        },
        help);
}

}  // namespace

void declare_forget(Subcommand app) {
    auto [forget, command] = add_command(
        app, "forget", "Erase a person's data from everything stored; amounts stay", run_forget);
    const Option shop =
        add_id(forget, "--shop", "S", command.submit.shop, "Shop of the person's orders");
    const Option account =
        add_id(forget, "--account", "A", command.submit.account, "Account of the creator");
    Forget& target = command.forget;
    std::vector<Option> whom{
        add_whom(forget, "--customer", "ID", ForgetBy::kCustomer, target,
                 "The person whose orders have this platform_customer_id"),
        add_whom(
            forget, "--email", "E", ForgetBy::kEmail, target,
            "The person whose orders have this e-mail address (case of ASCII letters ignored)"),
        add_whom(forget, "--phone", "N", ForgetBy::kPhone, target,
                 "The person whose orders have this phone number, as it was sent"),
        add_whom(forget, "--order", "O", ForgetBy::kOrder, target, "The guest of this order"),
        add_whom(forget, "--device", "ID", ForgetBy::kDevice, target,
                 "The person whose orders have this device id")};
    for (const Option one : whom) {
        one.needs(shop);
    }
    whom.push_back(add_whom(forget, "--creator", "C", ForgetBy::kCreator, target,
                            "The name and payee of this creator"));
    whom.back().needs(account);
    account.needs(whom.back()).excludes(shop);
    for (std::size_t i = 0; i < whom.size(); ++i) {
        for (std::size_t k = 0; k < whom.size(); ++k) {
            if (i != k) {
                whom[i].excludes(whom[k]);
            }
        }
    }
    const Option request = add_count(forget, "--request", "SEQ", command.request, 1, UINT64_MAX,
                                     "The persons whom a platform's request names: its dead "
                                     "letter, which ends. Lists what is held first");
    request.excludes(shop).excludes(account);
    for (const Option one : whom) {
        one.excludes(request);
    }
    add_flag(forget, "--dry-run", command.dry_run,
             "Change nothing; count the rows that would change on this machine");
    add_format(forget, command.format);
    add_command_options(forget, command.submit, false);
    forget.require([&target, request] {
        return !target.value.empty() || request.is_given()
                   ? ""
                   : "--shop with --customer, --email, --phone, --order or "
                     "--device; or --account with --creator; or --request";
    });
}

}  // namespace sluice::cli
