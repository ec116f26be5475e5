#include "core/links/published_links.hpp"

#include <bit>
#include <optional>
#include <utility>

#include "core/values/assert.hpp"
#include "core/values/crc32c.hpp"

namespace sluice {
namespace {

constexpr std::string_view kMagic = "SLCLNKS1";
constexpr std::size_t kUuidBytes = 36;
constexpr std::size_t kCrcBytes = 4;
constexpr unsigned kDeep = 1, kStopped = 2;

static_assert(PublishedLinks::kHeadBytes == kMagic.size() + kUuidBytes + 8 + 8 + 4);

template <class Number>
void append(std::string& to, Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
        to += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    }
}

/// Reads numbers and texts one after the other. Once one of them is cut off, it fails for good.
class Bytes {
public:
    explicit Bytes(std::string_view bytes) noexcept : left_(bytes) {}

    template <class Number>
    Number number() noexcept {
        const std::string_view raw = text(sizeof(Number));
        Number value = 0;
        for (std::size_t i = raw.size(); i-- != 0;) {
            value = static_cast<Number>(value << 8U | static_cast<std::uint8_t>(raw[i]));
        }
        return value;
    }
    std::string_view text(std::size_t size) noexcept {
        if (left_.size() < size) {
            is_sound_ = false;
            left_ = {};
        }
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(taken.size());
        return taken;
    }
    [[nodiscard]] bool is_sound() const noexcept { return is_sound_; }
    [[nodiscard]] bool is_at_end() const noexcept { return is_sound_ && left_.empty(); }

private:
    std::string_view left_;
    bool is_sound_ = true;
};

struct Head {
    PublishedHead head;
    std::uint32_t count = 0;
};

Error damaged(const char* what) {
    return {ErrorCode::kCorrupt, std::string("the file of links is damaged: ") + what};
}

Result<Head> take_head(Bytes& bytes) {
    Head taken;
    const bool is_ours = bytes.text(kMagic.size()) == kMagic;
    taken.head.store = bytes.text(kUuidBytes);
    taken.head.generation = bytes.number<std::uint64_t>();
    taken.head.revision = bytes.number<std::uint64_t>();
    taken.count = bytes.number<std::uint32_t>();
    if (!is_ours || !bytes.is_sound()) {
        return damaged("it has no head");
    }
    return taken;
}

std::optional<PublishedLink> take_link(Bytes& bytes) {
    PublishedLink link;
    link.account.value = bytes.number<std::uint32_t>();
    const auto flags = bytes.number<std::uint8_t>();
    link.is_deep = (flags & kDeep) != 0;
    link.is_stopped = (flags & kStopped) != 0;
    link.id = bytes.text(bytes.number<std::uint8_t>());
    link.url = bytes.text(bytes.number<std::uint16_t>());
    const Result<Destination> to = parse_destination(link.url);
    if (!bytes.is_sound() || !is_link_id(link.id) || !to) {
        return std::nullopt;
    }
    link.to = *to;
    return link;
}

}  // namespace

void PublishedLinksWriter::add(const PublishedLink& link) {
    SLUICE_ASSERT(link.id.size() <= kLinkIdBytesMax && link.url.size() <= kDestinationBytesMax);
    append(rows_, link.account.value);
    append(rows_, static_cast<std::uint8_t>((link.is_deep ? kDeep : 0U) |
                                            (link.is_stopped ? kStopped : 0U)));
    append(rows_, static_cast<std::uint8_t>(link.id.size()));
    rows_.append(link.id);
    append(rows_, static_cast<std::uint16_t>(link.url.size()));
    rows_.append(link.url);
    ++count_;
}

std::string PublishedLinksWriter::finish(const PublishedHead& head) const {
    SLUICE_ASSERT(head.store.size() == kUuidBytes);
    std::string file;
    file.reserve(PublishedLinks::kHeadBytes + rows_.size() + kCrcBytes);
    file.append(kMagic).append(head.store);
    append(file, head.generation);
    append(file, head.revision);
    append(file, count_);
    file.append(rows_);
    append(file, crc32c(0, file));
    return file;
}

Result<PublishedHead> PublishedLinks::read_head(std::string_view bytes) {
    Bytes from(bytes);
    Result<Head> head = take_head(from);
    return head ? Result<PublishedHead>(std::move(head->head)) : head.error();
}

std::size_t PublishedLinks::probe(std::string_view id, std::uint32_t hash) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const Slot& slot = slots_[at];
        const bool is_same = slot.hash == hash && slot.number != kNone &&
                             id == std::string_view(bytes_.data() + slot.id_at, slot.id_bytes);
        if (is_same || slot.number == kNone) {
            return at;
        }
    }
}

bool PublishedLinks::insert(const PublishedLink& link) {
    const std::uint32_t hash = hash_of(link.id);
    Slot& slot = slots_[probe(link.id, hash)];
    if (slot.number != kNone) {
        return false;
    }
    slot = {hash, static_cast<std::uint32_t>(links_.size()),
            static_cast<std::uint32_t>(link.id.data() - bytes_.data()),
            static_cast<std::uint32_t>(link.id.size())};
    links_.push_back(link);
    return true;
}

Result<PublishedLinks> PublishedLinks::read(std::string bytes) {
    if (bytes.size() < kHeadBytes + kCrcBytes) {
        return damaged("it is cut off");
    }
    PublishedLinks links;
    links.bytes_.assign(bytes.begin(), bytes.end());
    bytes = std::string();
    const std::string_view whole(links.bytes_.data(), links.bytes_.size());
    const std::string_view content = whole.substr(0, whole.size() - kCrcBytes);
    if (Bytes(whole.substr(content.size())).number<std::uint32_t>() != crc32c(0, content)) {
        return damaged("its checksum is wrong");
    }
    Bytes from(content);
    Result<Head> head = take_head(from);
    if (!head) {
        return head.error();
    }
    links.head_ = std::move(head->head);
    if (head->count > kLinksMax) {
        return damaged("it has more links than a ledger");
    }
    links.links_.reserve(head->count);
    links.slots_.resize(std::bit_ceil(head->count + std::size_t{head->count} / 3 + 1));
    for (std::uint32_t number = 0; number < head->count; ++number) {
        const std::optional<PublishedLink> link = take_link(from);
        if (!link || !links.insert(*link)) {
            return damaged("a link is not as it was written");
        }
    }
    return from.is_at_end() ? Result<PublishedLinks>(std::move(links))
                            : damaged("it goes on behind its last link");
}

}  // namespace sluice
