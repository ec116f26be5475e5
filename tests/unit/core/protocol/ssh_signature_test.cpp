#include "core/protocol/ssh_signature.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <string>
#include <string_view>

namespace sluice {
namespace {

// Keys and signatures of OpenSSH 9.2: `ssh-keygen -Y sign -n sluice-approval`.
constexpr std::string_view kMessage = "what gina saw\n";
constexpr std::string_view kNamespace = "sluice-approval";
constexpr std::string_view kEdKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINY3g3NdOHJLy+cZSJNQoqCj/NgB82HzD/HcujFkytbB";
constexpr std::string_view kEcKey =
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBAXOLMrgUYAl8tmgTGZA"
    "XC4pYcEyH7Tc0vb57w1UZaQUN9oVLGkdvwLA+Oi4wFTMay8pq5s7PFwcVJ2QXMw4vsY=";
constexpr std::string_view kEdSignature =
    "-----BEGIN SSH SIGNATURE-----\n"
    "U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg1jeDc104ckvL5xlIk1CioKP82A\n"
    "HzYfMP8dy6MWTK1sEAAAAPc2x1aWNlLWFwcHJvdmFsAAAAAAAAAAZzaGE1MTIAAABTAAAA\n"
    "C3NzaC1lZDI1NTE5AAAAQJ2bJ+Ys+I91sA+MTpHKagCTg96dfW18nNIHj+F13l9aCHPCCo\n"
    "I3lnGqcPFdGo+w3B+CsVYJIt9U4mCcsgJE+QE=\n"
    "-----END SSH SIGNATURE-----\n";
constexpr std::string_view kEcSignature =
    "-----BEGIN SSH SIGNATURE-----\n"
    "U1NIU0lHAAAAAQAAAGgAAAATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAAhuaXN0cDI1NgAAAE\n"
    "EEBc4syuBRgCXy2aBMZkBcLilhwTIftNzS9vnvDVRlpBQ32hUsaR2/AsD46LjAVMxrLymr\n"
    "mzs8XBxUnZBczDi+xgAAAA9zbHVpY2UtYXBwcm92YWwAAAAAAAAABnNoYTUxMgAAAGQAAA\n"
    "ATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAEkAAAAhAOn9T+IXd4wsUk+WVi4d7Onxpoh+ALEN\n"
    "b/8Xm0ZWdKD7AAAAID9FKCrGKHQdNLi3C8Rd6b0mxvDrhjlMmXQbxTWqBl09\n"
    "-----END SSH SIGNATURE-----\n";

constexpr std::string_view kBegin = "-----BEGIN SSH SIGNATURE-----\n";
constexpr std::string_view kEnd = "\n-----END SSH SIGNATURE-----\n";

std::string base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string armored(std::string_view bytes) {
    return std::string(kBegin) + base64(bytes) + std::string(kEnd);
}

std::string packed(std::string_view bytes) {
    return std::string(3, '\0') + static_cast<char>(bytes.size()) + std::string(bytes);
}

std::string bytes_of_base64(std::string_view text, std::size_t size) {
    std::string bytes(text.size() / 4 * 3, '\0');
    EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                    reinterpret_cast<const unsigned char*>(text.data()),
                    static_cast<int>(text.size()));
    bytes.resize(size);
    return bytes;
}

/// The fields of a signature, from which a test builds a file with one of them changed.
struct Fields {
    std::string magic = "SSHSIG";
    std::string version{"\0\0\0\1", 4};
    std::string key, name_space{kNamespace}, reserved, hash = "sha512", type, value;
    std::string behind_value, behind;

    [[nodiscard]] std::string file() const {
        return armored(magic + version + packed(key) + packed(name_space) + packed(reserved) +
                       packed(hash) + packed(packed(type) + packed(value) + behind_value) + behind);
    }
};

Fields ed_fields() {
    Fields fields;
    fields.type = "ssh-ed25519";
    fields.key =
        bytes_of_base64("AAAAC3NzaC1lZDI1NTE5AAAAINY3g3NdOHJLy+cZSJNQoqCj/NgB82HzD/HcujFkytbB", 51);
    fields.value = bytes_of_base64(
        "nZsn5iz4j3WwD4xOkcpqAJOD3p19bXyc0geP4XXeX1oIc8IKgjeWcapw8V0aj7DcH4KxVgki31TiYJyyAkT5AQ==",
        64);
    return fields;
}

SshPublicKey key_of(std::string_view text) {
    return *SshPublicKey::parse(text);
}

std::string fault(std::string_view file, std::string_view key = kEdKey,
                  std::string_view message = kMessage, std::string_view name_space = kNamespace) {
    const Status right = verify_ssh_signature(file, name_space, message, key_of(key));
    return right.ok() ? "" : right.error().message;
}

constexpr std::string_view kCut =
    "the signature is cut or damaged: expected the file that `ssh-keygen -Y sign` wrote";
constexpr std::string_view kNotFor = "the signature is not for this statement";

TEST(SshSignature, K5_SignaturesOfSshKeygenAreValid) {
    EXPECT_EQ(fault(kEdSignature), "");
    EXPECT_EQ(fault(kEcSignature, kEcKey), "");
    EXPECT_EQ(fault(ed_fields().file()), "") << "the tests below change one field of it";
    EXPECT_EQ(*ssh_signer(kEdSignature), key_of(kEdKey).blob());
    EXPECT_EQ(*ssh_signer(kEcSignature), key_of(kEcKey).blob());
    std::string windows(kEdSignature);
    for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) {
        windows.insert(at, "\r");
    }
    EXPECT_EQ(fault(windows), "");
}

