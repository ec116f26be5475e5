#include "lmdb_store/store/master_key.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "core/protocol/signature.hpp"
#include "core/values/shell_word.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kLineBytes = 65;
constexpr std::size_t kFileBytesMax = 2 * kLineBytes + 1;  ///< One more shows a longer file.

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

CipherContext new_context() {
    CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
    if (context == nullptr) {
        throw std::bad_alloc();
    }
    return context;
}

const unsigned char* bytes_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

/// Parses a line of a key file, whose newline the last one may lack. Returns nullopt for another
/// text.
std::optional<Digest256> parse_line(std::string_view line) noexcept {
    if (!line.empty() && line.back() == '\n') {
        line.remove_suffix(1);
    }
    return parse_hex_digest(line, HexCase::kEither);
}

unsigned char* bytes_of(std::string& text) noexcept {
    return reinterpret_cast<unsigned char*>(text.data());
}

/// Passes bytes through a cipher. AWS-LC and BoringSSL take an update without bytes for the end.
template <auto kUpdate>
bool update(EVP_CIPHER_CTX* gcm, unsigned char* to, std::string_view from) noexcept {
    int written = 0;
    return from.empty() ||
           kUpdate(gcm, to, &written, bytes_of(from), static_cast<int>(from.size())) == 1;
}

Error refused(std::string_view token_id) {
    return {ErrorCode::kCorrupt, "the secret of token \"" + std::string(token_id) +
                                     "\" does not open with this master key: it is another "
                                     "store's key, or the registry is damaged"};
}

}  // namespace

Status check_key_mode(int fd, const std::filesystem::path& path, std::string_view then) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
        return system_error(errno, "read", path);
    }
    if ((info.st_mode & 077U) != 0) {
        return Error{ErrorCode::kPermission,
                     "\"" + path.string() +
                         "\" may be read by group or others: make it readable by its owner only "
                         "(chmod 0400 " +
                         shell_word(path.native()) + ")" + std::string(then)};
    }
    return Status::success();
}

MasterKey::~MasterKey() {
    OPENSSL_cleanse(key_.data(), key_.size());
    if (next_) {
        OPENSSL_cleanse(next_->data(), next_->size());
    }
}

Result<MasterKey> MasterKey::load(const std::filesystem::path& path) {
    Fd closed;
    return open_and_load(path, false, closed);
}

Result<MasterKey> MasterKey::hold(const std::filesystem::path& path, Fd& held) {
    return open_and_load(path, true, held);
}

Result<MasterKey> MasterKey::open_and_load(const std::filesystem::path& path, bool locks,
                                           Fd& held) {
    Result<Fd> fd = open_plain(path, O_RDONLY);
    if (!fd) {
        Error error = fd.error();
        if (error.code == ErrorCode::kPermission) {
            error.message +=
                ": it should belong to the owner of the store, with mode 0400 (chown -h "
                "--reference=" +
                shell_word((path.parent_path() / "format").native()) + " " +
                shell_word(path.native()) + ")";
        }
        return error;
    }
    held = std::move(*fd);
    if (locks && ::flock(held.get(), LOCK_SH) != 0) {
        return system_error(errno, "lock", path);
    }
    return load(held.get(), path);
}

Result<MasterKey> MasterKey::load(int fd, const std::filesystem::path& path) {
    Status closed = check_key_mode(fd, path);
    return closed ? read(fd, path) : closed.error();
}

Result<MasterKey> MasterKey::read(int fd, const std::filesystem::path& path) {
    std::array<char, kFileBytesMax> text{};
    const std::int64_t got = read_at(fd, text.data(), text.size(), 0);
    if (got < 0) {
        return system_error(static_cast<int>(-got), "read", path);
    }
    std::string_view lines(text.data(), static_cast<std::size_t>(got));
    // A power cut may leave the length of a second line without its bytes.
    lines = lines.substr(0, lines.find_last_not_of('\0') + 1);
    const std::optional<Digest256> key = parse_line(lines.substr(0, kLineBytes));
    const std::string_view rest = lines.size() > kLineBytes ? lines.substr(kLineBytes) : "";
    const std::optional<Digest256> next = parse_line(rest);
    OPENSSL_cleanse(text.data(), text.size());
    if (!key || (!rest.empty() && !next)) {
        return corrupt("\"" + path.string() + "\" is not a master key (64 hex digits)");
    }
    MasterKey loaded(*key);
    loaded.next_ = next;
    // OpenSSL loads its ciphers on first use, and crashes if that runs out of memory. So use it
    // now.
    static_cast<void>(loaded.seal({}, {}));
    return loaded;
}

