#include "tool/setup/name_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/protocol/signature.hpp"
#include "core/rules/account.hpp"
#include "core/rules/rate_book.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

// ---- Names that differ by case ------------------------------------------------------------------

/// Names of one kind in one place, by their folded form: what the file spells, and where.
class Spellings {
public:
    /// @param kind  `creator` or `code`
    Spellings(std::string file, std::string kind)
        : file_(std::move(file)), kind_(std::move(kind)) {}

    /// Takes a name of the file. Names with the same `identity` are the same to the ledger.
    void add(const std::string& name, const std::string& identity, std::uint32_t line,
             Warnings& warnings) {
        const auto [place, is_new] =
            spelled_.try_emplace(fold_case(name), Spelled{name, identity, line});
        if (!is_new && place->second.identity != identity) {
            say(name, line, place->second.name, warnings);
        }
    }
    /// Compares a name that is stored.
    void compare(const std::string& stored, const std::string& identity, Warnings& warnings) const {
        const auto found = spelled_.find(fold_case(stored));
        if (found != spelled_.end() && found->second.identity != identity) {
            say(found->second.name, found->second.line, stored, warnings);
        }
    }

private:
    struct Spelled {
        std::string name, identity;
        std::uint32_t line = 0;
    };

    void say(const std::string& name, std::uint32_t line, const std::string& other,
             Warnings& warnings) const {
        warnings.push_back(file_ + ":" + std::to_string(line) + ": " + kind_ + " " + name +
                           " differs from " + other + " by case only: they are two " + kind_ + "s");
    }

    std::string file_, kind_;
    std::map<std::string, Spelled> spelled_;
};

/// The ledger ignores the case of ASCII letters in a code, so only other codes can look alike.
bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void check_creators(LedgerReader& ledger, const std::string& file, const CreatorImport& import,
                    ProgramsByName& programs, Warnings& warnings) {
    std::map<AccountNumber, Spellings> added;
    for (const CreatorImport::Row& row : import.rows) {
        const ProgramRow* const program = programs.find(row.program);
        if (program == nullptr) {
            continue;
        }
        const AccountNumber account = program->program.account;
        CreatorRow stored{account, first_id(ledger, account, row.creator), {}, {}, {}};
        if (!ledger.load(stored)) {
            added.try_emplace(account, file, "creator")
                .first->second.add(row.creator.str(), row.creator.str(), row.line, warnings);
        }
    }
    for (const auto& creators : added) {
        const CreatorRow first{creators.first, {}, {}, {}, {}};
        ledger.scan(first, {1, 1}, [&](const CreatorRow& row) {
            creators.second.compare(row.creator.str(), row.creator.str(), warnings);
        });
    }
}

void check_codes(LedgerReader& ledger, const std::string& file, const CreatorImport& import,
                 ProgramsByName& programs, Warnings& warnings) {
    std::map<ProgramId, Spellings> stated;
    for (const CreatorImport::Row& row : import.rows) {
        if (!is_ascii(row.code) && programs.find(row.program) != nullptr) {
            stated.try_emplace(row.program, file, "code")
                .first->second.add(row.code, ascii_lower(row.code), row.line, warnings);
        }
    }
    for (const auto& codes : stated) {
        const Program& program = programs.find(codes.first)->program;
        ledger.scan_codes(program.account, program.id, [&](const CodeRow& row) {
            codes.second.compare(row.code, ascii_lower(row.code), warnings);
        });
    }
}

// ---- Groups -------------------------------------------------------------------------------------

Warnings check_group(const ProgramRow& row, const std::string& group, const std::string& where) {
    std::set<std::string> named;
    for (const Rule& rule : row.program.rules) {
        if (!rule.group.empty()) {
            named.insert(rule.group);
        }
    }
    if (group.empty() || named.contains(group)) {
        return {};
    }
    return {where + "no rule of program " + row.program.id.str() + " names group " + group +
            (named.empty() ? "" : "; its rules name " + joined(named, ", "))};
}

// ---- Rules --------------------------------------------------------------------------------------

bool matches(const Rule& rule, const CatalogRecord& product) {
    const bool is_product = product.key.product_id.view() == rule.value;
    switch (rule.match) {
        case RuleMatch::kProduct:
            return is_product;
        case RuleMatch::kVariantSku:
            return has_item(product.variant_skus, rule.value);
        case RuleMatch::kSku:
            return is_product || has_item(product.variant_skus, rule.value);
        case RuleMatch::kSkuPattern:
            return fits_pattern(rule.value, product.key.product_id.view()) ||
                   std::ranges::any_of(product.variant_skus, [&rule](const std::string& sku) {
                       return fits_pattern(rule.value, sku);
                   });
        case RuleMatch::kCollection:
            return has_item(product.collections, rule.value);
        case RuleMatch::kBrand:
            return product.brand == rule.value;
        case RuleMatch::kTag:
            return has_item(product.tags, rule.value);
        default:
            return true;
    }
}

