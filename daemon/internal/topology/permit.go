package topology

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
)

// Permitted are the interfaces and networks that unencrypted traffic may use besides
// Thunderbolt.
type Permitted struct {
	interfaces []string
	prefixes   []netip.Prefix
}

// Permit takes those that a person names, such as en0 and 10.0.0.0/24, beside those that the
// configuration trusts.
func Permit(names []string, trusted []netip.Prefix) Permitted {
	p := Permitted{prefixes: slices.Clone(trusted)}
	for _, n := range names {
		if prefix, err := netip.ParsePrefix(n); err == nil {
			p.prefixes = append(p.prefixes, prefix.Masked())
		} else {
			p.interfaces = append(p.interfaces, n)
		}
	}
	return p
}

// Has reports whether an interface or an address of either end is among them.
func (p Permitted) Has(interfaces [2]string, addresses [2]netip.Addr) bool {
	for end, name := range interfaces {
		isOf := func(n netip.Prefix) bool { return n.Contains(addresses[end].Unmap().WithZone("")) }
		if name != "" && slices.Contains(p.interfaces, name) || slices.ContainsFunc(p.prefixes, isOf) {
			return true
		}
	}
	return false
}

// mostNetworks are how many can be named, and mostNetworkBytes how long a name may be.
const (
	mostNetworks     = 32
	mostNetworkBytes = 128
)

// CheckNetworks refuses names of networks that can be none.
func CheckNetworks(field string, names []string) error {
	bad := func(remedy, format string, args ...any) error {
		return api.Errorf(api.ReasonBadValue, field, "%s: "+format, append([]any{field}, args...)...).WithRemedy(remedy)
	}
	if len(names) > mostNetworks {
		return bad("Name fewer.", "%d networks; at most %d are taken", len(names), mostNetworks)
	}
	for _, n := range names {
		switch {
		case n == "":
			return bad("Name interfaces or networks.", "one is empty")
		case len(n) > mostNetworkBytes:
			return bad("Use a shorter one.", "%d bytes; at most %d are taken", len(n), mostNetworkBytes)
		case !utf8.ValidString(n) || strings.ContainsFunc(n, unicode.IsControl):
			return bad("Use printable characters.", "it holds characters that cannot be shown")
		}
	}
	return nil
}
