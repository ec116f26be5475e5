#include "tool/administration/registry_file.hpp"

#include <map>
#include <optional>

#include "core/json/document.hpp"
#include "core/json/member_reader.hpp"
#include "core/json/member_writer.hpp"
#include "core/protocol/signature.hpp"
#include "program/cli/cli_values.hpp"

namespace sluice::cli {
namespace {

using store::RegistrySnapshot;

constexpr std::string_view kFormatName = "sluice-registry";
/// Associated data of the file's seal: no token's id begins like this.
constexpr std::string_view kSealName = "registry file ";

// ---- Texts of values ----------------------------------------------------------------------------

/// Bytes as hexadecimal digits in lower case.
struct HexBytes {
    std::optional<std::string> operator()(std::string_view digits) const {
        std::string bytes(digits.size() / 2, '\0');
        auto* const to = reinterpret_cast<std::uint8_t*>(bytes.data());
        return read_hex(digits, {to, bytes.size()}, HexCase::kLowerOnly) ? std::optional(bytes)
                                                                         : std::nullopt;
    }
    static std::string text(std::string_view bytes) {
        return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    }
};

struct LimitText {
    Result<RateLimit> operator()(std::string_view limit) const { return parse_rate_limit(limit); }
    static std::string text(const RateLimit& limit) { return to_string(limit); }
};

// ---- Lines: one list of members for both directions (member_writer.hpp) -------------------------

/// The first line.
struct Head {
    std::string format{kFormatName};
    std::uint64_t version = kRegistryFileVersion;
    store::RegistryRevision revision;
    Timestamp exported_at;
    std::uint64_t accounts = 0, shops = 0, tokens = 0, users = 0,
                  changes = 0;  ///< Numbers of lines.
    std::string key_check;
};

void line_members(auto& members, Is<Head> auto& head) {
    members("format", head.format);
    members("version", head.version);
    members("source", head.revision.source);
    members("revision", head.revision.number);
    members("digest", head.revision.digest, HexBytes());
    members("exported_at", head.exported_at);
    members("accounts", head.accounts);
    members("shops", head.shops);
    members("tokens", head.tokens);
    members("users", head.users);
    members("changes", head.changes);
    members("key_check", head.key_check, HexBytes());
}

/// One text: 8 bytes of the number and 8 of the digest for each, big-endian.
struct HistoryText {
    using History = std::vector<store::PastRevision>;
    static constexpr std::size_t kPastBytes = 16;

