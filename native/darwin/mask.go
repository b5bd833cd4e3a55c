package darwin

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// mask replaces what names a person, a machine or a place: each value by a
// numbered one, and an equal one by the same. Domains, which are random, become
// others that are the same in every recording, so that the ends of a cable still match.
type mask struct {
	given    map[string]string
	replaced []Replaced
}

// Replaced is a value that a recording has another in place of.
type Replaced struct {
	// Kind is what it names, such as a name or an address; Was and Is are the two.
	Kind, Was, Is string
}

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
		k.give(kind, value, fmt.Sprintf(form, n+1))
	}
	return k.given[key]
}

func (k *mask) give(kind, value, other string) string {
	key := kind + " " + strings.ToLower(value)
	if k.given[key] == "" {
		k.given[key] = other
		k.replaced = append(k.replaced, Replaced{kind, value, other})
	}
	return k.given[key]
}

// domain is another UUID for one.
func (k *mask) domain(uuid string) string {
	sum := sha256.Sum256([]byte("fulmen recording " + strings.ToUpper(uuid)))
	sum[6], sum[8] = sum[6]&0x0F|0x80, sum[8]&0x3F|0x80 // version 8: made in a way of its own
	return k.give("identifier", uuid, strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])))
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
	s = uuidText().ReplaceAllStringFunc(s, k.domain)
	s = macText().ReplaceAllStringFunc(s, func(m string) string { return k.number("hardware address", "02:00:00:00:00:%02x", m) })
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
		return netip.MustParseAddr(k.number("link-local address", "169.254.1.%d", a.String()))
	case a.Is4():
		return netip.MustParseAddr(k.number("address", "192.0.2.%d", a.String()))
	case a.Is4In6():
		return netip.AddrFrom16(k.address(a.Unmap()).As16())
	case a.IsLinkLocalUnicast():
		return netip.MustParseAddr(k.number("link-local IPv6 address", "fe80::%x", a.WithZone("").String()))
	}
	return netip.MustParseAddr(k.number("IPv6 address", "2001:db8::%x", a.WithZone("").String()))
}

func (k *mask) gid(b []byte) []byte {
	address := netip.AddrFrom16([16]byte(b))
	masked := k.address(address).As16()
	return masked[:]
}
