#include "worker/administration/registry_file.hpp"

#include <map>
#include <optional>

#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/signature.hpp"
#include "worker/cli/cli_values.hpp"

namespace sluice::cli {
namespace {

using simdjson::dom::element;
using store::RegistrySnapshot;

constexpr std::string_view kFormatName = "sluice-registry";
/// Associated data of the file's seal: no token's id begins like this.
constexpr std::string_view kSealName = "registry file ";

/// Members of one revision in the history.
constexpr std::size_t kPastBytes = 16;

std::string hex(std::string_view bytes) {
    return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

void write_time(JsonWriter& json, std::string_view name, const std::optional<Timestamp>& time) {
    json.key(name);
    if (time) {
        json.value(time->to_string());
    } else {
        json.null();
    }
}

void write_head(JsonWriter& json, const RegistrySnapshot& all) {
    json.begin_object()
        .field("format", kFormatName)
        .field("version", kRegistryFileVersion)
        .field("source", all.revision.source)
        .field("revision", all.revision.number)
        .field("digest", hex(all.revision.digest))
        .field("exported_at", all.exported_at.to_string())
        .field("accounts", std::uint64_t{all.accounts.size()})
        .field("shops", std::uint64_t{all.shops.size()})
        .field("tokens", std::uint64_t{all.tokens.size()})
        .field("users", std::uint64_t{all.users.size()})
        .field("key_check", hex(all.key_check))
        .end_object();
}

/// One text: 8 bytes of the number and 8 of the digest for each, big-endian.
void write_history(JsonWriter& json, const std::vector<store::PastRevision>& history) {
    std::string bytes;
    bytes.reserve(history.size() * kPastBytes);
    for (const store::PastRevision& past : history) {
        for (const std::uint64_t word : {past.number, past.digest}) {
            for (int shift = 56; shift >= 0; shift -= 8) {
                bytes += static_cast<char>(word >> shift & 0xFF);
            }
        }
    }
    json.begin_object().field("history", hex(bytes)).end_object();
}

void write_account(JsonWriter& json, const store::AccountRow& row) {
    json.begin_object()
        .field("account", row.account_id.view())
        .field("number", row.number.value)
        .key("rate_limit");
    if (row.rate_limit) {
        json.value(to_string(*row.rate_limit));
    } else {
        json.null();
    }
    json.field("suspended", row.suspended);
    write_time(json, "created_at", row.created_at);
    json.end_object();
}

void write_shop(JsonWriter& json, const store::ShopRow& row) {
    json.begin_object()
        .field("shop", row.shop_id.view())
        .field("number", row.number.value)
        .field("account", row.account_id.view())
        .field("suspended", row.suspended);
    write_time(json, "created_at", row.created_at);
    json.end_object();
}

void write_token(JsonWriter& json, const store::SealedToken& token) {
    json.begin_object()
        .field("token", token.row.token_id.view())
        .field("account", token.row.account_id.view())
        .key("scopes")
        .begin_array();
    for (const std::string& scope : scope_names(token.row.scopes)) {
        json.value(scope);
    }
    json.end_array();
    write_time(json, "created_at", token.row.created_at);
    write_time(json, "expires_at", token.row.expires_at);
    write_time(json, "revoked_at", token.row.revoked_at);
    json.field("sealed_secret", hex(token.sealed_secret)).end_object();
}

void write_user(JsonWriter& json, const store::UserRow& row) {
    json.begin_object()
        .field("user", row.name)
        .field("account", row.account_id.view())
        .field("role", role_name(row.role));
    write_time(json, "created_at", row.created_at);
    write_time(json, "removed_at", row.removed_at);
    json.end_object();
}

/// Returns the seal: a digest of all lines before the last one, made with the key.
std::string digest_of(std::string_view lines) {
    return to_hex(sha256(lines));
}

// Reading
// ------------------------------------------------------------------------------------------

class Damaged {};

std::string_view text_of(element object, std::string_view name) {
    std::string_view text;
    if (object[name].get(text) != simdjson::SUCCESS) {
        throw Damaged();
    }
    return text;
}

std::uint64_t number_of(element object, std::string_view name, std::uint64_t max) {
    std::uint64_t number = 0;
    if (object[name].get(number) != simdjson::SUCCESS || number > max) {
        throw Damaged();
    }
    return number;
}

bool flag_of(element object, std::string_view name) {
    bool flag = false;
    if (object[name].get(flag) != simdjson::SUCCESS) {
        throw Damaged();
    }
    return flag;
}

template <class T>
T need(std::optional<T> value) {
    if (!value) {
        throw Damaged();
    }
    return *std::move(value);
}

template <class T>
T need(Result<T> value) {
    if (!value) {
        throw Damaged();
    }
    return std::move(value).value();
}

std::optional<std::string_view> text_or_null(element object, std::string_view name) {
    return object[name].is_null() ? std::nullopt : std::optional(text_of(object, name));
}

std::optional<Timestamp> time_or_null(element object, std::string_view name) {
    const auto text = text_or_null(object, name);
    return text ? std::optional(need(Timestamp::parse(*text))) : std::nullopt;
}

template <class Id>
Id id_of(element object, std::string_view name) {
    return Id(need(parse_admin_id(text_of(object, name))));
}

std::uint32_t row_number(element object) {
    const std::uint64_t number = number_of(object, "number", 0xFFFFFFFE);
    if (number == 0) {
        throw Damaged();
    }
    return static_cast<std::uint32_t>(number);
}

std::optional<std::uint8_t> digit_of(char c) {
    if (c >= '0' && c <= '9') {
        return static_cast<std::uint8_t>(c - '0');
    }
    return c >= 'a' && c <= 'f' ? std::optional(static_cast<std::uint8_t>(c - 'a' + 10))
                                : std::nullopt;
}

std::string bytes_of(element object, std::string_view name) {
    const std::string_view text = text_of(object, name);
    std::string bytes(text.size() / 2, '\0');
    if (text.size() % 2 != 0) {
        throw Damaged();
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const unsigned high = need(digit_of(text[2 * i]));
        bytes[i] = static_cast<char>(high << 4 | need(digit_of(text[2 * i + 1])));
    }
    return bytes;
}

store::AccountRow read_account(element line) {
    store::AccountRow row;
    row.account_id = id_of<AccountId>(line, "account");
    row.number = {row_number(line)};
    row.slot = {row.number.value - 1};
    if (const auto limit = text_or_null(line, "rate_limit")) {
        row.rate_limit = need(parse_rate_limit(*limit));
    }
    row.suspended = flag_of(line, "suspended");
    row.created_at = need(time_or_null(line, "created_at"));
    return row;
}

using AccountNumbers = std::map<std::string, AccountNumber, std::less<>>;

store::ShopRow read_shop(element line, const AccountNumbers& accounts) {
    store::ShopRow row;
    row.shop_id = id_of<ShopId>(line, "shop");
    row.number = {row_number(line)};
    row.account_id = id_of<AccountId>(line, "account");
    row.suspended = flag_of(line, "suspended");
    row.created_at = need(time_or_null(line, "created_at"));
    const auto owner = accounts.find(row.account_id.view());
    if (owner == accounts.end()) {
        throw Damaged();
    }
    row.account_number = owner->second;
    return row;
}

store::SealedToken read_token(element line) {
    store::SealedToken token;
    token.row.token_id = id_of<TokenId>(line, "token");
    token.row.account_id = id_of<AccountId>(line, "account");
    simdjson::dom::array scopes;
    if (line["scopes"].get(scopes) != simdjson::SUCCESS) {
        throw Damaged();
    }
    for (const element scope : scopes) {
        std::string_view name;
        if (scope.get(name) != simdjson::SUCCESS) {
            throw Damaged();
        }
        token.row.scopes |= need(parse_scopes(name));
    }
    token.row.created_at = need(time_or_null(line, "created_at"));
    token.row.expires_at = time_or_null(line, "expires_at");
    token.row.revoked_at = time_or_null(line, "revoked_at");
    token.sealed_secret = bytes_of(line, "sealed_secret");
    return token;
}

store::UserRow read_user(element line, const AccountNumbers& accounts) {
    store::UserRow row;
    row.name = need(store::user_name(text_of(line, "user")));
    row.account_id = id_of<AccountId>(line, "account");
    const auto owner = accounts.find(row.account_id.view());
    if (owner == accounts.end()) {
        throw Damaged();
    }
    row.account_number = owner->second;
    row.role = need(parse_role(text_of(line, "role")));
    row.created_at = need(time_or_null(line, "created_at"));
    row.removed_at = time_or_null(line, "removed_at");
    return row;
}

/// The lines of a file, one after the other, each a JSON object.
class Lines {
public:
    explicit Lines(std::string_view text) : rest_(text) {}

    [[nodiscard]] element next() {
        const std::size_t end = rest_.find('\n');
        if (end == std::string_view::npos || !json_.parse(rest_.substr(0, end))) {
            throw Damaged();
        }
        rest_.remove_prefix(end + 1);
        return json_.root();
    }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

private:
    std::string_view rest_;
    JsonDocument json_;
};

std::vector<store::PastRevision> read_history(element line) {
    const std::string bytes = bytes_of(line, "history");
    if (bytes.size() % kPastBytes != 0) {
        throw Damaged();
    }
    const auto word_at = [&bytes](std::size_t at) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < kPastBytes / 2; ++i) {
            word = word << 8 | static_cast<unsigned char>(bytes[at + i]);
        }
        return word;
    };
    std::vector<store::PastRevision> history;
    for (std::size_t at = 0; at < bytes.size(); at += kPastBytes) {
        history.push_back({word_at(at), word_at(at + kPastBytes / 2)});
        if (at != 0 && history[history.size() - 2].number >= history.back().number) {
            throw Damaged();
        }
    }
    return history;
}

struct Counts {
    std::uint64_t accounts = 0, shops = 0, tokens = 0, users = 0;
};

Counts read_head(element line, RegistrySnapshot& all) {
    constexpr std::uint64_t kMany = std::uint64_t{1} << 32;
    all.revision = {std::string(text_of(line, "source")),
                    number_of(line, "revision", ~std::uint64_t{0}), bytes_of(line, "digest")};
    if (all.revision.digest.size() != sizeof(Digest256)) {
        throw Damaged();
    }
    all.exported_at = need(time_or_null(line, "exported_at"));
    all.key_check = bytes_of(line, "key_check");
    return {number_of(line, "accounts", kMany), number_of(line, "shops", kMany),
            number_of(line, "tokens", kMany), number_of(line, "users", kMany)};
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
        return Error{ErrorCode::kInvalid,
                     "it is not a registry that \"sluice registry export\" made"};
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
    Lines last(text.substr(before + 1));
    text = text.substr(0, before + 1);
    const Result<std::string> digest =
        key.open(bytes_of(last.next(), "seal"), std::string(kSealName) + source);
    return digest && *digest == digest_of(text);
}

Result<RegistrySnapshot> decode(std::string_view text, const store::MasterKey& key) {
    RegistrySnapshot all;
    Lines lines(text);
    const Counts counts = read_head(lines.next(), all);
    if (Status ok = check_snapshot_key(all, key); !ok) {
        return ok.error();
    }
    if (!take_seal(text, all.revision.source, key)) {
        throw Damaged();
    }
    all.history = read_history(lines.next());
    AccountNumbers accounts;
    for (std::uint64_t i = 0; i < counts.accounts; ++i) {
        const auto& row = all.accounts.emplace_back(read_account(lines.next()));
        accounts.emplace(row.account_id.str(), row.number);
    }
    for (std::uint64_t i = 0; i < counts.shops; ++i) {
        all.shops.push_back(read_shop(lines.next(), accounts));
    }
    for (std::uint64_t i = 0; i < counts.tokens; ++i) {
        all.tokens.push_back(read_token(lines.next()));
    }
    for (std::uint64_t i = 0; i < counts.users; ++i) {
        all.users.push_back(read_user(lines.next(), accounts));
    }
    return all;
}

}  // namespace

