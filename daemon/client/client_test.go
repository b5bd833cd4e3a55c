package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// timeout bounds every wait of these tests.
const timeout = 2 * time.Minute

func connect(t testing.TB, a *servertest.API) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: a.Socket}}, Timeout: timeout})
	is.New(t).NoErr(err)
	t.Cleanup(func() { is.New(t).NoErr(c.Close()) })
	return c
}

func memory(t testing.TB, seq uint64) api.Document {
	return servertest.Document(t, api.KindMemory, "", seq, map[string]uint64{"total_bytes": seq})
}

func TestCall(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(memory(t, 1))
	c := connect(t, a)
	got, err := client.Call[api.StateGetResult](t.Context(), c, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindMemory}})
	is.NoErr(err)
	is.Equal(got.Docs, []api.Document{memory(t, 1)})
	_, err = client.Call[api.Empty](t.Context(), c, "state.unwatch", api.StateUnwatch{Sub: "s9"})
	is.True(errors.Is(err, api.ReasonNoSuchSubscription))
	is.True(errors.Is(err, api.CodeNotFound))
	_, err = client.Call[api.Empty](t.Context(), c, "state.wacth", nil)
	is.True(errors.Is(err, api.ReasonUnknownMethod))
	_, err = client.Call[api.StateGetResult](t.Context(), c, "state.get", map[string]string{"x": strings.Repeat("x", api.MaxMessageBytes)})
	is.True(errors.Is(err, api.ReasonMessageTooLarge))
	is.Equal(c.Version(), servertest.Version)

	// A new connection is made when the old one was lost between calls.
	a.Stop(t)
	_, err = client.Call[api.StateGetResult](t.Context(), c, "state.get", nil)
	is.True(errors.Is(err, api.CodeUnreachable))
	a.Resume(t)
	_, err = client.Call[api.StateGetResult](t.Context(), c, "state.get", nil)
	is.NoErr(err)

	is.NoErr(c.Close())
	_, err = client.Call[api.StateGetResult](t.Context(), c, "state.get", nil)
	is.True(errors.Is(err, api.CodeCancelled))
}

func TestCallsEndInTime(t *testing.T) {
	is := is.New(t)
	began := make(chan struct{}, 3)
	a := servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"daemon.doctor": server.Handle(
			func(ctx context.Context, _ *server.Caller, _ api.DaemonDoctorParams) (api.DaemonDoctorResult, error) {
				began <- struct{}{}
				<-ctx.Done()
				return api.DaemonDoctorResult{}, ctx.Err()
			}), "daemon.config": server.Handle(
			func(ctx context.Context, _ *server.Caller, _ api.Empty) (api.DaemonConfigResult, error) {
				<-ctx.Done() // which may be before the request is there
				return api.DaemonConfigResult{}, ctx.Err()
			})}
	})
	c := connect(t, a)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	_, err := client.Call[api.DaemonConfigResult](ctx, c, "daemon.config", nil)
	is.True(errors.Is(err, api.CodeDeadline))
	is.Equal(api.AsError(err).Data.WaitingFor, "daemon.config")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	_, err = client.Call[api.DaemonDoctorResult](ctx, c, "daemon.doctor", nil)
	is.True(errors.Is(err, api.CodeCancelled))
	_, err = client.Call[api.StateGetResult](t.Context(), c, "state.get", nil) // on the same connection
	is.NoErr(err)

	lost := make(chan error, 1)
	go func() {
		_, err := client.Call[api.DaemonDoctorResult](t.Context(), c, "daemon.doctor", nil)
		lost <- err
	}()
	<-began
	a.Stop(t)
	err = <-lost // not repeated: it may have been carried out
	is.True(errors.Is(err, api.CodeUnreachable) || errors.Is(err, api.CodeCancelled))
	a.Resume(t)
}

func TestDial(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	dir := t.TempDir()
	dial := func(all ...client.Address) error {
		c, err := client.Dial(t.Context(), client.Options{Addresses: all, Timeout: timeout})
		if err == nil {
			err = c.Close()
		}
		return err
	}
	is.NoErr(dial(client.Address{URL: a.URL, Token: a.Token(t)}))
	is.NoErr(dial(client.Address{Socket: filepath.Join(dir, "none")}, client.Address{Socket: a.Socket}))
	is.True(errors.Is(dial(client.Address{URL: a.URL, Token: "wrong"}), api.ReasonBadToken))
	is.True(errors.Is(dial(client.Address{URL: strings.Replace(a.URL, "127.0.0.1", "127.0.0.2", 1)}), api.CodeUnreachable))
	err := dial(client.Address{Socket: filepath.Join(dir, "none")}, client.Address{Socket: filepath.Join(dir, "nor here")})
	is.True(errors.Is(err, api.ReasonNoDaemon))
	is.True(strings.Contains(err.Error(), "nor here"))
	is.True(errors.Is(dial(), api.ReasonNoDaemon))
}

func TestDialOfHangingDaemon(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	is.NoErr(err)
	defer l.Close()
	_, err = client.Dial(t.Context(), client.Options{Timeout: 50 * time.Millisecond,
		Addresses: []client.Address{{URL: "ws://" + l.Addr().String() + api.PathAPI}}})
	is.True(errors.Is(err, api.CodeDeadline))
	is.True(api.AsError(err).Data.WaitingFor != "")
}

