package uninstall

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
)

// machine is a machine in a folder, with a service manager that knows what it gets.
type machine struct {
	Options
	t        *testing.T
	root     string
	loaded   bool // the service is
	enabled  bool
	pending  int // changes that were not put back
	isBroken bool
	units    int
	did      []string // what changed something
	isApps   bool     // the app has registered it
	lingers  bool     // launchd has not dropped yet what it was to end
}

func newMachine(t *testing.T, system string, mode api.DaemonMode) *machine {
	t.Helper()
	m := &machine{t: t, root: t.TempDir(), loaded: true, enabled: true, units: 2}
	at := func(path string) string { return filepath.Join(m.root, path) }
	m.Options = Options{OS: system, Root: m.root, Run: m.run, Undo: func(string) int { return m.pending }, Ranks: func(context.Context) error { m.units = 0; return nil }}
	m.Folders = home.Folders{Mode: mode, Config: at(api.LinuxConfigFolder), State: at(api.LinuxStateFolder), Logs: at(api.LinuxLogFolder), Runtime: at(api.RuntimeFolder)}
	m.Programs = at("/usr/local/bin")
	if system == "darwin" {
		m.Folders.Config, m.Folders.State, m.Folders.Logs = at(api.MacStateFolder), at(api.MacStateFolder), at(api.MacLogFolder)
		m.Programs = at("/Applications/Fulmen.app/Contents/MacOS")
	}
	return m
}

// run is the service manager, which has one daemon, of the system or of an account.
func (m *machine) run(_ context.Context, name string, args ...string) error {
	words := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	words = strings.Replace(words, "systemctl --user", "systemctl", 1)
	command, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(words, "launchctl "), "systemctl "), " ")
	if m.isBroken {
		return errors.New(words + ": it does not answer")
	}
	if !slices.Contains([]string{"print", "cat", "is-active", "show"}, command) {
		m.did = append(m.did, words)
	}
	units := strings.Join(m.Options.units(), " ")
	domain, job := m.Options.job()
	if m.lingers && command+" "+rest == "print "+job {
		m.lingers = false // it ends only now
		return nil
	}
	switch command + " " + rest {
	case "bootstrap " + domain + " " + m.Options.serviceFile():
		if m.lingers {
			return errors.New("operation already in progress")
		}
		m.loaded, m.enabled = true, true
	case "print system/org.fulmen.daemon":
		if !m.isApps && (m.Options.isUsers() || !m.loaded) {
			return errors.New("there is none")
		}
	case "print " + job, "cat fulmend.service", "is-active --quiet fulmend.service":
		if !m.loaded {
			return errors.New("there is none")
		}
	case "bootout " + job:
		m.loaded, m.enabled, m.lingers = false, false, true
	case "disable --now " + units:
		m.enabled = false
	case "enable --now " + units:
		m.enabled = m.loaded
	case "daemon-reload ":
		_, err := os.Stat(m.Options.serviceFile())
		m.loaded = err == nil
	}
	return nil
}

// serviceFile is that of the daemon itself.
func (o Options) serviceFile() string {
	files := o.serviceFiles()
	at := slices.IndexFunc(files, func(f serviceFile) bool { return o.OS == "darwin" || filepath.Base(f.path) == "fulmend.service" })
	return files[max(at, 0)].path
}

// put makes files; those that end in a slash are folders.
func (m *machine) put(paths ...string) {
	m.t.Helper()
	for _, path := range paths {
		full := filepath.Join(m.root, path)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		if strings.HasSuffix(path, "/") {
			err = os.MkdirAll(full, 0o755)
		} else if err == nil {
			err = os.WriteFile(full, []byte("12345"), 0o644)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *machine) has(path string) bool {
	_, err := os.Lstat(filepath.Join(m.root, path))
	return err == nil
}

// left is every file that is there.
func (m *machine) left() []string {
	var all []string
	_ = filepath.WalkDir(m.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			m.t.Fatal(err)
		}
		if !entry.IsDir() {
			all = append(all, strings.TrimPrefix(path, m.root))
		}
		return nil
	})
	return all
}

