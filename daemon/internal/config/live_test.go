package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// timeout is how long an event may take before the test gives up on it.
const timeout = time.Minute

// kept is a Live with what it says and commits.
type kept struct {
	*Live
	path    string
	status  chan Status
	commits chan Config
}

func open(t *testing.T, text string) kept {
	t.Helper()
	is := is.New(t)
	k := kept{path: filepath.Join(t.TempDir(), "config.toml"), status: make(chan Status, 100), commits: make(chan Config, 100)}
	if text != "" {
		is.NoErr(os.WriteFile(k.path, []byte(text), 0o600))
	}
	l, err := Open(k.path, Options{Report: func(s Status) { k.status <- s }})
	is.NoErr(err)
	k.Live = l
	t.Cleanup(func() { l.Close() })
	l.OnChange(func(c Config) { k.commits <- c })
	return k
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(timeout):
		t.Fatalf("waited for %s", what)
		panic("unreachable")
	}
}

// write saves a file as a careful editor does: nobody reads half of it.
func write(t *testing.T, path, text string) {
	t.Helper()
	is := is.New(t)
	is.NoErr(os.WriteFile(path+".new", []byte(text), 0o600))
	is.NoErr(os.Rename(path+".new", path))
}

func TestEditorsAreNoticed(t *testing.T) {
	editors := map[string]func(path, text string) error{
		"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) },
		"rename over": func(path, text string) error {
			return errors.Join(os.WriteFile(path+"~new", []byte(text), 0o600), os.Rename(path+"~new", path))
		},
		"move away first": func(path, text string) error {
			return errors.Join(os.Rename(path, path+".bak"), os.WriteFile(path, []byte(text), 0o600))
		},
		"delete first": func(path, text string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte(text), 0o600))
		},
		"in pieces": func(path, text string) error {
			file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			for i := range text {
				_, e := file.WriteString(text[i : i+1])
				err = errors.Join(err, e)
			}
			return errors.Join(err, file.Close())
		},
	}
	for name, save := range editors {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			k := open(t, "[times]\ngrace = \"3s\"\n")
			is.Equal(k.Current().Times.Grace, 3*time.Second)
			is.NoErr(save(k.path, "[times]\ngrace = \"4s\"\n"))
			for await(t, "the new value", k.commits).Times.Grace != 4*time.Second {
			}
			is.Equal(k.Current().Times.Grace, 4*time.Second)
			k.change.Lock() // the change is over, and its status said
			defer k.change.Unlock()
			is.Equal(k.Status().Error, nil)
		})
	}
}

func TestFileAppearsAndGoes(t *testing.T) {
	is := is.New(t)
	k := open(t, "")
	is.Equal(k.Current(), Default())
	write(t, k.path, "[times]\ngrace = \"4s\"\n")
	is.Equal(await(t, "the file", k.commits).Times.Grace, 4*time.Second)
	is.NoErr(os.Remove(k.path))
	is.Equal(await(t, "its end", k.commits), Default())
}

func TestLinkIsFollowed(t *testing.T) {
	is := is.New(t)
	dotfiles := filepath.Join(t.TempDir(), "mine.toml")
	write(t, dotfiles, "[times]\ngrace = \"3s\"\n")
	path := filepath.Join(t.TempDir(), "config.toml")
	is.NoErr(os.Symlink(dotfiles, path))
	commits := make(chan Config, 10)
	l, err := Open(path, Options{})
	is.NoErr(err)
	defer l.Close()
	l.OnChange(func(c Config) { commits <- c })
	write(t, dotfiles, "[times]\ngrace = \"4s\"\n")
	for await(t, "the file behind the link", commits).Times.Grace != 4*time.Second {
	}
	is.NoErr(l.Set(Change{"times.grace", "5s"}))
	text, err := os.ReadFile(dotfiles)
	is.NoErr(err)
	is.Equal(string(text), "[times]\ngrace = \"5s\"\n")
}

func TestBadEditKeepsWhatWas(t *testing.T) {
	is := is.New(t)
	k := open(t, "[times]\ngrace = \"3s\"\n")
	write(t, k.path, "[times]\ngrace = \"3s\"\nleese = 1\n")
	s := await(t, "the error", k.status)
	is.True(errors.Is(s.Error, api.ReasonConfigUnknownKey))
	is.Equal(s.Error.Message, k.path+`:3:1: There is no key "times.leese"; did you mean "times.lease"?`)
	is.Equal(k.Current().Times.Grace, 3*time.Second)
	c := s.Causes()
	is.Equal(len(c), 1)
	is.Equal(c[0].Reason, api.ReasonConfigUnknownKey)

	err := k.Set(Change{"times.grace", "9s"}) // a broken file is not made worse
	is.True(errors.Is(err, api.ReasonConfigUnknownKey))

	write(t, k.path, "[times]\ngrace = \"3s\"\n") // as before
	is.Equal(await(t, "all well", k.status).Error, nil)
	is.Equal(len(k.commits), 0) // nothing ever changed
}

