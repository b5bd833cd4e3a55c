package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/http"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/coder/websocket"
	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/token"
	"fulmen/native"
)

// maxTokenSeconds bounds how long a token may count: ten years.
const maxTokenSeconds = 10 * 365 * 24 * 3600

// accessHandlers are the methods about who the caller is.
func (s *Server) accessHandlers() Handlers {
	return Handlers{
		methodAuthenticate:      Handle(s.authenticate),
		methodRedeem:            Handle(s.redeemSecret),
		"daemon.authorize":      Handle(s.authorize),
		"daemon.tokens":         Handle(s.listTokens),
		"daemon.create_token":   Handle(s.createToken),
		"daemon.revoke_token":   Handle(s.revokeToken),
		"daemon.browser_secret": Handle(s.browserSecret),
	}
}

// authenticate on a connection that is known already changes nothing; a token
// of somebody else is refused rather than ignored.
func (s *Server) authenticate(_ context.Context, c *Caller, p api.DaemonAuthenticateParams) (api.Empty, error) {
	record, err := s.config.Tokens.Check(p.Token)
	if err == nil && record.UID != c.UID {
		err = api.NewError(api.ReasonBadToken, "")
	}
	return api.Empty{}, err
}

func (s *Server) authorize(ctx context.Context, c *Caller, p api.DaemonAuthorizeParams) (api.Empty, error) {
	switch {
	case !c.Socket:
		return api.Empty{}, socketOnly(c)
	case s.config.Authorizer == nil:
		return api.Empty{}, api.Errorf(api.ReasonNotSupportedByPlatform, c.method.Name, "This system has no authorisation service.").
			WithRemedy("Run it again with `sudo`.")
	}
	if err := s.config.Authorizer.Authorize(ctx, c.UID, p.Authorization); err != nil {
		return api.Empty{}, err
	}
	c.conn.authorized.Store(true)
	return api.Empty{}, nil
}

func (s *Server) listTokens(_ context.Context, c *Caller, _ api.Empty) (api.DaemonTokensResult, error) {
	out := api.DaemonTokensResult{Tokens: []api.TokenInfo{}}
	for _, r := range s.config.Tokens.List(c.UID) {
		out.Tokens = append(out.Tokens, r.Info())
	}
	return out, nil
}

// createToken is for the Unix socket: a token that could make tokens would
// outlive its own revocation.
func (s *Server) createToken(_ context.Context, c *Caller, p api.DaemonCreateTokenParams) (api.DaemonCreateTokenResult, error) {
	if !c.Socket {
		return api.DaemonCreateTokenResult{}, socketOnly(c)
	}
	if math.IsNaN(p.ValidS) || p.ValidS < 0 || p.ValidS > maxTokenSeconds {
		return api.DaemonCreateTokenResult{}, api.Errorf(api.ReasonBadValue, "valid_s", "valid_s must be from 0 to %d.", maxTokenSeconds)
	}
	create := s.config.Tokens.Create
	if p.Endpoint {
		create = s.config.Tokens.CreateKey
	}
	text, record, err := create(c.UID, p.Name, api.Seconds(p.ValidS))
	if err != nil {
		return api.DaemonCreateTokenResult{}, err
	}
	return api.DaemonCreateTokenResult{Token: text, Info: record.Info()}, nil
}

func (s *Server) revokeToken(_ context.Context, c *Caller, p api.DaemonRevokeTokenParams) (api.Empty, error) {
	record, err := s.config.Tokens.Revoke(c.UID, p.Name)
	if err != nil {
		return api.Empty{}, err
	}
	for _, other := range s.open(func(o *conn) bool { return o.who.token.SHA256 == record.SHA256 }) {
		other.end(websocket.StatusPolicyViolation, api.NewError(api.ReasonBadToken, ""))
	}
	return api.Empty{}, nil
}

// browserSecret is for the Unix socket, for the same reason as createToken.
func (s *Server) browserSecret(_ context.Context, c *Caller, _ api.Empty) (api.DaemonBrowserSecretResult, error) {
	if !c.Socket {
		return api.DaemonBrowserSecretResult{}, socketOnly(c)
	}
	address := s.URL()
	if address == "" {
		return api.DaemonBrowserSecretResult{}, api.Errorf(api.ReasonStarting, "", "The dashboard has no address yet.")
	}
	secret, expires, err := s.config.Tokens.Offer(c.UID)
	if err != nil {
		return api.DaemonBrowserSecretResult{}, err
	}
	page := "http" + strings.TrimSuffix(strings.TrimPrefix(address, "ws"), api.PathAPI) + api.PathDashboard
	return api.DaemonBrowserSecretResult{URL: page + "#secret=" + secret, ExpiresAt: expires}, nil
}

func (s *Server) redeemSecret(_ context.Context, c *Caller, p api.DaemonRedeemSecretParams) (api.DaemonCreateTokenResult, error) {
	text, record, err := s.redeem(c.conn.link, p.Secret)
	if err != nil {
		return api.DaemonCreateTokenResult{}, err
	}
	return api.DaemonCreateTokenResult{Token: text, Info: record.Info()}, nil
}

func socketOnly(c *Caller) error {
	return &api.Error{Code: api.CodeDenied, Message: c.method.Name + " works over the Unix socket only.",
		Data: api.ErrorData{Reason: api.ReasonSocketOnly, Subject: c.method.Name}}
}

const (
	// helloBytes bounds the message of somebody who is not known yet.
	helloBytes = 4 << 10

	methodAuthenticate = "daemon.authenticate"
	methodRedeem       = "daemon.redeem_secret"
)