// remove takes away what is listed, and nothing else.
func (m *machine) remove(deleteOutput bool) api.UninstallResult {
	m.t.Helper()
	before, plan := m.left(), List(m.Options, deleteOutput)
	r, err := Remove(m.t.Context(), m.Options, plan)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, path := range before {
		isListed := slices.ContainsFunc(plan.Items, func(i api.UninstallItem) bool {
			return i.Stays == "" && strings.HasPrefix(m.root+path+"/", i.Path+"/")
		})
		if m.has(path) == isListed {
			m.t.Errorf("%s is listed: %v, and there: %v", path, isListed, m.has(path))
		}
	}
	return r
}

func linux(t *testing.T) *machine {
	m := newMachine(t, "linux", api.ModeSystem)
	m.put("/etc/fulmen/config.toml", "/var/lib/fulmen/identity.key", "/var/lib/fulmen/identity.key.other-machine", "/var/lib/fulmen/state.db", "/var/lib/fulmen/state.db.damaged-1",
		"/var/lib/fulmen/life.json", "/var/lib/fulmen/jobs/j4k2m9xq7/1/0/out.0", "/var/lib/fulmen/jobs/j4k2m9xq8/", "/var/log/fulmen/fulmend.log", "/var/log/fulmen/fulmend.log.1",
		"/var/run/fulmen/fulmen.sock", "/var/run/fulmen/units/x.json", "/etc/systemd/system/fulmend.service", "/etc/systemd/system/fulmend.socket", "/etc/systemd/system/fulmend-api.socket",
		"/etc/systemd/system/fulmend.service.d/more.conf", "/etc/systemd/system/sshd.service", "/usr/local/bin/fulmen", "/usr/local/bin/fulmend", "/usr/local/bin/fulmen-rank", "/usr/local/bin/other")
	return m
}

func TestLinux(t *testing.T) {
	is := is.New(t)
	m := linux(t)
	r := m.remove(true)
	is.Equal(r.Failed, nil)
	is.Equal(len(r.Stayed), 0)
	is.True(!m.enabled && !m.loaded && m.units == 0)
	is.Equal(m.left(), []string{"/etc/systemd/system/sshd.service", "/usr/local/bin/other"})
	is.True(!m.has("/var/lib/fulmen") && !m.has("/var/log/fulmen") && !m.has("/etc/fulmen") && !m.has("/var/run/fulmen"))
}

func TestOutputIsKept(t *testing.T) {
	is := is.New(t)
	m := linux(t)
	plan := List(m.Options, false)
	at := slices.IndexFunc(plan.Items, func(i api.UninstallItem) bool { return i.Kind == api.UninstallOutput })
	is.Equal(plan.Items[at].Jobs, 2)
	is.Equal(plan.Items[at].Bytes, int64(5))
	is.True(plan.Items[at].Stays != "")
	r := m.remove(false)
	is.Equal(len(r.Stayed), 1)
	is.True(m.has("/var/lib/fulmen/jobs/j4k2m9xq7/1/0/out.0"))
	is.True(!m.has("/var/lib/fulmen/state.db"))
	r = m.remove(true) // later, after all
	is.Equal(len(r.Stayed), 0)
	is.True(!m.has("/var/lib/fulmen"))
}

// The record of what was changed for RDMA outlives everything for as long as
// something of it is to be put back.
func TestUndoRecord(t *testing.T) {
	is := is.New(t)
	m := linux(t)
	m.put("/var/lib/fulmen/rdma-undo.json")
	m.pending = 1
	r := m.remove(true)
	is.Equal(len(r.Stayed), 1)
	is.True(m.has("/var/lib/fulmen/rdma-undo.json"))
	m.pending = 0
	is.Equal(len(m.remove(true).Stayed), 0)
	is.True(!m.has("/var/lib/fulmen"))
}

