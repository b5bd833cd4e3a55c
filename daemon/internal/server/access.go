package server

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
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
		e := api.Errorf(api.ReasonNotSupportedByPlatform, c.method.Name, "This system has no authorisations.")
		e.Data.Remedy = "Repeat it with `sudo`."
		return api.Empty{}, e
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
	text, record, err := s.config.Tokens.Create(c.UID, p.Name, time.Duration(p.ValidS*float64(time.Second)))
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
