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

// mdns is what is announced and searched on which interfaces, and what is to be
// sent when (RFC 6762). It does no I/O, takes the time as a parameter, and does
// at [mdns.step] all that is due.
//
// It leaves out what nobody needs here: names are random and so are not probed
// for, questions from other ports than 5353 are not answered, and answers go to
// all, as the standard always allows.
type mdns struct {
	random    func() float64 // from 0 up to 1
	links     map[string]mdnsLink
	published []*mdnsPublished
	searches  []*mdnsSearch
}

// mdnsLink is an interface that can multicast, with the addresses to announce.
type mdnsLink struct {
	name      string
	index     int
	addresses []netip.Addr // in order, without zones
}

func (l mdnsLink) equal(other mdnsLink) bool {
	return l.index == other.index && slices.Equal(l.addresses, other.addresses)
}

// mdnsPublished is one announcement.
type mdnsPublished struct {
	native.Announcement
	name string // full, lower case
	on   map[string]*turns
}

// turns is when an announcement is said on one interface.
type turns struct {
	due  []time.Duration // in order
	last time.Duration
}

// mdnsSearch is one search.
type mdnsSearch struct {
	serviceType string
	interfaces  []string // none: all
	found       func(native.Sighting)
	listeners   map[string]*mdnsListener
}

// outgoing is a message for all on an interface.
type outgoing struct {
	iface   string
	message []byte
}

// scatter is a random time below d.
func (m *mdns) scatter(d time.Duration) time.Duration {
	return time.Duration(m.random() * float64(d))
}

// soon is when a question or a shared answer goes out: after 20 to 120 ms, so
// that not all speak at once (RFC 6762, 5.2 and 6).
func (m *mdns) soon(now time.Duration) time.Duration {
	return now + 20*time.Millisecond + m.scatter(100*time.Millisecond)
}

// setLinks replaces the interfaces. What was heard on one that went, or is
// another one of the same name, is gone.
func (m *mdns) setLinks(now time.Duration, links map[string]mdnsLink) {
	old := m.links
	m.links = links
	for name, was := range old {
		if is, still := links[name]; still && is.index == was.index {
			continue
		}
		for _, p := range m.published {
			delete(p.on, name)
		}
		for _, s := range m.searches {
			if e := s.listeners[name]; e != nil {
				e.end(s.found)
				delete(s.listeners, name)
			}
		}
	}
	for name, is := range links {
		for _, p := range m.published {
			if was, known := old[name]; !known || !was.equal(is) {
				m.announceOn(now, p, name)
			}
		}
	}
	for _, s := range m.searches {
		m.searchAll(now, s)
	}
}

// announce begins to publish.
func (m *mdns) announce(now time.Duration, a native.Announcement) *mdnsPublished {
	p := &mdnsPublished{Announcement: a, name: strings.ToLower(mdnsName(a.Instance, mdnsType(a.Type))), on: map[string]*turns{}}
	m.published = append(m.published, p)
	for name := range m.links {
		m.announceOn(now, p, name)
	}
	return p
}

// announceOn says the announcement three times, further and further apart.
func (m *mdns) announceOn(now time.Duration, p *mdnsPublished, name string) {
	if !slices.Contains(p.Interfaces, name) {
		return
	}
	first := now + m.scatter(20*time.Millisecond)
	p.on[name] = &turns{due: []time.Duration{first, first + time.Second, first + 3*time.Second}}
}

// withdraw ends a publication and returns its good-byes.
func (m *mdns) withdraw(p *mdnsPublished) []outgoing {
	m.published = slices.DeleteFunc(m.published, func(other *mdnsPublished) bool { return other == p })
	var all []outgoing
	for name := range p.on {
		all = m.report(all, p, name, 0)
	}
	return all
}

func (m *mdns) report(all []outgoing, p *mdnsPublished, name string, lifetime time.Duration) []outgoing {
	message, err := mdnsResponse(mdnsRecords(p.Announcement, m.links[name].addresses, lifetime))
	if err != nil { // refused when it was announced
		return all
	}
	return append(all, outgoing{name, message})
}

// search begins to look for instances.
func (m *mdns) search(now time.Duration, serviceType string, interfaces []string, found func(native.Sighting)) *mdnsSearch {
	s := &mdnsSearch{serviceType: serviceType, interfaces: interfaces, found: found, listeners: map[string]*mdnsListener{}}
	m.searches = append(m.searches, s)
	m.searchAll(now, s)
	return s
}