    std::optional<History> operator()(std::string_view digits) const {
        const std::optional<std::string> bytes = HexBytes()(digits);
        if (!bytes || bytes->size() % kPastBytes != 0) {
            return std::nullopt;
        }
        const auto word_at = [&bytes](std::size_t at) {
            std::uint64_t word = 0;
            for (std::size_t i = 0; i < kPastBytes / 2; ++i) {
                word = word << 8 | static_cast<unsigned char>((*bytes)[at + i]);
            }
            return word;
        };
        History history;
        for (std::size_t at = 0; at < bytes->size(); at += kPastBytes) {
            history.push_back({word_at(at), word_at(at + kPastBytes / 2)});
            if (at != 0 && history[history.size() - 2].number >= history.back().number) {
                return std::nullopt;
            }
        }
        return history;
    }
    static std::string text(const History& history) {
        std::string bytes;
        bytes.reserve(history.size() * kPastBytes);
        for (const store::PastRevision& past : history) {
            for (const std::uint64_t word : {past.number, past.digest}) {
                for (int shift = 56; shift >= 0; shift -= 8) {
                    bytes += static_cast<char>(word >> shift & 0xFF);
                }
            }
        }
        return HexBytes::text(bytes);
    }
};

/// The second line.
struct HistoryLine {
    HistoryText::History history;
};

void line_members(auto& members, Is<HistoryLine> auto& line) {
    members("history", line.history, HistoryText());
}

void line_members(auto& members, Is<store::RegisteredAccount> auto& row) {
    members("account", row.account_id, parse_admin_id);
    members("number", row.number.value);
    members.or_null("rate_limit", row.rate_limit, LimitText());
    members("suspended", row.suspended);
    members("created_at", row.created_at);
}

void line_members(auto& members, Is<store::RegisteredShop> auto& row) {
    members("shop", row.shop_id, parse_admin_id);
    members("number", row.number.value);
    members("account", row.account_id, parse_admin_id);
    members("suspended", row.suspended);
    members("created_at", row.created_at);
    members.unless_default("platform", row.source.platform, parse_name<Platform>);
    members.unless_default("domain", row.source.domain);
    members("orders_from", row.source.settings.from);
    members.unless_default("platform_shop", row.source.settings.platform_shop);
    members.unless_default("presentment_money", row.source.settings.presentment_money);
    members.unless_default("counts_test_orders", row.source.settings.counts_test_orders);
    members.unless_default("counts_gift_cards", row.source.settings.counts_gift_cards);
}

template <class Members>
void line_members(Members& members, Is<store::SealedToken> auto& token) {
    members("token", token.row.token_id, parse_admin_id);
    members("account", token.row.account_id, parse_admin_id);
    std::vector<std::string> scopes = scope_names(token.row.scopes);
    members("scopes", scopes);
    if constexpr (Members::kReads) {
        for (const std::string& scope : scopes) {
            token.row.scopes |= require(parse_scopes(scope));
        }
    }
    members("created_at", token.row.created_at);
    members.or_null("expires_at", token.row.expires_at);
    members.or_null("revoked_at", token.row.revoked_at);
    members("sealed_secret", token.sealed_secret, HexBytes());
    members.unless_default("shop", token.row.shop_id);
    members.unless_default("label", token.row.label);
    members.unless_default("made_by", token.row.made_by);
}

void line_members(auto& members, Is<store::UserRow> auto& row) {
    members("user", row.name, store::user_name);
    members("account", row.account_id, parse_admin_id);
    members("role", row.role, parse_role);
    members("created_at", row.created_at);
    members.or_null("removed_at", row.removed_at);
}

void line_members(auto& members, Is<store::ChangeRow> auto& row) {
    members("store", row.store, parse_admin_id);
    members("number", row.number);
    members("at", row.at);
    members("actor", row.author.actor);
    members("reason", row.author.reason);
    members("change", row.change);
}

/// The last line.
struct SealLine {
    std::string seal;
};

void line_members(auto& members, Is<SealLine> auto& line) {
    members("seal", line.seal, HexBytes());
}

/// Appends a line.
template <class Line>
void write_line(std::string& text, const Line& line) {
    JsonWriter json(text);
    json.begin_object();
    MemberWriter members(json);
    line_members(members, line);
    json.end_object();
    text += '\n';
}

/// The lines of a file, one after the other.
class Lines {
public:
    explicit Lines(std::string_view text) : rest_(text) {}