TEST(SshSignature, K5_AnotherKeyNamespaceOrStatementIsNamed) {
    EXPECT_EQ(fault(kEdSignature, kEcKey),
              "the signature is by another key, "
              "SHA256:k4m3I7CJaQ+T4WtEOlJse9hrWMWFd0dgOYAouz7bCu4; expected "
              "SHA256:5Cge0xtUi4w7YuF6D96gmlBgHJj87PGP7OG8Yr+p9Zk");
    EXPECT_EQ(fault(kEdSignature, kEdKey, kMessage, "git"),
              "the signature is for the namespace \"sluice-approval\"; sign with -n git");
    EXPECT_EQ(fault(kEdSignature, kEdKey, "what gina did not see\n"), kNotFor);
    EXPECT_EQ(fault(kEcSignature, kEcKey, "what gina did not see\n"), kNotFor);
    EXPECT_EQ(fault(kEdSignature, kEdKey, ""), kNotFor);
}

TEST(SshSignature, K5_AFileThatIsCutAnywhereIsRefused) {
    const std::string whole(kEdSignature.substr(0, kEdSignature.size() - 1));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(fault(whole.substr(0, size)), kCut) << size;
        EXPECT_FALSE(ssh_signer(whole.substr(0, size)).ok()) << size;
    }
}

TEST(SshSignature, K5_AByteThatChangesAnywhereIsRefused) {
    for (const auto& [signature, key] :
         {std::pair(kEdSignature, kEdKey), std::pair(kEcSignature, kEcKey)}) {
        for (std::size_t at = 0; at + 1 < signature.size(); ++at) {
            std::string changed(signature);
            changed[at] = changed[at] == 'A' ? 'B' : 'A';
            EXPECT_NE(fault(changed, key), "") << at;
        }
    }
}

TEST(SshSignature, K5_ArmorHasItsTwoLinesAndNothingElse) {
    const std::string body = base64("x");
    for (const std::string& file : {
             std::string("-----BEGIN SSH SIGNATURE-----END SSH SIGNATURE-----"),
             std::string("-----BEGIN SSH SIGNATURE----------END SSH SIGNATURE-----\n"),
             std::string(kBegin) + std::string(kEnd).substr(1),
             std::string(kEnd) + std::string(kBegin),
             std::string(kBegin) + body,
             body + std::string(kEnd),
             "text\n" + std::string(kEdSignature),
             std::string(kEdSignature) + "text\n",
             std::string(kEdSignature) + std::string(kEdSignature),
             std::string(kBegin).substr(0, kBegin.size() - 1) +
                 std::string(kEdSignature.substr(kBegin.size())),
         }) {
        EXPECT_EQ(fault(file), kCut) << file;
    }
}

TEST(SshSignature, K5_OtherBase64OfTheSameBytesIsRefused) {
    const std::string body(kEdSignature.substr(kBegin.size()));
    for (const auto& [from, to] :
         {std::pair("+QE=", "+QF="), std::pair("+QE=", "+Q=="), std::pair("+QE=", "+QE"),
          std::pair("U1NI", "U1=I"), std::pair("U1NI", "U1 I"), std::pair("U1NI", " U1NI"),
          std::pair("U1NI", "U1NI\t\t\t\t"), std::pair("+QE=", "+QE=AAAA"),
          std::pair("+QE=", "-QE=")}) {
        std::string changed = body;
        changed.replace(changed.find(from), std::string_view(from).size(), to);
        EXPECT_EQ(fault(std::string(kBegin) + changed), kCut) << to;
    }
}

