package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

// ServeHTTP answers everything that comes in by a listener of Serve.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l, ok := r.Context().Value(linkKey{}).(*link)
	if !ok {
		http.Error(w, "not served here", http.StatusInternalServerError)
		return
	}
	what := callOf(r)
	if err := l.gate.guard.check(r); err != nil {
		if what != nil {
			problem(w, api.AsError(err).Response())
		} else {
			s.refuse(w, err)
		}
		return
	}
	secure(w.Header(), r.Host)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && what == nil {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if s.config.Refuse != nil && !(l.gate.unix && r.URL.Path == api.PathAPI) {
		s.refuse(w, s.config.Refuse(""))
		return
	}
	switch path := r.URL.Path; {
	case what != nil:
		s.serveCall(w, r, l, what)
	case path == api.PathAPI:
		s.serveAPI(w, r, l)
	case path == api.PathSchema && s.config.Schema != nil:
		w.Header().Set("Content-Type", "application/schema+json")
		_, _ = w.Write(s.config.Schema) // the client may be gone
	case path == api.PathOpenAPI && s.config.Schema != nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(api.OpenAPI()) // as above
	case path == api.PathMetrics && s.config.Metrics != nil:
		s.serveMetrics(w, r, l)
	case path == api.PathDashboard, strings.HasPrefix(path, api.PathAssets):
		s.serveFile(w, r)
	default:
		s.refuse(w, notThere(r))
	}
}

// secure sets what keeps pages of others away from what is served here, and
// what is served here away from others. No header allows another origin
// anything, and no cookie is ever set or read.
func secure(h http.Header, host string) {
	// Some browsers do not take 'self' to cover WebSockets. The host is one of
	// the few that the guard lets through.
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self' ws://"+host+"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request, l *link) {
	_, known, err := s.identify(l, r)
	if err == nil && !known {
		err = api.NewError(api.ReasonNoToken, "")
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	s.config.Metrics.ServeHTTP(w, r)
}

// serveAPI upgrades a request to a connection and serves it until it ends.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, l *link) {
	who, known, err := s.identify(l, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	if known && !s.enter(who.uid) {
		s.refuse(w, api.NewError(api.ReasonTooManyClients, ""))
		return
	}
	if known {
		defer s.leave(who.uid)
	}
	w.Header().Set(headerVersion, s.config.Version)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the guard has looked at Origin, more strictly
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered
	}
	s.serveSocket(ws, l, who, known)
}

// refuse answers with an error as the body.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	e := api.AsError(err)
	if e.Code == api.CodeInternal {
		s.config.Log.Error("a request failed", "error", err)
	}
	body, _ := json.Marshal(e) // it holds strings only
	w.Header().Set("Content-Type", "application/json")
	if e.Code == api.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status(e.Code))
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}

func notThere(r *http.Request) error {
	return &api.Error{Code: api.CodeNotFound, Message: "There is nothing at " + shorten(r.URL.Path) + ".",
		Data: api.ErrorData{Reason: api.ReasonNoSuchPath, Subject: shorten(r.URL.Path)}}
}

// status is HTTP's number for why a request is refused: there is no room, or the daemon does
// not serve, else as of a call.
func status(c api.Code) int {
	if c == api.CodeExhausted || c == api.CodePrecondition {
		return http.StatusServiceUnavailable
	}
	return problemStatus(int(c))
}
