package linux

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"fulmen/native"
)

// The numbers of multicast DNS. RFC 6762 recommends 120 s for what names a host
// and 75 minutes for the rest; one lifetime in between lets a single answer
// refresh everything, and a machine that died in silence be gone in minutes.
const (
	mdnsPort = 5353
	// mdnsLifetime is how long others may keep what is announced here.
	mdnsLifetime = 10 * time.Minute
	// mostLifetime is how long anything heard is kept without being heard again.
	mostLifetime = 75 * time.Minute
	// mdnsCacheFlush marks a record of which there is one owner, and in a
	// question the wish for a direct answer (RFC 6762, 10.2 and 5.4).
	mdnsCacheFlush = 1 << 15
	// mdnsBytes is the largest message that is sent or read.
	mdnsBytes = 9000
	// mostTXTBytes is the largest TXT record that is kept.
	mostTXTBytes = 1300
)

// mdnsType is the full name of a service type.
func mdnsType(serviceType string) string { return serviceType + ".local." }

// mdnsName is a full name whose first label may hold any byte: what has a
// meaning in a name is escaped, as package dns decodes it.
func mdnsName(label, rest string) string {
	var escaped strings.Builder
	for _, b := range []byte(label) {
		switch {
		case strings.IndexByte(`.\ '@;()"`, b) >= 0:
			escaped.Write([]byte{'\\', b})
		case b < ' ' || b > '~':
			escaped.Write([]byte{'\\', '0' + b/100, '0' + b/10%10, '0' + b%10})
		default:
			escaped.WriteByte(b)
		}
	}
	return escaped.String() + "." + rest
}

// mdnsLabel is the first label of a full name, as it was before it was escaped.
func mdnsLabel(name string) string {
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case '.':
			return unescapeDNS(name[:i])
		}
	}
	return unescapeDNS(name)
}

// unescapeDNS undoes what package dns does to bytes that have a meaning or are
// not printable.
func unescapeDNS(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			plain = append(plain, text[i])
			continue
		}
		if i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 10, 8); err == nil {
				plain = append(plain, byte(n))
				i += 3
				continue
			}
		}
		i++
		plain = append(plain, text[i])
	}
	return string(plain)
}

// mdnsRecords is all that is said of an announcement on one interface, the
// pointer to it first. With no lifetime it is a good-bye.
func mdnsRecords(a native.Announcement, addresses []netip.Addr, lifetime time.Duration) []dns.RR {
	instance, host := mdnsName(a.Instance, mdnsType(a.Type)), mdnsHost(a)
	header := func(name string, rrtype, class uint16) dns.RR_Header {
		return dns.RR_Header{Name: name, Rrtype: rrtype, Class: class, Ttl: uint32(lifetime / time.Second)}
	}
	const single = dns.ClassINET | mdnsCacheFlush
	var text []string
	for _, key := range slices.Sorted(maps.Keys(a.TXT)) {
		text = append(text, strings.ReplaceAll(key+"="+a.TXT[key], `\`, `\\`))
	}
	if len(text) == 0 {
		text = []string{""} // at least one string (RFC 6763, 6.1)
	}
	records := []dns.RR{
		&dns.PTR{Hdr: header(mdnsType(a.Type), dns.TypePTR, dns.ClassINET), Ptr: instance},
		&dns.SRV{Hdr: header(instance, dns.TypeSRV, single), Port: uint16(a.Port), Target: host},
		&dns.TXT{Hdr: header(instance, dns.TypeTXT, single), Txt: text},
	}
	for _, address := range addresses {
		if address.Is4() {
			records = append(records, &dns.A{Hdr: header(host, dns.TypeA, single), A: address.AsSlice()})
		} else {
			records = append(records, &dns.AAAA{Hdr: header(host, dns.TypeAAAA, single), AAAA: address.AsSlice()})
		}
	}
	return records
}

// mdnsHost is the host name of an announcement. It is made of the instance's
// name, so that the machine's own tells nothing, and whoever else answers for
// that one here is not contradicted.
func mdnsHost(a native.Announcement) string { return mdnsName(a.Instance, "local.") }

// mdnsResponse packs an answer that nobody need have asked for.
func mdnsResponse(records []dns.RR) ([]byte, error) {
	m := dns.Msg{Answer: records, Compress: true}
	m.Response, m.Authoritative = true, true
	return m.Pack()
}

// mdnsQuery packs questions with the answers that are known already.
func mdnsQuery(questions []dns.Question, known []dns.RR) ([]byte, error) {
	m := dns.Msg{Question: questions, Answer: known, Compress: true}
	return m.Pack()
}

// parseTXT reads the pairs of a TXT record: the first of a key counts, and a
// string without "=" is a key without a value (RFC 6763, 6.4). It is false where
// the record is too large.
func parseTXT(texts []string) (map[string]string, bool) {
	size, pairs := 0, map[string]string{}
	for _, text := range texts {
		if size += len(text); size > mostTXTBytes {
			return nil, false
		}
		key, value, _ := strings.Cut(unescapeDNS(text), "=")
		if _, twice := pairs[key]; key != "" && !twice {
			pairs[key] = value
		}
	}
	return pairs, true
}

// mdnsAddress is the address of a record, as it can be dialled by an interface.
func mdnsAddress(raw []byte, iface string) (netip.Addr, bool) {
	address, ok := netip.AddrFromSlice(raw)
	address = address.Unmap()
	if !ok || address.IsUnspecified() || address.IsMulticast() || address.IsLoopback() {
		return netip.Addr{}, false
	}
	if address.Is6() && address.IsLinkLocalUnicast() {
		address = address.WithZone(iface)
	}
	return address, true
}
