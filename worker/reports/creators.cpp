#include "worker/reports/creators.hpp"

#include <map>

#include "core/ledger/account_rows.hpp"
#include "core/rules/creator_names.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

std::vector<ProgramRow> programs_of(LedgerReader& ledger, const std::optional<ProgramId>& only) {
    std::vector<ProgramRow> programs;
    ledger.scan_programs([&](const ProgramRow& row) {
        if (!only || row.program.id == *only) {
            programs.push_back(row);
        }
        return true;
    });
    return programs;
}

CreatorRow profile_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    CreatorRow row{account, creator, {}, {}, {}};
    return ledger.load(row) ? row : CreatorRow{account, creator, {}, {}, {}};
}

void write_members(LedgerReader& ledger, const ProgramRow& row, Listing& out) {
    std::map<CreatorId, Json> codes;
    ledger.scan_codes(row.program.account, row.program.id, [&](const CodeRow& code) {
        codes[code.creator].push_back(code.code);
        return true;
    });
    std::vector<Membership> members;
    ledger.scan_memberships(row.program.account, row.program.id, [&](const Membership& member) {
        members.push_back(member);
        return true;
    });
    for (const Membership& member : members) {
        const auto own = codes.find(member.creator);
        const CreatorRow profile = profile_of(ledger, member.account, member.creator);
        const CreatorId shown = profile.shown_as.empty() ? member.creator : profile.shown_as;
        out.add({{"creator_id", shown.str()},
                 {"program_id", row.program.id.str()},
                 {"account_id", row.program.account_id.str()},
                 {"group", text_or_null(member.group)},
                 {"codes", own == codes.end() ? Json::array() : own->second},
                 {"name", text_or_null(profile.name)},
                 {"payee", text_or_null(profile.payee)},
                 {"removed", member.removed}});
    }
}

Json codes_of(LedgerReader& ledger, const ProgramRow& row, const CreatorId& creator) {
    Json codes = Json::array();
    ledger.scan_codes(row.program.account, row.program.id, [&](const CodeRow& code) {
        if (code.creator == creator) {
            codes.push_back({{"code", code.code},
                             {"valid_from", code.valid_from.to_string()},
                             {"valid_until", code.valid_until}});
        }
        return true;
    });
    return codes;
}

Json memberships_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    Json list = Json::array();
    for (const ProgramRow& row : programs_of(ledger, std::nullopt)) {
        const auto member = row.program.account == account
                                ? ledger.membership(account, row.program.id, creator)
                                : std::nullopt;
        if (member) {
            list.push_back({{"program_id", row.program.id.str()},
                            {"group", text_or_null(member->group)},
                            {"removed", member->removed},
                            {"touches_count_from", member->reach.to_string()},
                            {"codes", codes_of(ledger, row, creator)}});
        }
    }
    return list;
}

Json aliases_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    Json names = Json::array({creator.str()});
    ledger.scan(CreatorAlias{account, {}, {}}, {1, 1}, [&](const CreatorAlias& row) {
        if (row.creator == creator) {
            names.push_back(row.alias.str());
        }
        return true;
    });
    return names;
}

Json holds_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    Json holds = Json::array();
    CreatorHold first;
    first.account = account;
    first.creator = creator;
    ledger.scan(first, {2, 2}, [&holds](const CreatorHold& row) {
        holds.push_back({{"program_id", text_or_null(row.program.str())},
                         {"actor", row.actor},
                         {"reason", row.reason},
                         {"held_at", row.held_at.to_string()}});
        return true;
    });
    return holds;
}

}  // namespace

std::vector<Column> creator_list_columns() {
    return {{"creator_id"}, {"program_id"}, {"account_id", Align::kLeft, false}, {"group"},
            {"codes"},      {"name"},       {"payee", Align::kLeft, false},      {"removed"}};
}

void write_creators(LedgerReader& ledger, const std::optional<ProgramId>& program, Listing& out) {
    for (const ProgramRow& row : programs_of(ledger, program)) {
        write_members(ledger, row, out);
    }
}

Result<Json> creator_object(LedgerReader& ledger, AccountNumber account,
                            const AccountId& account_id, const CreatorId& creator) {
    const CreatorId first = first_id(ledger, account, creator);
    CreatorRow profile{account, first, {}, {}, {}};
    if (!ledger.load(profile)) {
        return Error{ErrorCode::kNotFound,
                     "account " + account_id.str() + " has no creator " + creator.str()};
    }
    const CreatorId shown = profile.shown_as.empty() ? first : profile.shown_as;
    return Json{{"creator_id", shown.str()},
                {"account_id", account_id.str()},
                {"name", text_or_null(profile.name)},
                {"payee", text_or_null(profile.payee)},
                {"known_as", aliases_of(ledger, account, first)},
                {"programs", memberships_of(ledger, account, first)},
                {"holds", holds_of(ledger, account, first)}};
}

}  // namespace sluice::cli
