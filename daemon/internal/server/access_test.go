package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

var me = uint32(os.Getuid())

func TestWhoCalls(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	// The Unix socket needs no token: the kernel says who it is.
	var made api.DaemonCreateTokenResult
	local := dialSocket(t, a)
	local.ok("daemon.create_token", `{"name":"script","valid_s":3600}`, &made)
	is.Equal(made.Info.Name, "script")
	is.True(!made.Info.ExpiresAt.IsZero())

	remote := dialToken(t, a, made.Token)
	var list api.DaemonTokensResult
	remote.ok("daemon.tokens", `{}`, &list)
	is.Equal(len(list.Tokens), 1)
	is.True(!list.Tokens[0].UsedAt.IsZero())

	// A token makes no tokens, nor secrets that become some.
	is.Equal(remote.call("daemon.create_token", `{"name":"other"}`).Error.Code, int(api.CodeDenied))
	is.Equal(remote.call("daemon.browser_secret", `{}`).Error.Code, int(api.CodeDenied))
	is.Equal(remote.call("daemon.authorize", `{"authorization":""}`).Error.Code, int(api.CodeDenied))

	is.Equal(local.call("daemon.create_token", `{"name":"script"}`).Error.Code, int(api.CodeConflict))
	is.Equal(local.call("daemon.create_token", `{"name":""}`).Error.Code, int(api.CodeInvalid))
	is.Equal(local.call("daemon.create_token", `{"name":"x","valid_s":-1}`).Error.Code, int(api.CodeInvalid))
	is.Equal(local.call("daemon.create_token", `{"name":"x","valid_s":1e300}`).Error.Code, int(api.CodeInvalid))
	is.Equal(local.call("daemon.revoke_token", `{"name":"nothing"}`).Error.Code, int(api.CodeNotFound))

	// Revoking ends the connections of that token, and no others.
	other := dialToken(t, a, a.Token(t))
	local.ok("daemon.revoke_token", `{"name":"script"}`, nil)
	code, reason := remote.closed()
	is.Equal(code, websocket.StatusPolicyViolation)
	is.Equal(reason, string(api.ReasonBadToken))
	other.ok("state.get", `{}`, nil)
	_, resp, err := dial(t, a.URL, "", http.Header{"Authorization": {"Bearer " + made.Token}})
	is.True(err != nil)
	is.Equal(resp.StatusCode, http.StatusUnauthorized)
}

func TestTokensOfOthers(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	foreign, _, err := a.Tokens.Create(me+1, "theirs", 0)
	is.NoErr(err)
	local, theirs := dialSocket(t, a), dialToken(t, a, foreign)
	var list api.DaemonTokensResult
	local.ok("daemon.tokens", `{}`, &list)
	is.Equal(len(list.Tokens), 0)
	is.Equal(local.call("daemon.revoke_token", `{"name":"theirs"}`).Error.Code, int(api.CodeNotFound))
	is.Equal(local.call("daemon.authenticate", `{"token":"`+foreign+`"}`).Error.Code, int(api.CodeUnauthenticated))
	theirs.ok("daemon.tokens", `{}`, &list)
	is.Equal(len(list.Tokens), 1)
}

func TestRefusedTokens(t *testing.T) {
	a := servertest.Start(t, nil)
	good := a.Token(t)
	for name, header := range map[string][]string{
		"wrong":      {"Bearer fulmen_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
		"empty":      {""},
		"no scheme":  {good},
		"basic":      {"Basic " + good},
		"two":        {"Bearer " + good, "Bearer " + good},
		"cut":        {"Bearer " + good[:len(good)-1]},
		"with space": {"Bearer  " + good},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, resp, err := dial(t, a.URL, "", http.Header{"Authorization": header})
			is.True(err != nil)
			is.Equal(resp.StatusCode, http.StatusUnauthorized)
			var e api.Error
			is.NoErr(json.NewDecoder(resp.Body).Decode(&e))
			is.Equal(e.Code, api.CodeUnauthenticated)
		})
	}
	w, _, err := dial(t, a.URL, "", http.Header{"Authorization": {"bearer " + good}})
	is.New(t).NoErr(err) // the scheme's case does not matter
	w.ok("state.get", `{}`, nil)
}

func TestTokenExpiresWhileConnected(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	// A busy machine may take longer to connect than the token is valid: then another
	// lives longer.
	var w *wire
	for valid := 300 * time.Millisecond; w == nil && valid < timeout; valid *= 2 {
		text, _, err := a.Tokens.Create(me, "for "+valid.String(), valid)
		is.NoErr(err)
		w, _, _ = dial(t, a.URL, "", http.Header{"Authorization": {"Bearer " + text}})
	}
	is.True(w != nil) // none was valid for long enough to connect
	code, reason := w.closed()
	is.Equal(code, websocket.StatusPolicyViolation)
	is.Equal(reason, string(api.ReasonExpiredToken))
}

