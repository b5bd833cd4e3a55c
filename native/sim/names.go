package sim

import (
	"crypto/sha256"
	"net"
	"net/netip"
	"strings"
)

// digest makes bytes that are always the same for the same words, for the
// identifiers that a machine has and a scenario need not spell out.
func digest(words ...string) [32]byte {
	return sha256.Sum256([]byte(strings.Join(words, "\x00")))
}

// hardwareAddress makes a unicast MAC address of the locally administered range.
func hardwareAddress(words ...string) net.HardwareAddr {
	sum := digest(words...)
	sum[0] = sum[0]&^1 | 2
	return net.HardwareAddr(sum[:6])
}

// eui64 is the link-local address that follows from a MAC address (RFC 4291,
// appendix A).
func eui64(mac net.HardwareAddr) netip.Addr {
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]})
}

// selfAssigned makes an IPv4 address of the range of RFC 3927 without its
// reserved ends.
func selfAssigned(words ...string) netip.Addr {
	sum := digest(words...)
	return netip.AddrFrom4([4]byte{169, 254, 1 + sum[0]%254, sum[1]})
}
