package server

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func allowed(class api.MethodClass, info api.MethodInfo) bool { return classCovers(class, info.Class) }

func TestEveryMethodHasAClass(t *testing.T) {
	rank := map[api.MethodClass]int{api.ClassRead: 1, api.ClassUser: 2, api.ClassAdmin: 3}
	for _, info := range api.Methods() {
		t.Run(info.Name, func(t *testing.T) {
			is := is.New(t)
			is.True(rank[info.Class] > 0)
			for class, r := range rank {
				is.Equal(allowed(class, info), r >= rank[info.Class])
			}
			is.True(!allowed(api.ClassPeer, info)) // a peer reaches no local method
			is.True(!allowed("", info))
			is.True(!allowed("root", info))
		})
	}
	for _, info := range api.PeerMethods() {
		for class := range rank {
			is.New(t).True(!allowed(class, info))
		}
	}
}

func TestMethodTable(t *testing.T) {
	ok := Handle(func(context.Context, *Caller, api.Empty) (api.DaemonInfoResult, error) {
		return api.DaemonInfoResult{}, nil
	})
	peer := Handle(func(context.Context, *Caller, api.PeerHello) (api.PeerHello, error) { return api.PeerHello{}, nil })
	panics := func(f func()) (msg any) {
		defer func() { msg = recover() }()
		f()
		return nil
	}
	for name, c := range map[string]struct {
		table []api.MethodInfo
		sets  []Handlers
		want  bool
	}{
		"fits":          {api.Methods(), []Handlers{{"daemon.info": ok}}, false},
		"none":          {api.Methods(), nil, false},
		"not in it":     {api.Methods(), []Handlers{{"daemon.inof": ok}}, true},
		"twice":         {api.Methods(), []Handlers{{"daemon.info": ok}, {"daemon.info": ok}}, true},
		"other types":   {api.Methods(), []Handlers{{"daemon.config": ok}}, true},
		"a peer's":      {api.Methods(), []Handlers{{"peer.hello": peer}}, true},
		"a peer's row":  {api.PeerMethods(), nil, true},
		"without class": {[]api.MethodInfo{{Name: "x.y"}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			is.New(t).Equal(panics(func() { methodTable(c.table, c.sets...) }) != nil, c.want)
		})
	}
}

func TestPeerMethodsAreUnknownHere(t *testing.T) {
	is := is.New(t)
	table := methodTable(api.Methods())
	for _, info := range api.PeerMethods() {
		_, ok := table[info.Name]
		is.True(!ok)
	}
	is.Equal(len(table), len(api.Methods()))
}

func TestInGroup(t *testing.T) {
	is := is.New(t)
	member, err := InGroup("no such group at all")(0)
	is.NoErr(err)
	is.True(!member)
	member, err = InGroup("daemon")(4294967290) // a user that does not exist
	is.NoErr(err)
	is.True(!member)
}

func TestErrorsKeepTheirSecrets(t *testing.T) {
	is := is.New(t)
	e := api.AsError(errors.New("open /var/lib/fulmen/key: permission denied"))
	is.Equal(e.Code, api.CodeInternal)
	is.Equal(e.Response().Message, e.Message)
}

// authorizer accepts one form.
type authorizer struct{}

func (authorizer) Authorize(_ context.Context, _ uint32, form []byte) error {
	if string(form) != "the form" {
		return api.NewError(api.ReasonAdminRequired, "")
	}
	return nil
}

// These callers have uids of the test's choice, whoever runs it.
func TestClassOfCallers(t *testing.T) {
	staff := func(uid uint32) (bool, error) { return uid == 502, nil }
	broken := func(uint32) (bool, error) { return true, errors.New("no database") }
	for name, c := range map[string]struct {
		config Config
		uid    uint32
		socket bool
		want   api.MethodClass
	}{
		"root":                    {Config{Mode: api.ModeSystem}, 0, true, api.ClassAdmin},
		"root's token":            {Config{Mode: api.ModeSystem}, 0, false, api.ClassUser},
		"a user":                  {Config{Mode: api.ModeSystem, InAdminGroup: staff}, 501, true, api.ClassUser},
		"in the group":            {Config{Mode: api.ModeSystem, InAdminGroup: staff}, 502, true, api.ClassAdmin},
		"in the group, token":     {Config{Mode: api.ModeSystem, InAdminGroup: staff}, 502, false, api.ClassUser},
		"no group here":           {Config{Mode: api.ModeSystem}, 502, true, api.ClassUser},
		"group cannot be read":    {Config{Mode: api.ModeSystem, InAdminGroup: broken}, 502, true, api.ClassUser},
		"own uid in user mode":    {Config{Mode: api.ModeUser, UID: 501}, 501, true, api.ClassAdmin},
		"own token in user mode":  {Config{Mode: api.ModeUser, UID: 501}, 501, false, api.ClassUser},
		"others in user mode":     {Config{Mode: api.ModeUser, UID: 501, InAdminGroup: staff}, 502, true, api.ClassUser},
		"own uid in system mode":  {Config{Mode: api.ModeSystem, UID: 501}, 501, true, api.ClassUser},
		"root in user mode":       {Config{Mode: api.ModeUser, UID: 501}, 0, true, api.ClassAdmin},
		"authorised already":      {Config{Mode: api.ModeSystem, Authorizer: authorizer{}}, 501, true, api.ClassUser},
		"the daemon's uid, unset": {Config{}, 501, true, api.ClassUser},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.config.Log = slog.New(slog.DiscardHandler)
			s := New(c.config)
			caller := &Caller{UID: c.uid, Socket: c.socket, conn: &conn{server: s}}
			is.Equal(caller.Class(), c.want)
			for _, info := range api.Methods() {
				caller.method = info
				err := caller.may()
				is.Equal(err == nil, allowed(c.want, info))
				is.Equal(errors.Is(err, api.ReasonAdminRequired), !allowed(c.want, info))
			}
		})
	}
}

func TestAuthorize(t *testing.T) {
	is := is.New(t)
	s := New(Config{Mode: api.ModeSystem, Authorizer: authorizer{}, Log: slog.New(slog.DiscardHandler)})
	one, other := &Caller{UID: 501, Socket: true, conn: &conn{server: s}}, &Caller{UID: 501, Socket: true, conn: &conn{server: s}}
	_, err := s.authorize(t.Context(), one, api.DaemonAuthorizeParams{Authorization: []byte("wrong")})
	is.True(errors.Is(err, api.CodeDenied))
	is.Equal(one.Class(), api.ClassUser)
	_, err = s.authorize(t.Context(), one, api.DaemonAuthorizeParams{Authorization: []byte("the form")})
	is.NoErr(err)
	is.Equal(one.Class(), api.ClassAdmin)
	is.Equal(other.Class(), api.ClassUser) // it holds for the connection alone
	remote := &Caller{UID: 501, conn: one.conn}
	_, err = s.authorize(t.Context(), remote, api.DaemonAuthorizeParams{Authorization: []byte("the form")})
	is.True(errors.Is(err, api.CodeDenied))

	none := New(Config{Mode: api.ModeSystem, Log: slog.New(slog.DiscardHandler)})
	_, err = none.authorize(t.Context(), &Caller{UID: 501, Socket: true, conn: &conn{server: none}}, api.DaemonAuthorizeParams{})
	is.True(errors.Is(err, api.CodeUnsupported))
}
