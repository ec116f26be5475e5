#include "lmdb_store/lanes/cells.hpp"

#include <string>
#include <string_view>

#include "lmdb_store/store/control_page.hpp"

namespace sluice::store {
namespace {

constexpr unsigned kCheckBits = 24;
constexpr std::uint64_t kCheckMask = (std::uint64_t{1} << kCheckBits) - 1;

}  // namespace

Result<Uuid> read_boot_id() {
    constexpr const char* kPath = "/proc/sys/kernel/random/boot_id";
    const Result<std::string> text = read_proc(kPath);
    if (!text) {
        return text.error();
    }
    const auto boot = parse_uuid(std::string_view(*text).substr(0, 36));
    if (!boot) {
        return Error{ErrorCode::kInternal, std::string("\"") + kPath + "\" is no UUID"};
    }
    return *boot;
}

std::uint64_t cell_key(const Uuid& lane, const Uuid& boot) noexcept {
    std::uint64_t key = 0x6C616E65;
    for (const Uuid* uuid : {&lane, &boot}) {
        for (const std::uint8_t byte : *uuid) {
            key = mix_bits(key + byte);
        }
    }
    return key;
}

void put_cell(std::atomic<std::uint64_t>& word, std::uint64_t offset, std::uint64_t key) noexcept {
    const std::uint64_t blocks = offset / kLaneBlockBytes;
    word.store(blocks << kCheckBits | (mix_bits(blocks ^ key) & kCheckMask));
}

std::optional<std::uint64_t> get_cell(const std::atomic<std::uint64_t>& word,
                                      std::uint64_t key) noexcept {
    const std::uint64_t stored = word.load();
    const std::uint64_t blocks = stored >> kCheckBits;
    return (stored & kCheckMask) == (mix_bits(blocks ^ key) & kCheckMask)
               ? std::optional(blocks * kLaneBlockBytes)
               : std::nullopt;
}

Status LaneCells::create(const std::filesystem::path& path, const FileOwner& owner) {
    return replace_file(path, std::string(kFileBytes, '\0'), owner);
}

Result<LaneCells> LaneCells::open(const std::filesystem::path& path) {
    Result<MappedFile> file = map_hints(path, kFileBytes);
    return file ? Result<LaneCells>(LaneCells(std::move(*file))) : Result<LaneCells>(file.error());
}

}  // namespace sluice::store