func TestBrowserHello(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	good := a.Token(t)
	browser := func() *wire {
		w, _, err := dial(t, a.URL, "", http.Header{"Origin": {strings.TrimSuffix("http"+a.URL[2:], "/v1")}})
		is.NoErr(err)
		return w
	}
	w := browser()
	w.ok("daemon.authenticate", `{"token":"`+good+`"}`, nil)
	w.ok("state.get", `{}`, nil)

	// A one-time secret becomes a token, once.
	var secret api.DaemonBrowserSecretResult
	dialSocket(t, a).ok("daemon.browser_secret", `{}`, &secret)
	page, fragment, _ := strings.Cut(secret.URL, "#secret=")
	is.Equal(page, strings.TrimSuffix("http"+a.URL[2:], "v1"))
	var token api.DaemonCreateTokenResult
	w = browser()
	w.ok("daemon.redeem_secret", `{"secret":"`+fragment+`"}`, &token)
	w.ok("state.get", `{}`, nil)
	browser().ok("daemon.authenticate", `{"token":"`+token.Token+`"}`, nil)

	for name, c := range map[string]struct {
		text string
		code int
	}{
		"another method":       {`{"jsonrpc":"2.0","id":1,"method":"state.get"}`, int(api.CodeUnauthenticated)},
		"unknown method":       {`{"jsonrpc":"2.0","id":1,"method":"x"}`, int(api.CodeUnauthenticated)},
		"no JSON":              {`x`, int(api.CodeUnauthenticated)},
		"a batch":              {`[{"jsonrpc":"2.0","id":1,"method":"daemon.authenticate","params":{"token":"` + good + `"}}]`, int(api.CodeUnauthenticated)},
		"a notification":       {`{"jsonrpc":"2.0","method":"daemon.authenticate","params":{"token":"` + good + `"}}`, int(api.CodeUnauthenticated)},
		"wrong token":          {`{"jsonrpc":"2.0","id":1,"method":"daemon.authenticate","params":{"token":"x"}}`, int(api.CodeUnauthenticated)},
		"no token":             {`{"jsonrpc":"2.0","id":1,"method":"daemon.authenticate"}`, int(api.CodeUnauthenticated)},
		"token as an array":    {`{"jsonrpc":"2.0","id":1,"method":"daemon.authenticate","params":["` + good + `"]}`, api.RPCInvalidParams},
		"unknown field":        {`{"jsonrpc":"2.0","id":1,"method":"daemon.authenticate","params":{"tokens":"` + good + `"}}`, api.RPCInvalidParams},
		"the secret once more": {`{"jsonrpc":"2.0","id":1,"method":"daemon.redeem_secret","params":{"secret":"` + fragment + `"}}`, int(api.CodeUnauthenticated)},
	} {
		t.Run(name, func(t *testing.T) {
			w := browser()
			w.t = t
			w.send(c.text)
			is.Equal(w.read().Error.Code, c.code)
			code, _ := w.closed()
			is.Equal(code, websocket.StatusPolicyViolation)
		})
	}
	w = browser()
	_ = w.ws.Write(t.Context(), websocket.MessageText, make([]byte, 64<<10)) // may be cut off
	code, _ := w.closed()
	is.Equal(code, websocket.StatusMessageTooBig) // strangers get little room
}

func TestAdmin(t *testing.T) {
	group := func(member bool, err error) func(uint32) (bool, error) {
		return func(uint32) (bool, error) { return member, err }
	}
	for name, c := range map[string]struct {
		config func(*server.Config)
		want   bool
	}{
		"nobody":          {func(*server.Config) {}, false},
		"in the group":    {func(c *server.Config) { c.InAdminGroup = group(true, nil) }, true},
		"not in it":       {func(c *server.Config) { c.InAdminGroup = group(false, nil) }, false},
		"group unknown":   {func(c *server.Config) { c.InAdminGroup = group(true, errors.New("no database")) }, false},
		"the daemon's":    {func(c *server.Config) { c.Mode, c.UID = api.ModeUser, me }, true},
		"another user's":  {func(c *server.Config) { c.Mode, c.UID = api.ModeUser, me+1 }, false},
		"system, own uid": {func(c *server.Config) { c.UID = me }, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a := servertest.Start(t, c.config)
			want := api.ReasonAdminRequired
			if c.want || me == 0 {
				want = "not_built_yet" // that is, let through
			}
			is.Equal(dialSocket(t, a).call("daemon.stop", `{}`).Error.Data.Reason, want)
			// A token never has the class, whosever it is.
			is.Equal(dialToken(t, a, a.Token(t)).call("daemon.stop", `{}`).Error.Data.Reason, api.ReasonAdminRequired)
		})
	}
}
