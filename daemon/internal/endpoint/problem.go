package endpoint

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// problem is an error as OpenAI's API words it.
type problem struct {
	status  int
	code    string
	message string
	param   string
}

// Error implements error.
func (p *problem) Error() string { return p.message }

func newProblem(status int, code, message string) *problem {
	return &problem{status: status, code: code, message: message}
}

// What ends a request that an engine has.
var (
	errStopping = newProblem(http.StatusServiceUnavailable, "stopping", "Fulmen stops on this Mac. Try again in a moment.")
	errStopped  = newProblem(http.StatusServiceUnavailable, "service_stopped", "The service was stopped.")
	errSilent   = newProblem(http.StatusGatewayTimeout, "engine_silent", "The engine has said nothing for "+silentWithin.String()+".")
	errBroken   = newProblem(http.StatusBadGateway, "engine_ended", "The engine ended before the answer did. Try again.")
)

// body is the problem as JSON.
func (p *problem) body() []byte {
	kind := "server_error"
	switch {
	case p.status == http.StatusUnauthorized:
		kind = "authentication_error"
	case p.status == http.StatusForbidden:
		kind = "permission_error"
	case p.status < http.StatusInternalServerError:
		kind = "invalid_request_error"
	}
	var param *string
	if p.param != "" {
		param = &p.param
	}
	raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": p.message, "type": kind, "param": param, "code": p.code}}) // it holds texts only
	return raw
}

// write answers with the problem.
func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	switch p.status {
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter)
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.status < http.StatusInternalServerError {
		h.Set("Connection", "close") // who sends what is refused may send on
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(append(p.body(), '\n')) // the client may be gone
}

// asProblem is an error as a problem; one that is none is the engine's end.
func asProblem(err error) *problem {
	if p, is := errors.AsType[*problem](err); is {
		return p
	}
	return errBroken
}

// clip makes a name of a client's fit for a message.
func clip(name string) string {
	if len(name) > 100 {
		name = name[:100] + "…"
	}
	return strings.ToValidUTF8(name, "?")
}
