#include "core/programs/differences.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/json/slices.hpp"
#include "core/programs/policy.hpp"

namespace sluice {

namespace {

using Members = std::map<std::string, std::string>;

Members members_of(std::string_view json) {
    Members members;
    if (!json.empty()) {
        for (const JsonMember& member : json_members(json)) {
            members.emplace(member.key, std::string(member.value));
        }
    }
    members.erase("account_number");
    return members;
}

/// Returns the piece of `value` around the byte `at`, cut between two characters.
std::string piece_of(const std::string& value, std::size_t at) {
    constexpr std::size_t kBytesMax = 120, kBefore = 40;
    constexpr unsigned char kContinues = 0x80, kContinuesMask = 0xc0;
    if (value.size() <= kBytesMax) {
        return value;
    }
    const auto boundary = [&value](std::size_t place) {
        while (place > 0 && place < value.size() &&
               (static_cast<unsigned char>(value[place]) & kContinuesMask) == kContinues) {
            --place;
        }
        return place;
    };
    const std::size_t first =
        boundary(std::min(at > kBefore ? at - kBefore : 0, value.size() - kBytesMax));
    const std::size_t end = boundary(std::min(value.size(), first + kBytesMax));
    return (first == 0 ? "" : "...") + value.substr(first, end - first) +
           (end == value.size() ? "" : "...");
}

/// Returns `old -> now`, cut around the first byte that differs.
std::string change_text(const std::string& old, const std::string& now) {
    const auto differs = std::mismatch(old.begin(), old.end(), now.begin(), now.end());
    const auto at = static_cast<std::size_t>(differs.first - old.begin());
    return piece_of(old, at) + " -> " + piece_of(now, at);
}

/// The value as a program file has it. Two kinds of lists are not absent if they are empty: with no
/// amount in it, a limit asks for an approval of every amount, and with no kind in it, `blocking`
/// blocks nothing.
std::string value_of(const Members& members, const std::string& name) {
    const auto found = members.find(name);
    const bool is_absent =
        found == members.end() ||
        (found->second == "[]" && !name.starts_with("approve_") && name != "blocking");
    return is_absent ? "not set" : found->second;
}

std::vector<std::string> rules_of(const Members& members) {
    std::vector<std::string> rules;
    if (const auto found = members.find("rules"); found != members.end()) {
        for (const std::string_view rule : json_elements(found->second)) {
            rules.emplace_back(rule);
        }
    }
    return rules;
}

/// Returns all of a rule but what it pays.
std::string matching_part(const std::string& rule) {
    std::string text;
    for (const JsonMember& member : json_members(rule)) {
        if (member.key != "rate" && member.key != "tiers") {
            text += member.key + ' ' + std::string(member.value) + ' ';
        }
    }
    return text;
}

/// Names each rule that was changed, removed or added.
std::string rules_text(const Members& before, const Members& after) {
    std::vector<std::string> was = rules_of(before);
    std::vector<std::string> is = rules_of(after);
    std::erase_if(was, [&is](const std::string& rule) {
        const auto same = std::ranges::find(is, rule);
        const bool found = same != is.end();
        if (found) {
            is.erase(same);
        }
        return found;
    });
    std::string text;
    const auto add = [&text](const std::string& what) {
        text += (text.empty() ? "" : ", ") + what;
    };
    for (const std::string& rule : was) {
        const auto changed = std::ranges::find_if(is, [&rule](const std::string& other) {
            return matching_part(other) == matching_part(rule);
        });
        if (changed == is.end()) {
            add("rule removed: " + piece_of(rule, 0));
        } else {
            add("rule changed: " + change_text(rule, *changed));
            is.erase(changed);
        }
    }
    for (const std::string& rule : is) {
        add("rule added: " + piece_of(rule, 0));
    }
    return text.empty() ? "rules in another order" : text;
}

}  // namespace

std::string differences_text(std::string_view before, std::string_view after) {
    const Members was = members_of(before);
    const Members is = members_of(after);
    std::set<std::string> names;
    for (const Members* members : {&was, &is}) {
        for (const auto& [name, value] : *members) {
            names.insert(name);
        }
    }
    std::string text;
    for (const std::string& name : names) {
        const std::string old = value_of(was, name);
        const std::string now = value_of(is, name);
        if (old != now && name != "account") {
            text += (text.empty() ? "" : ", ") +
                    (name == "rules" ? rules_text(was, is) : name + " " + change_text(old, now));
        }
    }
    return text;
}

namespace {

bool rises(const Rate& before, const Rate& after) {
    return before.kind != after.kind || before.currency != after.currency ||
           after.value > before.value;
}

bool rises(const std::vector<Tier>& before, const std::vector<Tier>& after) {
    return !std::ranges::equal(before, after, [](const Tier& was, const Tier& is) {
        return was.from == is.from && !rises(was.rate, is.rate);
    });
}

bool rises(const std::vector<Rule>& before, const std::vector<Rule>& after) {
    return !std::ranges::equal(before, after, [](const Rule& was, const Rule& is) {
        return was.same_as(is) && !rises(was.rate, is.rate) && !rises(was.tiers, is.tiers);
    });
}

/// A cap that is gone or higher.
bool caps_rise(const std::vector<Money>& before, const std::vector<Money>& after) {
    return std::ranges::any_of(before, [&after](const Money& cap) {
        const Decimal* const now = amount_in(after, cap.currency);
        return now == nullptr || *now > cap.amount;
    });
}

bool dates_widen(const Program& before, const Program& after) {
    const bool starts_earlier =
        before.starts_at != after.starts_at &&
        !(before.starts_at && after.starts_at && *after.starts_at > *before.starts_at);
    const bool ends_later = before.ends_at && (!after.ends_at || *after.ends_at > *before.ends_at);
    return starts_earlier || ends_later || after.late_days > before.late_days ||
           after.window_days > before.window_days;
}

bool shops_widen(const Program& before, const Program& after) {
    return !before.shops.empty() &&
           (after.shops.empty() ||
            std::ranges::any_of(
                after.shops, [&before](const std::string& shop) { return !before.covers(shop); }));
}

}  // namespace

bool raises_earnings(const Program* before, const Program& after) {
    return before == nullptr || rises(before->default_rate, after.default_rate) ||
           rises(before->default_tiers, after.default_tiers) || rises(before->rules, after.rules) ||
           before->tiers_apply != after.tiers_apply ||
           caps_rise(before->max_per_order, after.max_per_order) || dates_widen(*before, after) ||
           shops_widen(*before, after) || after.clearing_days < before->clearing_days ||
           (before->base == BaseKind::kNet && after.base == BaseKind::kGross) ||
           before->precedence != after.precedence;
}

}  // namespace sluice
