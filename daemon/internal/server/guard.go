package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// hostNames are the spellings of this machine that are accepted, without the
// port. A name that merely resolves to the loopback address is not among them:
// whoever owns the name decides what it resolves to (DNS rebinding).
var hostNames = [...]string{"127.0.0.1", "localhost", "[::1]"}

// guard decides for one listener, from the Host and Origin headers alone, whether an
// HTTP request may be looked at at all. It is what keeps web pages out: a page
// of another site can make a browser connect to the loopback address, but it
// can choose neither header.
type guard struct {
	hosts   []string
	browser bool // pages that this listener served may call it
	anyPort bool
}

// tcpGuard is that of a listener on the loopback address: Host is exactly one
// of its three spellings with the port, and Origin is absent or the page that
// was served under that very host.
func tcpGuard(port int) guard {
	g := guard{browser: true}
	for _, name := range hostNames {
		g.hosts = append(g.hosts, name+":"+strconv.Itoa(port))
	}
	return g
}

// unixGuard is that of a listener on a Unix socket, where the host means
// nothing and the port does not exist. Both are still looked at, and Origin is
// refused altogether: no browser speaks to a Unix socket, unless somebody
// forwarded a port to it, and then any page could use the forwarder's account.
func unixGuard() guard { return guard{hosts: hostNames[:], anyPort: true} }

// check refuses a request with api.ReasonBadHost or api.ReasonBadOrigin.
func (g guard) check(req *http.Request) error {
	if !g.hostAllowed(req.Host) {
		return api.NewError(api.ReasonBadHost, "")
	}
	if !g.originAllowed(req.Host, req.Header.Values("Origin")) {
		return api.NewError(api.ReasonBadOrigin, "")
	}
	return nil
}

// IsHere reports whether a host without a port is a spelling of this machine.
func IsHere(host string) bool { return slices.Contains(hostNames[:], host) }

// hostAllowed compares bytes: no case folding, no trailing dot, no IDN.
func (g guard) hostAllowed(host string) bool {
	if g.anyPort {
		host = WithoutPort(host)
	}
	return slices.Contains(g.hosts, host)
}

// originAllowed takes the values of all Origin headers; one allowed value
// beside another is not allowed. The host has been checked before.
func (g guard) originAllowed(host string, origins []string) bool {
	switch len(origins) {
	case 0:
		return true
	case 1:
		return g.browser && origins[0] == "http://"+host
	}
	return false
}

// WithoutPort cuts a decimal port off; anything else stays and is refused.
func WithoutPort(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host
	}
	if n, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil || strconv.FormatUint(n, 10) != host[i+1:] {
		return host
	}
	return host[:i]
}
