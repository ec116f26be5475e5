#include "lmdb_store/store/command_key.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kKeysBytesMax = 1U << 16;

Digest256 random_key() {
    Digest256 key{};
    fill_random(key);
    return key;
}

CommandKeys read_keys(int fd, const std::filesystem::path& path) {
    std::string text(kKeysBytesMax, '\0');
    const std::int64_t got = read_at(fd, text.data(), text.size(), 0);
    if (got < 0) {
        throw StoreFailure(system_error(static_cast<int>(-got), "read", path));
    }
    auto keys = CommandKeys::parse({text.data(), static_cast<std::size_t>(got)});
    OPENSSL_cleanse(text.data(), text.size());
    if (!keys) {
        throw StoreFailure(
            corrupt("\"" + path.string() + "\" holds no command keys (64 hex digits a line)"));
    }
    return *std::move(keys);
}

Status write_keys(const std::filesystem::path& path, const CommandKeys& keys,
                  const FileOwner& owner) {
    std::string text = keys.to_text();
    Status written = replace_file(path, text, owner);
    OPENSSL_cleanse(text.data(), text.size());
    return written;
}

}  // namespace

Result<Fd> lock_command_key(const std::filesystem::path& path, int how) {
    for (;;) {
        // A FIFO would keep worker and commands waiting for its writer.
        Fd fd(open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
        if (!fd.ok()) {
            return system_error(errno, "read", path);
        }
        if (::flock(fd.get(), how) != 0) {
            return system_error(errno, "lock", path);
        }
        struct stat opened {};
        struct stat named {};
        if (::fstat(fd.get(), &opened) != 0 ||
            (::stat(path.c_str(), &named) != 0 && errno != ENOENT)) {
            return system_error(errno, "inspect", path);
        }
        if (!S_ISREG(opened.st_mode)) {
            return corrupt("\"" + path.string() +
                           "\" should be a regular file: find out who made it, and move it away");
        }
        if (opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
            return fd;
        }
    }
}

Result<HeldCommandKeys> HeldCommandKeys::load(const std::filesystem::path& path) {
    return attempt([&] {
        Fd fd = checked(lock_command_key(path, LOCK_SH));
        check(check_key_mode(fd.get(), path, ", then run `sluice key rotate`"));
        CommandKeys keys = read_keys(fd.get(), path);
        return HeldCommandKeys(std::move(fd), std::move(keys));
    });
}

Status create_command_key(const std::filesystem::path& path, const FileOwner& owner) {
    CommandKeys keys;
    keys.rotate(random_key(), {});
    return write_keys(path, keys, owner);
}

Status rotate_command_key(const std::filesystem::path& path, const FileOwner& owner,
                          const std::function<Result<SequenceNumber>()>& last_seq) {
    if (::access(path.c_str(), F_OK) != 0) {
        return errno == ENOENT ? create_command_key(path, owner)
                               : Status(system_error(errno, "read", path));
    }
    return attempt([&] {
        const Fd fd = checked(lock_command_key(path, LOCK_EX));
        CommandKeys keys = read_keys(fd.get(), path);
        keys.rotate(random_key(), checked(last_seq()));
        return write_keys(path, keys, owner);
    });
}

}  // namespace sluice::store