func TestMac(t *testing.T) {
	const app = "/Applications/Fulmen.app"
	is := is.New(t)
	m := newMachine(t, "darwin", api.ModeSystem)
	m.put("/Library/Application Support/Fulmen/config.toml", "/Library/Application Support/Fulmen/state.db", "/Library/Application Support/Fulmen/daemon.lock",
		"/Library/Logs/Fulmen/fulmend.log", "/Library/Logs/fulmend.err", "/Library/LaunchDaemons/org.fulmen.daemon.plist", "/Library/LaunchDaemons/com.example.plist", "/var/run/fulmen.sock",
		"/var/run/fulmen/fulmen.sock", app+"/Contents/MacOS/fulmend", app+"/Contents/Info.plist", "/usr/local/bin/")
	is.NoErr(os.Symlink(filepath.Join(m.root, app, "Contents/MacOS/fulmen"), filepath.Join(m.root, "/usr/local/bin/fulmen")))
	r := m.remove(true)
	is.Equal(r.Failed, nil)
	is.True(!m.loaded)
	is.Equal(m.left(), []string{"/Library/LaunchDaemons/com.example.plist"})
	is.True(!m.has(app) && !m.has("/Library/Application Support/Fulmen") && !m.has("/usr/local/bin/fulmen"))

	// A link to something else, and an app at another place, are somebody's own.
	m = newMachine(t, "darwin", api.ModeSystem)
	m.Programs = filepath.Join(m.root, "/Users/ada/build/Fulmen.app/Contents/MacOS")
	m.put("/Users/ada/build/Fulmen.app/Contents/MacOS/fulmend", "/usr/local/bin/")
	is.NoErr(os.Symlink("/opt/other/fulmen", filepath.Join(m.root, "/usr/local/bin/fulmen")))
	m.loaded = false
	r = m.remove(true)
	is.Equal(len(r.Removed), 0)
	is.Equal(len(r.Stayed), 1)
	is.True(m.has("/Users/ada/build/Fulmen.app/Contents/MacOS/fulmend") && m.has("/usr/local/bin/fulmen"))
}

// In folders that somebody has chosen there may be other things.
func TestOnlyWhatIsOurs(t *testing.T) {
	is := is.New(t)
	m := newMachine(t, "linux", api.ModeUser)
	folder := filepath.Join(m.root, "/data")
	m.Folders.State, m.Folders.Logs, m.Folders.Config, m.IsAlone = folder, folder, folder, true
	m.Programs = filepath.Join(m.root, "/checkout/bin")
	m.put("/data/state.db", "/data/thesis.tex", "/data/fulmend.log", "/data/config.toml", "/data/statement.db", "/checkout/bin/fulmend", "/etc/systemd/system/fulmend.service", "/outside/x", "/data/jobs/j4k2m9xq7/")
	is.NoErr(os.Symlink(filepath.Join(m.root, "/outside"), filepath.Join(folder, "jobs/j4k2m9xq7/link")))
	m.remove(true)
	for path, stays := range map[string]bool{
		"/data/state.db": false, "/data/fulmend.log": false, "/data/config.toml": false, "/data/jobs": false,
		"/data/thesis.tex": true, "/data/statement.db": true, "/outside/x": true, "/checkout/bin/fulmend": true, "/etc/systemd/system/fulmend.service": true,
	} {
		if m.has(path) != stays {
			t.Errorf("%s is there: %v", path, !stays)
		}
	}
	is.True(m.loaded) // the system's daemon is another one
}

// Beside a daemon that runs nothing is removed, and what could not be removed the
// first time goes the second.
func TestInTheWay(t *testing.T) {
	is := is.New(t)
	m := linux(t)
	lock, err := m.Folders.Lock()
	is.NoErr(err)
	_, err = Remove(t.Context(), m.Options, List(m.Options, true))
	is.True(errors.Is(err, api.ReasonAlreadyRunning))
	is.True(m.has("/var/lib/fulmen/state.db") && m.has("/usr/local/bin/fulmend"))
	is.NoErr(lock.Release())

	m.isBroken = true
	r := m.remove(true)
	is.True(m.loaded) // nobody could be told
	is.Equal(len(r.Failed), 0)
	is.True(!m.has("/var/lib/fulmen"))
	again := m.remove(true)
	is.Equal(len(again.Removed)+len(again.Stayed)+len(again.Failed), 0)
}

func TestRemoveServices(t *testing.T) {
	is := is.New(t)
	m := linux(t)
	is.Equal(RemoveServices(t.Context(), m.Options), nil)
	is.True(!m.enabled)
	is.True(!m.has("/etc/systemd/system/fulmend.service") && m.has("/var/lib/fulmen/state.db") && m.has("/usr/local/bin/fulmend"))
}
