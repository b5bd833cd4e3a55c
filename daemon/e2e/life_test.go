package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func TestFirstFacts(t *testing.T) {
	is := is.New(t)
	r := start(t, newHome(t))
	c := r.dial()
	info := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	is.True(info.Node.Valid())
	is.Equal(info.Version, "0.0.0-test")
	is.Equal(info.PID, os.Getpid())

	name := until(t, c, api.KindIdentity, "identity", func(api.Document) bool { return true })
	var identity api.Identity
	is.NoErr(name.Decode(&identity))
	is.Equal(name.Node, info.Node)
	is.True(identity.Name != "")
	is.True(!name.Simulated) // this machine is real

	document := until(t, c, api.KindMemory, "memory", func(api.Document) bool { return true })
	var memory api.Memory
	is.NoErr(document.Decode(&memory))
	is.True(*memory.TotalBytes > 0)
	is.True(*memory.AvailableBytes <= *memory.TotalBytes)

	const field = "gpu_working_set_bytes"
	document = until(t, c, api.KindMemory, "answer of MLX", func(d api.Document) bool { return d.Unknown[field] != api.ReasonNotYetRead })
	is.NoErr(document.Decode(&memory))
	is.Equal(memory.GPUWorkingSetBytes != nil, document.Unknown[field] != api.ReasonMLXMissing) // told, where there is an MLX
}

func TestOrderlyEnd(t *testing.T) {
	is := is.New(t)
	r := start(t, newHome(t))
	c := r.dial()
	call[api.Empty](t, c, "daemon.stop", api.DaemonStopParams{})
	is.NoErr(<-r.ended)
	r.stop = nil
	_, err := os.Stat(r.address.Socket)
	is.True(errors.Is(err, os.ErrNotExist)) // the socket is gone
	is.True(strings.Contains(r.log.String(), "stopped"))
}

func TestSecondDaemon(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	start(t, folder)
	_, err := tryStart(t, folder)
	is.True(errors.Is(err, api.ReasonAlreadyRunning))
	is.True(strings.Contains(err.Error(), strconv.Itoa(os.Getpid()))) // names who holds it
}

func TestNodeSurvivesRestart(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	first := start(t, folder)
	before := call[api.DaemonInfoResult](t, first.dial(), "daemon.info", nil)
	old := until(t, first.dial(), api.KindIdentity, "identity", func(api.Document) bool { return true })
	is.NoErr(first.end())
	second := start(t, folder)
	after := call[api.DaemonInfoResult](t, second.dial(), "daemon.info", nil)
	is.Equal(after.Node, before.Node)
	is.Equal(after.Cluster, before.Cluster)
	fresh := until(t, second.dial(), api.KindIdentity, "identity", func(api.Document) bool { return true })
	is.True(fresh.Version().Compare(old.Version()) > 0) // no version is used twice
}

func TestCorruptDatabaseIsSetAside(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	is.NoErr(start(t, folder).end())
	database := filepath.Join(folder, "state", api.StateFile)
	is.NoErr(os.WriteFile(database, []byte(strings.Repeat("no database", 4096)), 0o600))
	r := start(t, folder)
	document := until(t, r.dial(), api.KindCondition, "condition", func(d api.Document) bool { return strings.HasPrefix(d.Name, string(api.ReasonStateCorrupt)) })
	var condition api.Condition
	is.NoErr(document.Decode(&condition))
	kept, err := filepath.Glob(database + ".damaged-*")
	is.NoErr(err)
	is.Equal(len(kept), 1)                             // never deleted
	is.True(strings.Contains(condition.Text, kept[0])) // and named
}

func TestConfiguration(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	r := start(t, folder)
	c := r.dial()
	file := filepath.Join(folder, api.ConfigFile)

	call[api.Empty](t, c, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"measure.gpu_ttl": json.RawMessage(`"2h"`)}})
	text, err := os.ReadFile(file)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "port = 0")) // the rest stays

	// An edit with a fault keeps what was in force, and says where it is.
	// At once, as editors do it: what is empty for a moment is a configuration too.
	replace := func(text []byte) {
		is.NoErr(os.WriteFile(file+".new", text, 0o600))
		is.NoErr(os.Rename(file+".new", file))
	}
	replace(append(slices.Clone(text), "\n[api]\nprot = 1\n"...))
	wrong := until(t, c, api.KindCondition, "condition", func(d api.Document) bool { return strings.HasPrefix(d.Name, "config_") })
	is.True(strings.Contains(string(wrong.Value), api.ConfigFile))
	for _, key := range call[api.DaemonConfigResult](t, c, "daemon.config", nil).Keys {
		if key.Key == "measure.gpu_ttl" {
			is.True(strings.Contains(string(key.Value), "2h"))
		}
	}
	replace(text)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var view client.View
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindCondition}}) {
		is.NoErr(err)
		view.Apply(event)
		if _, still := view.Get(wrong.Key()); !still {
			return // mended
		}
	}
	t.Fatal("the condition stays after the file was mended")
}

// A configuration with a fault at the start is an error with its place.
func TestBadConfigurationAtTheStart(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	is.NoErr(os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte("[api]\nprot = 1\n"), 0o600))
	_, err := tryStart(t, folder)
	is.True(errors.Is(err, api.ReasonConfigUnknownKey))
	is.True(strings.Contains(err.Error(), "port"))              // the nearest key
	is.True(strings.Contains(err.Error(), api.ConfigFile+":2")) // and the line
}
