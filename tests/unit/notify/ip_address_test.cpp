#include "notify/ip_address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <string>
#include <vector>

namespace sluice::notify {
namespace {

IpAddress address(std::string_view text) {
    const auto parsed = IpAddress::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(IpAddress{});
}

std::string_view range(std::string_view text) {
    return refused_range(address(text));
}

TEST(RefusedRange, NamesTheFirstAndLastAddressOfEachBlockOfIpv4) {
    const struct {
        const char *first, *last, *name;
    } blocks[] = {
        {"0.0.0.0", "0.255.255.255", "this network"},
        {"10.0.0.0", "10.255.255.255", "private"},
        {"100.64.0.0", "100.127.255.255", "carrier-grade NAT"},
        {"127.0.0.0", "127.255.255.255", "loopback"},
        {"169.254.0.0", "169.254.255.255", "link-local"},
        {"172.16.0.0", "172.31.255.255", "private"},
        {"192.0.0.0", "192.0.0.255", "protocol assignments"},
        {"192.0.2.0", "192.0.2.255", "documentation"},
        {"192.88.99.0", "192.88.99.255", "6to4"},
        {"192.168.0.0", "192.168.255.255", "private"},
        {"198.18.0.0", "198.19.255.255", "benchmarks"},
        {"198.51.100.0", "198.51.100.255", "documentation"},
        {"203.0.113.0", "203.0.113.255", "documentation"},
        {"224.0.0.0", "239.255.255.255", "multicast"},
        {"240.0.0.0", "255.255.255.255", "reserved"},
    };
    for (const auto& block : blocks) {
        EXPECT_EQ(range(block.first), block.name) << block.first;
        EXPECT_EQ(range(block.last), block.name) << block.last;
    }
}

TEST(RefusedRange, AdmitsTheNeighboursOfTheBlocksOfIpv4) {
    for (const char* text :
         {"1.0.0.0",         "9.255.255.255",   "11.0.0.0",       "100.63.255.255",
          "100.128.0.0",     "126.255.255.255", "128.0.0.0",      "169.253.255.255",
          "169.255.0.0",     "172.15.255.255",  "172.32.0.0",     "191.255.255.255",
          "192.0.1.0",       "192.0.3.0",       "192.88.98.255",  "192.88.100.0",
          "192.167.255.255", "192.169.0.0",     "198.17.255.255", "198.20.0.0",
          "198.51.99.255",   "198.51.101.0",    "203.0.112.255",  "203.0.114.0",
          "223.255.255.255", "8.8.8.8"}) {
        EXPECT_EQ(range(text), "") << text;
    }
}

TEST(RefusedRange, NamesTheFirstAndLastAddressOfEachBlockOfIpv6) {
    const struct {
        const char *first, *last, *name;
    } blocks[] = {
        {"::", "::", "unspecified"},
        {"::1", "::1", "loopback"},
        {"::2", "::ffff:ffff", "IPv4-compatible"},
        {"::ffff:0.0.0.0", "::ffff:255.255.255.255", "IPv4-mapped"},
        {"::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255", "IPv4-translated"},
        {"64:ff9b::", "64:ff9b::ffff:ffff", "NAT64"},
        {"64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64"},
        {"100::", "100::ffff:ffff:ffff:ffff", "reserved"},
        {"2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"},
        {"2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocol assignments"},
        {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
        {"2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"},
        {"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
        {"4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
        {"fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"},
        {"fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
        {"fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},
        {"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"},
        {"ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},
        {"2a00::5efe:a00:1", "2a00::5efe:ffff:ffff", "ISATAP"},
        {"2a00::200:5efe:a00:1", "2a00::200:5efe:808:808", "ISATAP"},
    };
    for (const auto& block : blocks) {
        EXPECT_EQ(range(block.first), block.name) << block.first;
        EXPECT_EQ(range(block.last), block.name) << block.last;
    }
}

TEST(RefusedRange, AdmitsPublicAddressesOfIpv6) {
    for (const char* text : {"2000::", "2001:200::", "2001:db7:ffff::", "2001:db9::", "2003::1",
                             "2606:4700::1111", "2a00:1450::8", "3ffe:ffff::", "3fff:1000::",
                             "2a00::100:5efe:a00:1", "2a00::1:5efe:a00:1"}) {
        EXPECT_EQ(range(text), "") << text;
    }
}

TEST(IpAddress, RefusesOtherForms) {
    for (const std::string_view text :
         {"", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "1.2.3.4 ", "1.2.3.4.5", "[::1]",
          "fe80::1%eth0", ":::", "1.2.3.256", "localhost"}) {
        EXPECT_FALSE(IpAddress::parse(text)) << text;
    }
    EXPECT_FALSE(IpAddress::parse(std::string_view("8.8.8.8\0x", 9)));
}

TEST(IpAddress, IsReadFromAnAddressOfASocket) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    ASSERT_EQ(::inet_pton(AF_INET, "192.168.3.4", &v4.sin_addr), 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&v4);
    EXPECT_EQ(IpAddress::of(generic, sizeof(v4)), address("192.168.3.4"));
    EXPECT_FALSE(IpAddress::of(generic, sizeof(v4) - 1));

    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    ASSERT_EQ(::inet_pton(AF_INET6, "::ffff:10.0.0.1", &v6.sin6_addr), 1);
    generic = reinterpret_cast<const sockaddr*>(&v6);
    EXPECT_EQ(IpAddress::of(generic, sizeof(v6)), address("::ffff:10.0.0.1"));
    EXPECT_FALSE(IpAddress::of(generic, sizeof(v6) - 1));

    v6.sin6_family = AF_UNIX;
    EXPECT_FALSE(IpAddress::of(generic, sizeof(v6)));
}

TEST(Cidr, ContainsItsBlockOnly) {
    const auto block = Cidr::parse("10.16.0.0/12");
    ASSERT_TRUE(block.ok());
    EXPECT_EQ(block->text(), "10.16.0.0/12");
    EXPECT_TRUE(block->contains(address("10.16.0.0")));
    EXPECT_TRUE(block->contains(address("10.31.255.255")));
    EXPECT_FALSE(block->contains(address("10.15.255.255")));
    EXPECT_FALSE(block->contains(address("10.32.0.0")));
    EXPECT_FALSE(block->contains(address("::ffff:10.16.0.1")));

    const auto host = Cidr::parse("fd00::1/128");
    ASSERT_TRUE(host.ok());
    EXPECT_TRUE(host->contains(address("fd00::1")));
    EXPECT_FALSE(host->contains(address("fd00::2")));
    EXPECT_TRUE(Cidr::parse("fc00::/7").ok());
    EXPECT_TRUE(Cidr::parse("10.0.0.0/8").ok());
}

TEST(Cidr, RefusesTextsThatAreNoBlock) {
    for (const char* text : {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8x", "/8",
                             "10.0.0.0/-8", "10.0.0.1/8", "0.0.0.0/0", "10.0.0.0/7", "::/0",
                             "fc00::/6", "fd00::/129", "fd00::1/64", "name/8"}) {
        EXPECT_FALSE(Cidr::parse(text).ok()) << text;
    }
}

TEST(AddressJudge, AdmitsPrivateAddressesAndHttpWithinAnAllowedBlockOnly) {
    const AddressJudge closed({});
    EXPECT_FALSE(closed.allows_any());
    EXPECT_TRUE(closed.admits(address("8.8.8.8"), true));
    EXPECT_FALSE(closed.admits(address("8.8.8.8"), false));
    EXPECT_FALSE(closed.admits(address("10.1.2.3"), true));

    const AddressJudge open({*Cidr::parse("10.1.0.0/16"), *Cidr::parse("fd00::/64")});
    EXPECT_TRUE(open.allows_any());
    EXPECT_TRUE(open.admits(address("10.1.2.3"), true));
    EXPECT_TRUE(open.admits(address("10.1.2.3"), false));
    EXPECT_TRUE(open.admits(address("fd00::7"), false));
    EXPECT_FALSE(open.admits(address("10.2.0.0"), true));
    EXPECT_FALSE(open.admits(address("::ffff:10.1.2.3"), true));
    EXPECT_TRUE(open.admits(address("8.8.8.8"), true));
    EXPECT_FALSE(open.admits(address("8.8.8.8"), false));
}

}  // namespace
}  // namespace sluice::notify
