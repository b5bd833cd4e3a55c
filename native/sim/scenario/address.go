package scenario

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
)

// ParseAddress reads an interface's address: a prefix, and how it came there
// ("192.168.1.11/24 dhcp"). The origin may be left out: link_local for the
// link-local ranges, which a system assigns itself, otherwise manual.
func ParseAddress(text string) (native.InterfaceAddress, error) {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 {
		return native.InterfaceAddress{}, addressError(text, "it must have one or two words")
	}
	prefix, err := netip.ParsePrefix(words[0])
	if err != nil {
		return native.InterfaceAddress{}, addressError(text, fmt.Sprintf("%.60q is not an address with a prefix length", words[0]))
	}
	address := prefix.Addr()
	if address.IsUnspecified() || address.IsMulticast() || address.Is4In6() {
		return native.InterfaceAddress{}, addressError(text, fmt.Sprintf("no interface can have %s", address))
	}
	origin := native.OriginManual
	if address.IsLinkLocalUnicast() {
		origin = native.OriginLinkLocal
	}
	if len(words) == 2 {
		origin = native.AddressOrigin(words[1])
		if !slices.Contains(addressOrigins(), origin) {
			return native.InterfaceAddress{}, addressError(text,
				fmt.Sprintf("origin %.40q is not one of %v", words[1], addressOrigins()))
		}
	}
	return native.InterfaceAddress{Address: prefix, Origin: origin}, nil
}

func addressError(text, why string) error {
	return fmt.Errorf("address %.80q: %s; write it like \"192.168.1.11/24 dhcp\"", text, why)
}

func addressOrigins() []native.AddressOrigin {
	return []native.AddressOrigin{native.OriginManual, native.OriginDHCP, native.OriginLinkLocal,
		native.OriginAutomatic, native.OriginUnknown}
}

// MakeUUID derives a UUID from names, the same at every start, so that nothing
// about a simulated Mac depends on when it was simulated. It carries the version
// for such own schemes (8 of RFC 9562), which no Mac uses.
func MakeUUID(names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	b := sum[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%X-%X-%X-%X-%X", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