TEST(SshSignature, K5_EachFieldThatIsMalformedIsRefused) {
    const auto with = [](auto change) {
        Fields fields = ed_fields();
        change(fields);
        return fault(fields.file());
    };
    EXPECT_EQ(with([](Fields& f) { f.magic = "SSHSIH"; }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.magic.clear(); }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.version[3] = 2; }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.behind = "x"; }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.behind_value = "x"; }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.hash = "sha384"; }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.hash.clear(); }), kCut);
    EXPECT_EQ(with([](Fields& f) { f.hash = "sha256"; }), kNotFor);
    EXPECT_EQ(with([](Fields& f) { f.reserved = "x"; }), kNotFor) << "it is signed";
    EXPECT_EQ(with([](Fields& f) { f.type = "ecdsa-sha2-nistp256"; }), kNotFor);
    EXPECT_EQ(with([](Fields& f) { f.type.clear(); }), kNotFor);
    EXPECT_EQ(with([](Fields& f) { f.value.pop_back(); }), kNotFor);
    EXPECT_EQ(with([](Fields& f) { f.value.push_back('\0'); }), kNotFor);
    EXPECT_EQ(with([](Fields& f) { f.value.clear(); }), kNotFor);
    EXPECT_NE(with([](Fields& f) { f.key.pop_back(); }).find("by another key"), std::string::npos);
    EXPECT_NE(with([](Fields& f) { f.name_space.clear(); }).find("namespace \"\""),
              std::string::npos);
}

TEST(SshSignature, K5_AStringThatIsLongerThanTheRestIsRefused) {
    const std::string head("SSHSIG\0\0\0\1", 10);
    EXPECT_EQ(fault(armored(head)), kCut);
    EXPECT_EQ(fault(armored(head + "\xff\xff\xff\xff")), kCut);
    EXPECT_EQ(fault(armored(head + std::string("\0\0\0\5", 4) + "abc")), kCut);
    EXPECT_EQ(fault(armored(head + std::string("\0\0", 2))), kCut);
}

TEST(SshSignature, K5_NumbersOfEcdsaArePositive) {
    Fields fields;
    fields.key = key_of(kEcKey).blob();
    fields.type = "ecdsa-sha2-nistp256";
    const std::string number(32, '\x7f');
    for (const std::string& value :
         {std::string(), packed(number), packed(number) + packed(number) + "x",
          packed("\x80" + number) + packed(number), packed(number) + packed("\xff" + number),
          packed("") + packed(""), packed(number) + packed(number)}) {
        fields.value = value;
        EXPECT_EQ(fault(fields.file(), kEcKey), kNotFor);
    }
    fields.type = "ssh-ed25519";
    EXPECT_EQ(fault(fields.file(), kEcKey), kNotFor);
}

TEST(SshPublicKey, K5_TextAndFingerprintMatchSshKeygen) {
    const auto key = SshPublicKey::parse(std::string(kEdKey) + " gina@laptop of hers");
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(key->text(), kEdKey);
    EXPECT_EQ(key->fingerprint(), "SHA256:k4m3I7CJaQ+T4WtEOlJse9hrWMWFd0dgOYAouz7bCu4");
    EXPECT_EQ(key_of(kEcKey).fingerprint(), "SHA256:5Cge0xtUi4w7YuF6D96gmlBgHJj87PGP7OG8Yr+p9Zk");
}

TEST(SshPublicKey, K5_OtherTypesAreNamedAndCutKeysRefused) {
    const auto error = [](const std::string& text) {
        const auto key = SshPublicKey::parse(text);
        return key.ok() ? "" : key.error().message;
    };
    constexpr std::string_view kType = "expected a key of type ssh-ed25519 or ecdsa-sha2-nistp256";
    constexpr std::string_view kKeyCut = "the public key is cut or damaged";
    EXPECT_EQ(error(""), kType);
    EXPECT_EQ(error("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ=="), kType);
    EXPECT_EQ(error("sk-ssh-ed25519@openssh.com AAAA"), kType);
    for (const std::string_view whole : {kEdKey, kEcKey}) {
        const std::size_t begin = whole.find(' ');
        for (std::size_t size = begin; size < whole.size(); ++size) {
            EXPECT_EQ(error(std::string(whole.substr(0, size))), kKeyCut) << size;
        }
    }
    // The type in front is that of the bytes, and nothing follows them.
    EXPECT_EQ(error("ssh-ed25519 " + std::string(kEcKey.substr(kEcKey.find(' ') + 1))), kKeyCut);
    EXPECT_EQ(error("ssh-ed25519 " + base64(key_of(kEdKey).blob() + "xyz")), kKeyCut);
    const std::string curve = packed("ecdsa-sha2-nistp256") + packed("nistp384");
    EXPECT_EQ(error("ecdsa-sha2-nistp256 " + base64(curve + packed(std::string(65, '\4')))),
              kKeyCut);
    const std::string point = packed("ecdsa-sha2-nistp256") + packed("nistp256");
    EXPECT_EQ(error("ecdsa-sha2-nistp256 " + base64(point + packed(std::string(65, '\4')))),
              kKeyCut)
        << "that point is not on the curve";
}

}  // namespace
}  // namespace sluice
