package home

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func environment(os string, uid int, set map[string]string) api.Environment {
	home := "/home/ada"
	if os == "darwin" {
		home = "/Users/ada"
	}
	return api.Environment{OS: os, UID: uid, Home: home, Getenv: func(name string) string { return set[name] }}
}

func TestResolve(t *testing.T) {
	const support = "/Users/ada/Library/Application Support/Fulmen"
	tests := map[string]struct {
		env  api.Environment
		want Folders
	}{
		"root on macOS": {environment("darwin", 0, nil), Folders{api.ModeSystem,
			"/Library/Application Support/Fulmen", "/Library/Application Support/Fulmen", "/Library/Logs/Fulmen", "/var/run/fulmen", false}},
		"root on Linux": {environment("linux", 0, map[string]string{"XDG_STATE_HOME": "/x"}), Folders{api.ModeSystem,
			"/etc/fulmen", "/var/lib/fulmen", "/var/log/fulmen", "/var/run/fulmen", false}},
		"user on macOS": {environment("darwin", 501, map[string]string{"XDG_STATE_HOME": "/x"}), Folders{api.ModeUser,
			support, support, "/Users/ada/Library/Logs/Fulmen", support + "/run", false}},
		"user on Linux": {environment("linux", 1000, nil), Folders{api.ModeUser,
			"/home/ada/.config/fulmen", "/home/ada/.local/state/fulmen", "/home/ada/.local/state/fulmen/log", "/home/ada/.local/state/fulmen/run", false}},
		"XDG, a relative one ignored": {environment("linux", 1000, map[string]string{
			"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "/run/user/1000"}), Folders{api.ModeUser,
			"/c/fulmen", "/home/ada/.local/state/fulmen", "/home/ada/.local/state/fulmen/log", "/run/user/1000/fulmen", false}},
		"all under one, user": {environment("darwin", 501, map[string]string{api.EnvHome: "/tmp/one/"}), Folders{api.ModeUser,
			"/tmp/one", "/tmp/one/state", "/tmp/one/log", "/tmp/one/run", true}},
		"all under one, root": {environment("linux", 0, map[string]string{api.EnvHome: "/tmp/one"}), Folders{api.ModeSystem,
			"/tmp/one", "/tmp/one/state", "/tmp/one/log", "/tmp/one/run", true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := Resolve(tt.env)
			is.NoErr(err)
			is.Equal(got, tt.want)
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	noHome := environment("linux", 1000, nil)
	noHome.Home = ""
	tests := map[string]struct {
		env     api.Environment
		reports string
	}{
		"relative":            {environment("linux", 0, map[string]string{api.EnvHome: "here"}), "FULMEN_HOME"},
		"no home":             {noHome, "HOME"},
		"long":                {environment("linux", 0, map[string]string{api.EnvHome: "/" + strings.Repeat("a", 67)}), "sun_path"},
		"long runtime of XDG": {environment("linux", 1, map[string]string{"XDG_RUNTIME_DIR": "/" + strings.Repeat("a", 90)}), "103 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := Resolve(tt.env)
			is.True(errors.Is(err, api.ReasonBadValue))
			is.True(strings.Contains(err.Error(), tt.reports)) // names what is wrong
		})
	}
	t.Run("longest", func(t *testing.T) {
		is := is.New(t)
		f, err := Resolve(environment("linux", 0, map[string]string{api.EnvHome: "/" + strings.Repeat("a", 65)}))
		is.NoErr(err)
		is.Equal(len(f.Runtime), 70)
	})
}

func TestPaths(t *testing.T) {
	is := is.New(t)
	f := Folders{Config: "/c", State: "/s", Logs: "/l", Runtime: "/r"}
	is.Equal(f.ConfigFile(), "/c/config.toml")
	is.Equal(f.DatabaseFile(), "/s/state.db")
	is.Equal(f.KeyFile(), "/s/identity.key")
	is.Equal(f.UndoFile(), "/s/rdma-undo.json")
	is.Equal(f.JobsFolder(), "/s/jobs")
	is.Equal(f.Socket(), "/r/fulmen.sock")
	is.Equal(f.With("", ""), f)
	is.Equal(f.With("/a/", "/b"), Folders{Config: "/c", State: "/a", Logs: "/b", Runtime: "/r"})
}
