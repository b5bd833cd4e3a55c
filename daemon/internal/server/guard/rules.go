package guard

import (
	"net/http"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// loopback are the spellings of this machine that are accepted, without the
// port. A name that merely resolves to the loopback address is not among them:
// whoever owns the name decides what it resolves to (DNS rebinding).
var loopback = [...]string{"127.0.0.1", "localhost", "[::1]"}

// Rules are the rules of one listener.
type Rules struct {
	hosts   []string
	browser bool // pages that this listener served may call it
	anyPort bool
}

// TCP are the rules of a listener on the loopback address: Host is exactly one
// of its three spellings with the port, and Origin is absent or the page that
// was served under that very host.
func TCP(port int) Rules {
	r := Rules{browser: true}
	for _, name := range loopback {
		r.hosts = append(r.hosts, name+":"+strconv.Itoa(port))
	}
	return r
}

// Unix are the rules of a listener on a Unix socket, where the host means
// nothing and the port does not exist. Both are still looked at, and Origin is
// refused altogether: no browser speaks to a Unix socket, unless somebody
// forwarded a port to it, and then any page could use the forwarder's account.
func Unix() Rules { return Rules{hosts: loopback[:], anyPort: true} }

// Check refuses a request with api.ReasonBadHost or api.ReasonBadOrigin.
func (r Rules) Check(req *http.Request) error {
	if !r.hostAllowed(req.Host) {
		return api.NewError(api.ReasonBadHost, "")
	}
	if !r.originAllowed(req.Host, req.Header.Values("Origin")) {
		return api.NewError(api.ReasonBadOrigin, "")
	}
	return nil
}

// hostAllowed compares bytes: no case folding, no trailing dot, no IDN.
func (r Rules) hostAllowed(host string) bool {
	if r.anyPort {
		host = withoutPort(host)
	}
	for _, h := range r.hosts {
		if h == host {
			return true
		}
	}
	return false
}

// originAllowed takes the values of all Origin headers; one allowed value
// beside another is not allowed. The host has been checked before.
func (r Rules) originAllowed(host string, origins []string) bool {
	switch len(origins) {
	case 0:
		return true
	case 1:
		return r.browser && origins[0] == "http://"+host
	}
	return false
}

// withoutPort cuts a decimal port off; anything else stays and is refused.
func withoutPort(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host
	}
	if n, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil || strconv.FormatUint(n, 10) != host[i+1:] {
		return host
	}
	return host[:i]
}