/// Removes the rules that a product of the program's shops matches. Returns whether it has
/// products.
bool match_products(LedgerReader& ledger, const Program& program,
                    std::vector<std::size_t>& unmatched) {
    std::vector<ShopNumber> shops;
    ledger.scan_shops([&](const ShopRow& row) {
        if (row.account == program.account && program.covers(row.shop_id.view())) {
            shops.push_back(row.shop);
        }
    });
    bool any = false;
    for (const ShopNumber shop : shops) {
        ledger.scan_catalog(program.account, shop, [&](const CatalogRecord& product) {
            any = true;
            std::erase_if(unmatched,
                          [&](std::size_t rule) { return matches(program.rules[rule], product); });
            return !unmatched.empty();
        });
    }
    return any;
}

std::string rule_text(const Program& program, std::size_t rule) {
    return "program " + program.id.str() + ", rule " + std::to_string(rule + 1) + ": ";
}

void check_items(LedgerReader& ledger, const Program& program, Warnings& warnings) {
    std::vector<std::size_t> unmatched;
    for (std::size_t i = 0; i < program.rules.size(); ++i) {
        if (program.rules[i].match != RuleMatch::kNoItem) {
            unmatched.push_back(i);
        }
    }
    if (unmatched.empty()) {
        return;
    }
    const bool any = match_products(ledger, program, unmatched);
    for (const std::size_t i : unmatched) {
        const Rule& rule = program.rules[i];
        const std::string item(to_string(rule.match));
        if (any) {
            warnings.push_back(rule_text(program, i) + "no product of its shops has " + item + " " +
                               rule.value);
        } else if (needs_product(rule.match)) {
            warnings.push_back(rule_text(program, i) +
                               "no product of its shops is known, so a rule by " + item +
                               " cannot match: send the catalog");
        }
    }
}

void check_people(LedgerReader& ledger, const Program& program, Warnings& warnings) {
    std::set<std::string> groups;
    bool has_members = false;
    ledger.scan_memberships(program.account, program.id, [&](const Membership& row) {
        has_members = true;
        groups.insert(row.group);
    });
    for (std::size_t i = 0; i < program.rules.size() && has_members; ++i) {
        const Rule& rule = program.rules[i];
        if (!rule.creator.empty()) {
            const CreatorId first = first_id(ledger, program.account, CreatorId(rule.creator));
            if (!ledger.membership(program.account, program.id, first)) {
                warnings.push_back(rule_text(program, i) + "creator " + rule.creator +
                                   " is not in the program");
            }
        }
        if (!rule.group.empty() && !groups.contains(rule.group)) {
            warnings.push_back(rule_text(program, i) + "no creator of the program is in group " +
                               rule.group);
        }
    }
}

}  // namespace

void print_warnings(const Warnings& warnings) {
    for (const std::string& warning : warnings) {
        std::fprintf(stderr, "sluice: warning: %s\n", printable(warning).c_str());
    }
}

Warnings check_names(LedgerReader& ledger, const std::string& file, const CreatorImport& import) {
    Warnings warnings;
    ProgramsByName programs(ledger);
    check_creators(ledger, file, import, programs, warnings);
    check_codes(ledger, file, import, programs, warnings);
    std::set<std::pair<ProgramId, std::string>> groups;
    for (const CreatorImport::Row& row : import.rows) {
        const ProgramRow* const program = programs.find(row.program);
        if (row.group && program != nullptr && groups.emplace(row.program, *row.group).second) {
            const Warnings unknown =
                check_group(*program, *row.group, file + ":" + std::to_string(row.line) + ": ");
            warnings.insert(warnings.end(), unknown.begin(), unknown.end());
        }
    }
    return warnings;
}

Warnings check_group(LedgerReader& ledger, const ProgramId& program, const std::string& group) {
    const std::optional<ProgramRow> row = ledger.program(program);
    return row ? check_group(*row, group, "") : Warnings();
}

Warnings check_rules(LedgerReader& ledger, const ProgramApply& apply) {
    Warnings warnings;
    for (const Program& program : apply.programs) {
        check_items(ledger, program, warnings);
        check_people(ledger, program, warnings);
    }
    return warnings;
}

}  // namespace sluice::cli