    template <class Line>
    [[nodiscard]] Line next() {
        const std::size_t end = rest_.find('\n');
        expect(end != std::string_view::npos && json_.parse(rest_.substr(0, end)));
        rest_.remove_prefix(end + 1);
        Line line{};
        MemberReader members(json_.root());
        line_members(members, line);
        return line;
    }

private:
    std::string_view rest_;
    JsonDocument json_;
};

// ---- The file -----------------------------------------------------------------------------------

/// Returns the seal: a digest of all lines before the last one, made with the key.
std::string digest_of(std::string_view lines) {
    return to_hex(sha256(lines));
}

using AccountNumbers = std::map<std::string, AccountNumber, std::less<>>;

AccountNumber owner_of(const AccountNumbers& accounts, const AccountId& id) {
    const auto owner = accounts.find(id.view());
    expect(owner != accounts.end());
    return owner->second;
}

void expect_number(std::uint32_t number) {
    expect(number != 0 && number != ~std::uint32_t{0});
}

/// Returns kInvalid or kUnsupported. Called first, because the format decides how the rest is read.
Status check_format(std::string_view text) {
    JsonDocument json;
    std::string_view format;
    std::uint64_t version = 0;
    const bool known = json.parse(text.substr(0, text.find('\n'))) &&
                       json.root()["format"].get(format) == simdjson::SUCCESS &&
                       format == kFormatName &&
                       json.root()["version"].get(version) == simdjson::SUCCESS;
    if (!known) {
        return invalid("it is not a registry that \"sluice registry export\" made");
    }
    if (version != kRegistryFileVersion) {
        return Error{ErrorCode::kUnsupported,
                     "it has version " + std::to_string(version) +
                         (version > kRegistryFileVersion
                              ? ": use a newer release of sluice"
                              : ", which only a pre-release of sluice read: export the registry "
                                "again")};
    }
    return Status::success();
}

/// Removes the last line from `text`. Returns true if that line seals the lines before it.
bool take_seal(std::string_view& text, const std::string& source, const store::MasterKey& key) {
    if (text.empty() || text.back() != '\n') {
        return false;
    }
    const std::size_t before = text.find_last_of('\n', text.size() - 2);
    if (before == std::string_view::npos) {
        return false;
    }
    const SealLine last = Lines(text.substr(before + 1)).next<SealLine>();
    text = text.substr(0, before + 1);
    const Result<std::string> digest = key.open(last.seal, std::string(kSealName) + source);
    return digest && *digest == digest_of(text);
}

Result<RegistrySnapshot> decode(std::string_view text, const store::MasterKey& key) {
    RegistrySnapshot all;
    Lines lines(text);
    const Head head = lines.next<Head>();
    expect(head.revision.digest.size() == sizeof(Digest256));
    all.revision = head.revision;
    all.exported_at = head.exported_at;
    all.key_check = head.key_check;
    if (Status ok = check_snapshot_key(all, key); !ok) {
        return ok.error();
    }
    expect(take_seal(text, all.revision.source, key));
    all.history = lines.next<HistoryLine>().history;
    AccountNumbers accounts;
    for (std::uint64_t i = 0; i < head.accounts; ++i) {
        auto& row = all.accounts.emplace_back(lines.next<store::RegisteredAccount>());
        expect_number(row.number.value);
        row.slot = {row.number.value - 1};
        accounts.emplace(row.account_id.str(), row.number);
    }
    for (std::uint64_t i = 0; i < head.shops; ++i) {
        auto& row = all.shops.emplace_back(lines.next<store::RegisteredShop>());
        expect_number(row.number.value);
        row.account_number = owner_of(accounts, row.account_id);
    }
    for (std::uint64_t i = 0; i < head.tokens; ++i) {
        all.tokens.push_back(lines.next<store::SealedToken>());
    }
    for (std::uint64_t i = 0; i < head.users; ++i) {
        auto& row = all.users.emplace_back(lines.next<store::UserRow>());
        row.account_number = owner_of(accounts, row.account_id);
    }
    for (std::uint64_t i = 0; i < head.changes; ++i) {
        all.changes.push_back(lines.next<store::ChangeRow>());
    }
    return all;
}

}  // namespace

std::string encode_registry(const RegistrySnapshot& snapshot, const store::MasterKey& key) {
    std::string text;
    Head head;
    head.revision = snapshot.revision;
    head.exported_at = snapshot.exported_at;
    head.accounts = snapshot.accounts.size();
    head.shops = snapshot.shops.size();
    head.tokens = snapshot.tokens.size();
    head.users = snapshot.users.size();
    head.changes = snapshot.changes.size();
    head.key_check = snapshot.key_check;
    write_line(text, head);
    write_line(text, HistoryLine{snapshot.history});
    const auto write_lines = [&text](const auto& rows) {
        for (const auto& row : rows) {
            write_line(text, row);
        }
    };
    write_lines(snapshot.accounts);
    write_lines(snapshot.shops);
    write_lines(snapshot.tokens);
    write_lines(snapshot.users);
    write_lines(snapshot.changes);
    write_line(text, SealLine{key.seal(digest_of(text),
                                       std::string(kSealName) + snapshot.revision.source)});
    return text;
}

Result<RegistrySnapshot> decode_registry(std::string_view text, const store::MasterKey& key) {
    if (Status ok = check_format(text); !ok) {
        return ok.error();
    }
    try {
        return decode(text, key);
    } catch (const Malformed&) {
        return Error{ErrorCode::kCorrupt, "it is damaged, cut off or was changed: export it again"};
    }
}

}  // namespace sluice::cli