std::string encode_registry(const RegistrySnapshot& snapshot, const store::MasterKey& key) {
    std::string text;
    const auto line = [&text](const auto& write, const auto& row) {
        JsonWriter json(text);
        write(json, row);
        text += '\n';
    };
    line(write_head, snapshot);
    line(write_history, snapshot.history);
    for (const store::AccountRow& row : snapshot.accounts) {
        line(write_account, row);
    }
    for (const store::ShopRow& row : snapshot.shops) {
        line(write_shop, row);
    }
    for (const store::SealedToken& token : snapshot.tokens) {
        line(write_token, token);
    }
    for (const store::UserRow& row : snapshot.users) {
        line(write_user, row);
    }
    const std::string seal =
        key.seal(digest_of(text), std::string(kSealName) + snapshot.revision.source);
    JsonWriter(text).begin_object().field("seal", hex(seal)).end_object();
    return text + '\n';
}

Result<RegistrySnapshot> decode_registry(std::string_view text, const store::MasterKey& key) {
    if (Status ok = check_format(text); !ok) {
        return ok.error();
    }
    try {
        return decode(text, key);
    } catch (const Damaged&) {
        return Error{ErrorCode::kCorrupt, "it is damaged, cut off or was changed: export it again"};
    }
}

}  // namespace sluice::cli