func (m *mdns) searchAll(now time.Duration, s *mdnsSearch) {
	for name := range m.links {
		if s.listeners[name] == nil && (len(s.interfaces) == 0 || slices.Contains(s.interfaces, name)) {
			s.listeners[name] = newListener(name, s.serviceType, m.soon(now))
		}
	}
}

func (m *mdns) endSearch(s *mdnsSearch) {
	m.searches = slices.DeleteFunc(m.searches, func(other *mdnsSearch) bool { return other == s })
}

// isOwn reports whether an instance is announced here.
func (m *mdns) isOwn(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(m.published, func(p *mdnsPublished) bool { return p.name == name })
}

// receive takes a message that came by an interface. Whatever is malformed is
// dropped.
func (m *mdns) receive(now time.Duration, iface string, packet []byte) {
	var message dns.Msg
	if message.Unpack(packet) != nil || message.Opcode != dns.OpcodeQuery || message.Rcode != dns.RcodeSuccess {
		return
	}
	if !message.Response {
		for _, p := range m.published {
			if t := p.on[iface]; t != nil && p.isAsked(message) {
				t.answer(m.soon(now))
			}
		}
		return
	}
	records := slices.Concat(message.Answer, message.Extra)
	for _, s := range m.searches {
		if e := s.listeners[iface]; e != nil {
			e.receive(now, records, m.isOwn, m.random)
		}
	}
}

// answer adds a turn, but none within a second of the last (RFC 6762, 6), which
// also bounds what questions without end can make this side send.
func (t *turns) answer(at time.Duration) {
	if t.last > 0 {
		at = max(at, t.last+time.Second)
	}
	if len(t.due) == 0 || at < t.due[0] {
		t.due = slices.Insert(t.due, 0, at)
	}
}

// isAsked reports whether a question is about the announcement, and the answer
// is not known to who asks.
func (p *mdnsPublished) isAsked(message dns.Msg) bool {
	for _, q := range message.Question {
		all := q.Qtype == dns.TypeANY
		switch {
		case q.Qclass&^mdnsCacheFlush != dns.ClassINET && q.Qclass&^mdnsCacheFlush != dns.ClassANY:
		case strings.EqualFold(q.Name, mdnsType(p.Type)):
			if (all || q.Qtype == dns.TypePTR) && !p.isKnown(message.Answer) {
				return true
			}
		case strings.EqualFold(q.Name, p.name):
			if all || q.Qtype == dns.TypeSRV || q.Qtype == dns.TypeTXT {
				return true
			}
		case strings.EqualFold(q.Name, mdnsHost(p.Announcement)):
			if all || q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA {
				return true
			}
		}
	}
	return false
}

func (p *mdnsPublished) isKnown(known []dns.RR) bool {
	return slices.ContainsFunc(known, func(record dns.RR) bool {
		r, ok := record.(*dns.PTR)
		return ok && strings.EqualFold(r.Ptr, p.name) && time.Duration(r.Hdr.Ttl)*time.Second >= mdnsLifetime/2
	})
}

// step does what is due and returns what is to be sent, and when to come again;
// 0 = not before something happens.
func (m *mdns) step(now time.Duration) (out []outgoing, next time.Duration) {
	at := func(t time.Duration) {
		if next == 0 || t < next {
			next = t
		}
	}
	for _, p := range m.published {
		for name, t := range p.on {
			if len(t.due) > 0 && t.due[0] <= now {
				t.due = slices.DeleteFunc(t.due, func(d time.Duration) bool { return d <= now })
				t.last = now
				out = m.report(out, p, name, mdnsLifetime)
			}
			if len(t.due) > 0 {
				at(t.due[0])
			}
		}
	}
	for _, s := range m.searches {
		for name, e := range s.listeners {
			if !e.received && now < e.next {
				at(e.next)
				continue
			}
			e.forget(now, s.found)
			if questions, known := e.questions(now); len(questions) > 0 {
				if message, err := mdnsQuery(questions, known); err == nil {
					out = append(out, outgoing{name, message})
				}
			}
			e.received, e.next = false, e.due()
			at(e.next)
		}
	}
	return out, next
}

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
func mdnsLabel(name string) string { return unescapeDNS(dns.SplitDomainName(name)[0]) }

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