MasterKey MasterKey::random() {
    MasterKey key;
    fill_random(key.key_);
    return key;
}

Status MasterKey::save(const std::filesystem::path& path) const {
    FileOwner owner{static_cast<uid_t>(-1), static_cast<gid_t>(-1), 0400};
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {  // a replaced key keeps its owner
        owner.user = info.st_uid;
        owner.group = info.st_gid;
    }
    std::string text = to_hex(key_) + "\n";
    Status saved = replace_file(path, text, owner);
    OPENSSL_cleanse(text.data(), text.size());
    return saved;
}

Status MasterKey::overwrite(const std::filesystem::path& path, const MasterKey* next) const {
    // If its owner is not root, 0400 keeps the owner from writing.
    const Result<Fd> readable = open_plain(path, O_RDONLY);
    if (!readable) {
        return readable.error();
    }
    if (::fchmod(readable->get(), 0600) != 0) {
        return system_error(errno, "write", path);
    }
    const Result<Fd> writable = open_plain(path, O_WRONLY);
    if (!writable) {
        return writable.error();
    }
    const Fd& fd = *writable;
    std::string text = to_hex(key_) + "\n" + (next != nullptr ? to_hex(next->key_) + "\n" : "");
    // One write of less than a sector, so that a reader sees the old keys or the new ones. A file
    // that is yet to be truncated holds this key and the one that was second.
    const bool written =
        ::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
        ::ftruncate(fd.get(), static_cast<off_t>(text.size())) == 0 && ::fsync(fd.get()) == 0 &&
        ::fchmod(fd.get(), 0400) == 0;
    const int error = errno;
    OPENSSL_cleanse(text.data(), text.size());
    return written ? Status::success() : system_error(error, "write", path);
}

std::string MasterKey::seal(std::string_view secret, std::string_view token_id) const {
    std::array<std::uint8_t, kNonceBytes> nonce{};
    fill_random(nonce);
    std::string sealed(kNonceBytes + secret.size() + kTagBytes, '\0');
    std::ranges::copy(nonce, bytes_of(sealed));
    unsigned char* text = bytes_of(sealed) + kNonceBytes;
    const CipherContext context = new_context();
    EVP_CIPHER_CTX* const gcm = context.get();
    int written = 0;
    const bool ok =
        EVP_EncryptInit_ex(gcm, EVP_aes_256_gcm(), nullptr, key_.data(), nonce.data()) == 1 &&
        update<EVP_EncryptUpdate>(gcm, nullptr, token_id) &&
        update<EVP_EncryptUpdate>(gcm, text, secret) &&
        EVP_EncryptFinal_ex(gcm, text + secret.size(), &written) == 1 &&
        EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_GET_TAG, static_cast<int>(kTagBytes),
                            text + secret.size()) == 1;
    if (!ok) {  // no other failure is possible
        throw std::bad_alloc();
    }
    return sealed;
}

Result<std::string> MasterKey::open(std::string_view sealed, std::string_view token_id) const {
    if (sealed.size() < kNonceBytes + kTagBytes) {
        return refused(token_id);
    }
    const std::string_view nonce = sealed.substr(0, kNonceBytes);
    const std::string_view text =
        sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
    std::string tag(sealed.substr(sealed.size() - kTagBytes));
    std::string secret(text.size(), '\0');
    const CipherContext context = new_context();
    EVP_CIPHER_CTX* const gcm = context.get();
    int written = 0;
    const bool ready =
        EVP_DecryptInit_ex(gcm, EVP_aes_256_gcm(), nullptr, key_.data(), bytes_of(nonce)) == 1 &&
        update<EVP_DecryptUpdate>(gcm, nullptr, token_id) &&
        update<EVP_DecryptUpdate>(gcm, bytes_of(secret), text) &&
        EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTagBytes),
                            bytes_of(tag)) == 1;
    if (!ready) {  // out of memory; a sender must not be refused as if the key were wrong
        throw std::bad_alloc();
    }
    if (EVP_DecryptFinal_ex(gcm, bytes_of(secret) + secret.size(), &written) != 1) {
        OPENSSL_cleanse(secret.data(), secret.size());
        return refused(token_id);
    }
    return secret;
}

}  // namespace sluice::store