func TestSkew(t *testing.T) {
	a := servertest.Start(t, nil) // 1.2.3
	for mine, want := range map[string]api.Reason{
		"1.2.3": "", "v1.2.3": "", "1.2.3-rc1": "", "": "", "devel": "",
		"1.2.4": api.ReasonDaemonOlderThanApp, "1.3": api.ReasonDaemonOlderThanApp, "2": api.ReasonDaemonOlderThanApp, "1.2.10": api.ReasonDaemonOlderThanApp,
		"1.2.2": api.ReasonDaemonNewerThanApp, "1.2": api.ReasonDaemonNewerThanApp, "0.9.9": api.ReasonDaemonNewerThanApp,
	} {
		t.Run(mine, func(t *testing.T) {
			is := is.New(t)
			c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: a.Socket}}, Version: mine})
			is.NoErr(err)
			defer c.Close()
			is.Equal(c.Skew(), want)
		})
	}
}

func TestStream(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(memory(t, 1))
	c := connect(t, a)
	first, changes, err := client.Stream[api.StateWatchResult, api.StateChanged](t.Context(), c, "state.watch", nil)
	is.NoErr(err)
	is.Equal(first.Docs, []api.Document{memory(t, 1)})
	a.Facts.Put(memory(t, 2))
	for change, err := range changes {
		is.NoErr(err)
		is.Equal(change.Put, []api.Document{memory(t, 2)})
		break
	}
	until(t, func() bool { return a.Facts.Watches() == 0 }) // the end of the loop ends the stream
	_, _, err = client.Stream[api.StateWatchResult, api.StateChanged](t.Context(), c, "state.watch", api.StateSelect{Kinds: []api.Kind{"x"}})
	is.True(errors.Is(err, api.ReasonUnknownKind))
}

func TestLoginAndFind(t *testing.T) {
	is := is.New(t)
	home := t.TempDir()
	env := api.Environment{OS: "linux", UID: 501, Home: "/home/ada", Getenv: func(name string) string {
		if name == api.EnvHome {
			return home
		}
		return ""
	}}
	var a *servertest.API
	a = servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"daemon.info": server.Handle(
			func(context.Context, *server.Caller, api.Empty) (api.DaemonInfoResult, error) {
				return api.DaemonInfoResult{Node: servertest.Node, Cluster: "00112233445566778899aabbccddeeff", APIURL: a.URL, Socket: a.Socket,
					StartedAt: api.TimeOf(time.Unix(0, 0))}, nil
			})}
	})
	c := connect(t, a)
	path := client.APIFilePath(env)
	is.Equal(path, filepath.Join(home, "api.json"))
	for range 2 { // the second time replaces the token
		_, err := client.Login(t.Context(), c, path, "cli")
		is.NoErr(err)
	}
	is.Equal(len(a.Tokens.List(uint32(os.Getuid()))), 1)
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))

	found := client.Find(env)
	is.Equal(found[0].Socket, filepath.Join(home, "run", "fulmen.sock"))
	is.Equal(len(found), 2) // nothing of the system's beside FULMEN_HOME
	remote, err := client.Dial(t.Context(), client.Options{Addresses: found})
	is.NoErr(err)
	defer remote.Close()
	_, err = client.Call[api.DaemonTokensResult](t.Context(), remote, "daemon.tokens", nil)
	is.NoErr(err)

	is.NoErr(os.Chmod(path, 0o644)) // a token that others can read is none
	_, err = client.LoadAddress(path)
	is.True(errors.Is(err, api.ReasonInsecurePermissions))
	is.Equal(len(client.Find(env)), 1)
}

func TestFind(t *testing.T) {
	const system = "/var/run/fulmen/fulmen.sock"
	for name, c := range map[string]struct {
		env  api.Environment
		vars map[string]string
		want []string
		file string
	}{
		"root":             {api.Environment{OS: "linux", Home: "/"}, nil, []string{system}, "/.config/fulmen/api.json"},
		"user":             {api.Environment{OS: "linux", UID: 501, Home: "/home/ada"}, map[string]string{"XDG_RUNTIME_DIR": "/run/user/501"}, []string{"/run/user/501/fulmen/fulmen.sock", system}, "/home/ada/.config/fulmen/api.json"},
		"user without XDG": {api.Environment{OS: "linux", UID: 501, Home: "/home/ada"}, nil, []string{"/home/ada/.local/state/fulmen/run/fulmen.sock", system}, "/home/ada/.config/fulmen/api.json"},
		"relative XDG":     {api.Environment{OS: "linux", UID: 501, Home: "/home/ada"}, map[string]string{"XDG_CONFIG_HOME": "x"}, []string{"/home/ada/.local/state/fulmen/run/fulmen.sock", system}, "/home/ada/.config/fulmen/api.json"},
		"mac":              {api.Environment{OS: "darwin", UID: 501, Home: "/Users/ada"}, nil, []string{"/Users/ada/Library/Application Support/Fulmen/run/fulmen.sock", system}, "/Users/ada/Library/Application Support/Fulmen/api.json"},
		"homeless":         {api.Environment{OS: "linux", UID: 501}, nil, []string{system}, ""},
		"elsewhere":        {api.Environment{OS: "linux", UID: 501, Home: "/home/ada"}, map[string]string{"FULMEN_HOME": "/f"}, []string{"/f/run/fulmen.sock"}, "/f/api.json"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.env.Getenv = func(name string) string { return c.vars[name] }
			var got []string
			for _, a := range client.Find(c.env) {
				got = append(got, a.Socket)
			}
			is.Equal(got, c.want)
			is.Equal(client.APIFilePath(c.env), c.file)
		})
	}
}
