package redact

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"fulmen/daemon/api"
)

// Redactor replaces what is not harmless, and counts it.
type Redactor struct {
	given map[string]string // the word for a value
	last  map[string]int    // the number of the newest word of a sort
	count map[string]int
}

// New makes a redactor that has replaced nothing yet.
func New() *Redactor {
	return &Redactor{given: map[string]string{}, last: map[string]int{}, count: map[string]int{}}
}

// Counts says how often something of each sort was replaced.
func (r *Redactor) Counts() map[string]int { return r.count }

// Text replaces a text of which nothing is known but what it looks like.
func (r *Redactor) Text(s string) string { return r.replace("text", s) }

// replace gives what stands for a value. Of a text in parts, as errors are, the
// sentences of Fulmen and of the system stay; of what is made of several values, the
// structure. The sort is the word for what looks like nothing in particular.
func (r *Redactor) replace(sort, s string) string {
	if s == "" || isSentence(s) {
		return s
	}
	if parts := strings.Split(s, ": "); anySentence(parts) {
		for i, part := range parts {
			parts[i] = r.replace(sort, part)
		}
		return strings.Join(parts, ": ")
	}
	if p, err := api.ParsePrincipal(s); err == nil {
		return r.give("user", p.User) + "@" + string(p.Node)
	}
	if p, err := api.ParsePeerAddress(s); err == nil {
		return string(p.Peer) + "/" + r.address(p.Address)
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return r.address(a)
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		return fmt.Sprintf("%s/%d", r.address(p.Addr()), p.Bits())
	}
	if a, err := netip.ParseAddrPort(s); err == nil {
		return fmt.Sprintf("%s:%d", r.address(a.Addr()), a.Port())
	}
	if _, err := net.ParseMAC(s); err == nil {
		return r.give("mac", s)
	}
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") {
		return r.give("path", s)
	}
	return r.give(sort, s)
}

// address replaces an address without its zone. Those that every machine has stay.
func (r *Redactor) address(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	switch {
	case a.IsUnspecified(), a == netip.IPv6Loopback(), a == netip.AddrFrom4([4]byte{127, 0, 0, 1}):
		return a.String()
	case a.IsLinkLocalUnicast():
		return r.give("link-local", a.String())
	}
	return r.give("ip", a.String())
}

// give is the word that stands for a value, whatever sort it was first taken for.
func (r *Redactor) give(sort, value string) string {
	r.count[sort]++
	if r.given[value] == "" {
		r.last[sort]++
		r.given[value] = fmt.Sprintf("%s-%d", sort, r.last[sort])
	}
	return r.given[value]
}

// mostErrno is beyond the numbers of errors that macOS and Linux have.
const mostErrno = 140

// sentences are the constant texts of Fulmen and of the system: what a reason says, and
// what errors of the system say after what they are about.
var sentences = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, r := range api.Reasons() {
		all[r.Text], all[r.Remedy] = true, true
	}
	for n := range syscall.Errno(mostErrno) {
		all[n.Error()] = true
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		os.ErrDeadlineExceeded, os.ErrNotExist, os.ErrExist, os.ErrPermission} {
		all[err.Error()] = true
	}
	for _, call := range []string{"connect", "bind", "read", "write"} {
		all[call] = true
	}
	return all
})

func isSentence(s string) bool { return sentences()[s] }

func anySentence(parts []string) bool { return slices.ContainsFunc(parts, isSentence) }
