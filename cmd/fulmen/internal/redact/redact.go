package redact

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// The sorts of what is taken out, as they are counted and replaced.
const (
	// MAC is an address of network hardware.
	MAC = "mac"
	// Serial is a serial number or another id of hardware.
	Serial = "serial"
	// Network is the name of a network.
	Network = "network"
	// User is the name of an account.
	User = "user"
	// Host is the name of a computer.
	Host = "host"
)

// shortest is the length from which on a name is looked for in texts. A shorter
// one would be found inside words everywhere; in the fields that hold it, it is
// taken out all the same.
const shortest = 2

// Redactor takes things out of texts and counts what it took.
type Redactor struct {
	names map[string]string // sort by what to take out, in lower case
	given map[string]string // replacement by sort and what was there
	count map[string]int
	order []string // names, the longest first
}

// New makes a redactor that knows nothing yet but what addresses and home
// folders look like.
func New() *Redactor {
	return &Redactor{names: map[string]string{}, given: map[string]string{}, count: map[string]int{}}
}

// Add names something that is taken out wherever it stands as a word, in
// capitals or not.
func (r *Redactor) Add(sort, name string) {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) < shortest || ordinary[name] || r.names[name] != "" {
		return
	}
	r.names[name] = sort
	r.order = append(r.order, name)
	slices.SortFunc(r.order, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
}

// ordinary are names that say nothing about anybody, and that texts are full of.
var ordinary = map[string]bool{"root": true, "localhost": true, "fulmen": true, "unknown": true, "none": true}

// Counts says how many things of each sort were taken out.
func (r *Redactor) Counts() map[string]int { return r.count }

// hardware finds addresses of network hardware, with colons or dashes.
var hardware = regexp.MustCompile(`(?i)\b[0-9a-f]{2}([:-])[0-9a-f]{2}(?:[:-][0-9a-f]{2}){4}(?:[:-][0-9a-f]{2}){0,2}\b`)

// address finds what may be an IPv6 address.
var address = regexp.MustCompile(`(?i)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}`)

// folder finds home folders.
var folder = regexp.MustCompile(`(/(?:home|Users)/)([^/\s"':,\\]+)`)

// principal finds user@node.
var principal = regexp.MustCompile(`([^\s"'@<>/:,=]+)(@[0-9a-hjkmnp-tv-z]{16}\b)`)

// Text takes out of a text what is known and what looks like it.
func (r *Redactor) Text(s string) string {
	s = folder.ReplaceAllStringFunc(s, func(m string) string {
		parts := folder.FindStringSubmatch(m)
		if ordinary[parts[2]] || strings.HasPrefix(parts[2], "<") {
			return m
		}
		return parts[1] + r.replace(User, parts[2])
	})
	s = principal.ReplaceAllStringFunc(s, func(m string) string {
		user, node, _ := strings.Cut(m, "@")
		return r.replace(User, user) + "@" + node
	})
	s = hardware.ReplaceAllStringFunc(s, func(m string) string { return r.replace(MAC, m) })
	s = address.ReplaceAllStringFunc(s, r.eui64)
	for _, name := range r.order {
		s = r.word(s, name)
	}
	return s
}

// eui64 takes out the half of an IPv6 address that was made from the address of
// its network hardware (RFC 4291, appendix A: ff:fe in its middle).
func (r *Redactor) eui64(m string) string {
	a, err := netip.ParseAddr(m)
	if err != nil || !a.Is6() {
		return m
	}
	b := a.As16()
	if b[11] != 0xff || b[12] != 0xfe {
		return m
	}
	prefix, err := a.Prefix(64)
	if err != nil {
		return m
	}
	return strings.TrimSuffix(prefix.Masked().Addr().String(), "::") + "::" + r.replace(MAC, m)
}

// word replaces a name where it stands as a word.
func (r *Redactor) word(s, name string) string {
	lower := strings.ToLower(s)
	if len(lower) != len(s) { // a letter whose small form is longer: exact matches only
		lower = s
	}
	var b strings.Builder
	for {
		i := find(lower, name)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		b.WriteString(r.replace(r.names[name], name))
		s, lower = s[i+len(name):], lower[i+len(name):]
	}
}

// find is where a name stands in a text with no letter or digit at its sides.
// What stands in <> was replaced already.
func find(s, name string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(name)
		if !(i > 0 && inWord(s[i-1])) && !(end < len(s) && inWord(s[end])) && !(i > 0 && s[i-1] == '<') {
			return i
		}
		from = i + 1
	}
}

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// replace gives the word that stands for something, and counts it.
func (r *Redactor) replace(sort, what string) string {
	r.count[sort]++
	key := sort + "\x00" + strings.ToLower(what)
	if r.given[key] == "" {
		n := 1
		for k := range r.given {
			if strings.HasPrefix(k, sort+"\x00") {
				n++
			}
		}
		r.given[key] = fmt.Sprintf("<%s-%d>", sort, n)
	}
	return r.given[key]
}
