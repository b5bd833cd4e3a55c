package endpoint

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
)

// link is a connection of a client.
type link struct {
	near, far netip.AddrPort
	owner     func() (uint32, error) // asked once
}

type linkKey struct{}

// withLink has the requests of a connection know it.
func withLink(ctx context.Context, conn net.Conn) context.Context {
	near, _ := netip.ParseAddrPort(conn.LocalAddr().String()) // what is no TCP is from nowhere, and refused
	far, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return context.WithValue(ctx, linkKey{}, &link{
		near: netip.AddrPortFrom(near.Addr().Unmap(), near.Port()), far: netip.AddrPortFrom(far.Addr().Unmap(), far.Port()),
	})
}

// asking bounds how many look at once who holds a connection: on macOS that is a walk
// through all processes.
var asking = make(chan struct{}, 2)

// holder is the account at the other end.
func (e *Endpoint) holder(l *link) (uint32, error) {
	e.mu.Lock()
	if l.owner == nil {
		l.owner = sync.OnceValues(func() (uint32, error) {
			asking <- struct{}{}
			defer func() { <-asking }()
			return e.cfg.Owner(l.far, l.near)
		})
	}
	e.mu.Unlock()
	return l.owner()
}

// admit refuses whoever may not ask: by where they are, by the name that they use for this
// Mac, and by the page that asks.
func (e *Endpoint) admit(w http.ResponseWriter, r *http.Request) (l *link, err *problem) {
	l, _ = r.Context().Value(linkKey{}).(*link)
	s := e.cfg.Settings()
	if l == nil || !l.far.Addr().IsLoopback() && !slices.ContainsFunc(s.Networks, func(p netip.Prefix) bool { return p.Contains(l.far.Addr()) }) {
		return l, newProblem(http.StatusForbidden, "network_not_allowed", "The owner of this Mac has not named your network in endpoint.networks.")
	}
	host := server.WithoutPort(r.Host)
	isHere := l.far.Addr().IsLoopback() && server.IsHere(host)
	address, bad := netip.ParseAddr(strings.Trim(host, "[]"))
	isAddress := bad == nil && address.Unmap() == l.near.Addr()
	if !isHere && !isAddress && !slices.Contains(s.Hosts, host) {
		return l, newProblem(http.StatusForbidden, "bad_host", "This Mac is not asked by that name. Use its address, or have its owner name it in endpoint.hosts.")
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	switch origins := r.Header.Values("Origin"); {
	case len(origins) == 0:
	case len(origins) > 1 || !slices.Contains(s.Origins, origins[0]):
		return l, newProblem(http.StatusForbidden, "bad_origin", "Pages of that origin may not ask here. The owner of this Mac names those that may in endpoint.origins.")
	default:
		h.Set("Access-Control-Allow-Origin", origins[0])
		h.Add("Vary", "Origin")
	}
	return l, nil
}

// allow answers a browser that asks what a page may send, which the origin has passed.
func allow(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// keyPrefix begins every key, so that what OpenAI's clients send for want of one is none.
const keyPrefix = "fulmen_"

// person is who asks.
func (e *Endpoint) person(l *link, r *http.Request) (api.Principal, *problem) {
	text := ""
	if values := r.Header.Values("Authorization"); len(values) == 1 {
		if scheme, rest, _ := strings.Cut(values[0], " "); strings.EqualFold(scheme, "Bearer") {
			text = strings.TrimSpace(rest)
		}
	}
	var uid uint32
	var err error
	switch {
	case strings.HasPrefix(text, keyPrefix):
		uid, err = e.cfg.Key(text)
	case l.far.Addr().IsLoopback():
		uid, err = e.holder(l)
	default:
		return api.Principal{}, newProblem(http.StatusUnauthorized, "no_api_key", "A key is missing. Make one on this Mac by `fulmen token create NAME --endpoint`, and send it as Authorization: Bearer KEY.")
	}
	if err != nil {
		e.cfg.Log.Info("a client is not known", "from", l.far, "error", err)
		return api.Principal{}, newProblem(http.StatusUnauthorized, "invalid_api_key", "The key does not count, or this Mac cannot tell whose connection it is. Make one by `fulmen token create NAME --endpoint`.")
	}
	return api.Principal{User: e.cfg.UserName(uid), Node: e.cfg.Node}, nil
}
