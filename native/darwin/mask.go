package darwin

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// mask replaces what names a person, a machine or a place: each value by a
// numbered one, and an equal one by the same, so that the ends of a cable still
// match.
type mask struct{ given map[string]string }

func newMask() *mask { return &mask{given: map[string]string{}} }

var (
	uuidText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`)
	})
	macText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}\b`) })
)

// nameKeys are keys whose texts are people's own words.
var nameKeys = []string{"ComputerName", "HostName", "LocalHostName", "UserDefinedName", "IOUserClientCreator", "node_guid", "UID", "SSID_STR"}

func (k *mask) number(kind, form, value string) string {
	key := kind + " " + strings.ToLower(value)
	if k.given[key] == "" {
		n := 0
		for other := range k.given {
			if strings.HasPrefix(other, kind+" ") {
				n++
			}
		}
		k.given[key] = fmt.Sprintf(form, n+1)
	}
	return k.given[key]
}

// value masks a property list below a key.
func (k *mask) value(key string, v any) any {
	if slices.Contains(nameKeys, key) && v != nil {
		return k.number("name", "name %d", fmt.Sprint(v))
	}
	switch v := v.(type) {
	case string:
		return k.text(v)
	case []byte:
		return v // of the few kinds of data that are read none names anything, but a GID's
	case []any:
		out := make([]any, len(v))
		for i := range v {
			if b, isData := v[i].([]byte); isData && key == "gids" && len(b) == 16 {
				out[i] = k.gid(b)
				continue
			}
			out[i] = k.value(key, v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[k.text(name)] = k.value(name, v[name])
		}
		return out
	}
	return v
}

func (k *mask) text(s string) string {
	s = uuidText().ReplaceAllStringFunc(s, func(u string) string { return k.number("uuid", "00000000-0000-0000-0000-%012d", u) })
	s = macText().ReplaceAllStringFunc(s, func(m string) string { return k.number("mac", "02:00:00:00:00:%02x", m) })
	if address, err := netip.ParseAddr(s); err == nil {
		return k.address(address).String()
	}
	return s
}

// address keeps what kind of address it is. Masks of networks look like addresses
// and are none.
func (k *mask) address(a netip.Addr) netip.Addr {
	switch {
	case a.Is4() && a.As4()[0] == 255, a.IsLoopback(), a.IsUnspecified():
		return a
	case a.Is4() && a.IsLinkLocalUnicast():
		return netip.MustParseAddr(k.number("link-local", "169.254.1.%d", a.String()))
	case a.Is4():
		return netip.MustParseAddr(k.number("address", "192.0.2.%d", a.String()))
	case a.Is4In6():
		return netip.AddrFrom16(k.address(a.Unmap()).As16())
	case a.IsLinkLocalUnicast():
		return netip.MustParseAddr(k.number("fe80", "fe80::%x", a.WithZone("").String()))
	}
	return netip.MustParseAddr(k.number("2001", "2001:db8::%x", a.WithZone("").String()))
}

func (k *mask) gid(b []byte) []byte {
	address := netip.AddrFrom16([16]byte(b))
	masked := k.address(address).As16()
	return masked[:]
}
