package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"
	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/token"
	"fulmen/native"
)

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
	if l.unix {
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
	answer := reply{ID: id}
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
	if l.unix {
		return l.uid, l.uidErr
	}
	near, isTCP := l.LocalAddr().(*net.TCPAddr)
	far, isTCP2 := l.RemoteAddr().(*net.TCPAddr)
	if !isTCP || !isTCP2 || s.config.Owner == nil {
		return 0, native.ErrNoOwner
	}
	return s.config.Owner(far.AddrPort(), near.AddrPort())
}

func helloFailure(err error) *jrpc2.Error {
	if e, ok := errors.AsType[paramsError](err); ok {
		return rpcError(api.RPCInvalidParams, e.fault)
	}
	return rpcError(0, api.AsError(err))
}