func TestRestartKeysWait(t *testing.T) {
	is := is.New(t)
	k := open(t, "[api]\nport = 9000\n")
	is.NoErr(k.Set(Change{"api.port", 9001}, Change{"times.grace", "1s"}))
	is.Equal(k.Current().API.Port, 9000)
	is.Equal(k.Current().Times.Grace, time.Second)
	is.Equal(k.Status().Restart, []string{"api.port"})
	is.NoErr(k.Set(Change{"peers.port", 9002}))
	is.Equal(k.Status().Causes(), []api.Cause{{Reason: api.ReasonNeedsRestart, Message: "A change of api.port, peers.port takes effect after a restart of the daemon."}})
	is.NoErr(k.Set(Change{"api.port", "9000"}, Change{"peers.port", 7732}))
	is.Equal(k.Status().Restart, nil)
	is.NoErr(k.Set(Change{"api.port", 9001}))
	again, err := Open(k.path, Options{})
	is.NoErr(err)
	defer again.Close()
	is.Equal(again.Current().API.Port, 9001)
	is.Equal(again.Status().Restart, nil)
}

func TestListing(t *testing.T) {
	is := is.New(t)
	k := open(t, "[peers]\naddresses = [\"a\"]\n[api]\nport = 9000\n")
	is.NoErr(k.Set(Change{"api.port", 9001}))
	got := k.Listing()
	is.Equal(got.File, k.path)
	is.True(slices.IsSortedFunc(got.Keys, func(a, b api.ConfigKey) int { return strings.Compare(a.Key, b.Key) }))
	is.Equal(len(got.Keys), len(Fields()))
	byKey := map[string]api.ConfigKey{}
	for _, key := range got.Keys {
		byKey[key.Key] = key
	}
	is.Equal(string(byKey["api.port"].Value), "9000") // in force, not in the file
	is.Equal(string(byKey["api.port"].Default), "7731")
	is.True(byKey["api.port"].NeedsRestart && byKey["api.port"].Set)
	is.Equal(string(byKey["peers.addresses"].Value), `["a"]`)
	is.Equal(string(byKey["times.lease"].Value), `"30s"`)
	is.True(!byKey["times.lease"].Set)
	lease, ok := Lookup("times.lease")
	is.True(ok)
	inForce := k.Current()
	is.Equal(render(lease.get(&inForce)), `"30s"`)
	_, ok = Lookup("times")
	is.True(!ok)
}

func TestOpenRefuses(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	write(t, path, "nonsense")
	_, err := Open(path, Options{})
	is.True(errors.Is(err, api.ReasonConfigInvalid))
	is.NoErr(os.Remove(path))
	is.NoErr(os.Mkdir(path, 0o700))
	_, err = Open(path, Options{})
	is.True(err != nil)
	_, err = Open(filepath.Join(dir, "none", "config.toml"), Options{})
	is.True(err != nil) // a folder that is not there is not an empty configuration
	_, err = Open(path, Options{Trust: func(string) error { return api.NewError(api.ReasonInsecurePermissions, path) }})
	is.True(errors.Is(err, api.ReasonInsecurePermissions))
}

func TestSetOnFullDisk(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<14)
	path := filepath.Join(disk, "config.toml")
	write(t, path, "[times]\ngrace = \"3s\"\n")
	l, err := Open(path, Options{})
	is.NoErr(err)
	defer l.Close()
	for i, full := 0, error(nil); full == nil; i++ { // until the disk is
		full = os.WriteFile(filepath.Join(disk, strings.Repeat("x", i+1)), make([]byte, 4096), 0o600)
	}
	err = l.Set(Change{"times.grace", "4s"})
	is.True(errors.Is(err, api.ReasonDiskFull))
	is.Equal(l.Current().Times.Grace, 3*time.Second)
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "[times]\ngrace = \"3s\"\n")
}

func TestCloseEndsTheWatching(t *testing.T) {
	is := is.New(t)
	k := open(t, "")
	is.NoErr(k.Close())
	is.NoErr(k.Close())
	is.NoErr(k.Set(Change{"times.grace", "4s"})) // changing still works
	is.Equal(k.Current().Times.Grace, 4*time.Second)
}