// bearer reads the token of a request: shown is false where there is none.
func bearer(r *http.Request) (text string, shown bool) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", false
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return text, true
}

// identify finds out who makes a request before it is upgraded; known is false
// for one that may still say so in its first message, as browsers must, which
// cannot set the header.
func (s *Server) identify(l *link, r *http.Request) (who identity, known bool, err error) {
	if l.gate.unix {
		return identity{uid: l.uid, socket: true}, true, l.uidErr
	}
	text, shown := bearer(r)
	if !shown {
		return identity{}, false, nil
	}
	record, err := s.config.Tokens.Check(text)
	return identity{uid: record.UID, token: record}, err == nil, err
}

// hello reads the first message of a connection that is not known yet: one
// request that shows a token or a one-time secret, in time, and nothing else.
func (s *Server) hello(ctx context.Context, ws *websocket.Conn, l *link) (identity, error) {
	deadline, stop := context.WithTimeout(ctx, s.config.Limits.HelloDeadline)
	defer stop()
	ws.SetReadLimit(helloBytes)
	kind, message, err := ws.Read(deadline) // the deadline ends the connection, as it should
	if err != nil {
		return identity{}, err
	}
	id, who, result, err := s.answerHello(l, kind, message)
	answer := api.Response{ID: id}
	if err != nil {
		answer.Error = helloFailure(err)
	} else if answer.Result, err = json.Marshal(result); err != nil {
		return identity{}, err
	}
	if e := ws.Write(deadline, websocket.MessageText, encodeReply(answer)); e != nil {
		return identity{}, e
	}
	return who, err
}

func (s *Server) answerHello(l *link, kind websocket.MessageType, message []byte) (id json.RawMessage, who identity, result any, err error) {
	noToken := api.NewError(api.ReasonNoToken, "")
	requests, err := jrpc2.ParseRequests(message)
	if err != nil || kind != websocket.MessageText || len(requests) != 1 || requests[0].Batch || requests[0].ID == "" {
		return nil, identity{}, nil, noToken
	}
	r := requests[0]
	id = json.RawMessage(r.ID)
	switch {
	case r.Error != nil:
		return id, identity{}, nil, noToken
	case r.Method == methodAuthenticate:
		var p api.DaemonAuthenticateParams
		if err := decodeParams(r.Params, &p); err != nil {
			return id, identity{}, nil, err
		}
		record, err := s.config.Tokens.Check(p.Token)
		return id, identity{uid: record.UID, token: record}, api.Empty{}, err
	case r.Method == methodRedeem:
		var p api.DaemonRedeemSecretParams
		if err := decodeParams(r.Params, &p); err != nil {
			return id, identity{}, nil, err
		}
		text, record, err := s.redeem(l, p.Secret)
		return id, identity{uid: record.UID, token: record}, api.DaemonCreateTokenResult{Token: text, Info: record.Info()}, err
	}
	return id, identity{}, nil, noToken
}

// redeem turns a one-time secret into a token, for the account at the other end
// of the connection.
func (s *Server) redeem(l *link, secret string) (string, token.Record, error) {
	return s.config.Tokens.Redeem(secret, func() (uint32, error) { return s.owner(l) })
}

// owner asks the system which account is at the other end of a connection.
func (s *Server) owner(l *link) (uint32, error) {
	if l.gate.unix {
		return l.uid, l.uidErr
	}
	near, isTCP := l.LocalAddr().(*net.TCPAddr)
	far, isTCP2 := l.RemoteAddr().(*net.TCPAddr)
	if !isTCP || !isTCP2 || s.config.Owner == nil {
		return 0, native.ErrNoOwner
	}
	return s.config.Owner(far.AddrPort(), near.AddrPort())
}

func helloFailure(err error) *api.ResponseError {
	if e, ok := errors.AsType[paramsError](err); ok {
		return withCode(api.RPCInvalidParams, e.fault)
	}
	return api.AsError(err).Response()
}

// Authorizer checks a proof that the person at the keyboard is an
// administrator. On macOS it is an AuthorizationExternalForm for the right
// api.AdminRight; membership in a group alone proves nothing there.
type Authorizer interface {
	// Authorize refuses with an *api.Error. The form comes from the client and
	// can be anything.
	Authorize(ctx context.Context, uid uint32, form []byte) error
}

// isAdmin says whether a user is of class admin without any proof.
func (s *Server) isAdmin(uid uint32) bool {
	switch {
	case uid == 0:
		return true
	case s.config.Mode == api.ModeUser:
		return uid == s.config.UID
	case s.config.InAdminGroup == nil:
		return false
	}
	member, err := s.config.InAdminGroup(uid)
	if err != nil {
		s.config.Log.Warn("who is an administrator could not be read", "uid", uid, "error", err)
		return false
	}
	return member
}

// InGroup reads the system's own user and group database: whether a user is a
// member of a group. A group or a user that does not exist is no error.
func InGroup(group string) func(uid uint32) (bool, error) {
	return func(uid uint32) (bool, error) {
		g, err := user.LookupGroup(group)
		if _, isMissing := errors.AsType[user.UnknownGroupError](err); isMissing {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
		if _, isMissing := errors.AsType[user.UnknownUserIdError](err); isMissing {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		ids, err := u.GroupIds()
		return err == nil && slices.Contains(ids, g.Gid), err
	}
}

// AdminGroup says who is an administrator without a proof; nil where a group alone proves
// nothing, as on macOS.
func AdminGroup() func(uid uint32) (bool, error) {
	if runtime.GOOS != "linux" {
		return nil
	}
	return InGroup(api.AdminGroup)
}
