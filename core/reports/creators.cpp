#include "core/reports/creators.hpp"

#include <map>

#include "core/reports/names.hpp"
#include "core/rules/account.hpp"

namespace sluice::reports {
namespace {

std::vector<ProgramRow> programs_of(LedgerReader& ledger,
                                    const std::optional<AccountNumber>& account,
                                    const std::optional<ProgramId>& only) {
    std::vector<ProgramRow> programs;
    ledger.scan_programs([&](const ProgramRow& row) {
        if ((!account || row.program.account == *account) && (!only || row.program.id == *only)) {
            programs.push_back(row);
        }
        return true;
    });
    return programs;
}

void write_members(LedgerReader& ledger, const ProgramRow& row, RowOutput& out) {
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
        out.add({shown.str(), row.program.id.str(), row.program.account_id.str(),
                 text_or_null(member.group), own == codes.end() ? Json::array() : own->second,
                 text_or_null(profile.name), text_or_null(profile.payee), profile.payee_since,
                 member.removed});
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
    for (const ProgramRow& row : programs_of(ledger, account, std::nullopt)) {
        const auto member = ledger.membership(account, row.program.id, creator);
        if (member) {
            list.push_back({{"program_id", row.program.id.str()},
                            {"group", text_or_null(member->group)},
                            {"removed", member->removed},
                            {"effective_from", member->effective_from.to_string()},
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

std::vector<Column> creator_columns() {
    return {{"creator_id"}, {"program_id"},  {"account_id", Align::kLeft, false},
            {"group"},      {"codes"},       {"name"},
            {"payee"},      {"payee_since"}, {"removed"}};
}

void write_creators(LedgerReader& ledger, const std::optional<AccountNumber>& account,
                    const std::optional<ProgramId>& program, RowOutput& out) {
    for (const ProgramRow& row : programs_of(ledger, account, program)) {
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
                {"payee_since", profile.payee_since},
                {"aliases", aliases_of(ledger, account, first)},
                {"programs", memberships_of(ledger, account, first)},
                {"holds", holds_of(ledger, account, first)}};
}

}  // namespace sluice::reports
