package uninstall

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/native/plist"
)

// user is a machine on which an account installs.
func user(t *testing.T, system string) *machine {
	m := newMachine(t, system, api.ModeUser)
	at := func(path string) string { return filepath.Join(m.root, "/home/ada", path) }
	m.UID, m.loaded, m.enabled = 501, false, false
	m.Folders = home.Folders{Mode: api.ModeUser, Config: at(".config/fulmen"), State: at(".local/state/fulmen"), Logs: at(".local/state/fulmen/log"), Runtime: at("run")}
	if system == "darwin" {
		m.Folders.Config = at("Library/Application Support/Fulmen")
		m.Folders.State, m.Folders.Runtime = m.Folders.Config, filepath.Join(m.Folders.Config, "run")
	}
	return m
}

func (m *machine) install(write bool) (api.InstallPlan, error) {
	m.did = nil
	return Install(m.t.Context(), m.Options, write)
}

// What is installed starts the daemon, the same again changes nothing, and what is
// removed is the same.
func TestInstall(t *testing.T) {
	onLinux := func(t *testing.T) *machine {
		m := newMachine(t, "linux", api.ModeSystem)
		m.loaded, m.enabled = false, false
		return m
	}
	onMac := func(t *testing.T) *machine {
		m := newMachine(t, "darwin", api.ModeSystem)
		m.loaded, m.enabled = false, false
		return m
	}
	const units = "fulmend.socket fulmend-api.socket fulmend.service"
	for name, c := range map[string]struct {
		machine              func(*testing.T) *machine
		files                []string
		first, again, change string
	}{
		"linux": {onLinux, []string{"/etc/systemd/system/fulmend-api.socket", "/etc/systemd/system/fulmend.service", "/etc/systemd/system/fulmend.socket"},
			"systemctl daemon-reload; systemctl try-restart fulmend.service; systemctl enable --now " + units, "systemctl daemon-reload; systemctl enable --now " + units,
			"systemctl daemon-reload; systemctl try-restart fulmend.service; systemctl enable --now " + units},
		"an account on linux": {func(t *testing.T) *machine { return user(t, "linux") }, []string{"/home/ada/.config/systemd/user/fulmend.service", "/home/ada/.config/systemd/user/fulmend.socket"},
			"systemctl --user daemon-reload; systemctl --user try-restart fulmend.service; systemctl --user enable --now fulmend.socket fulmend.service",
			"systemctl --user daemon-reload; systemctl --user enable --now fulmend.socket fulmend.service",
			"systemctl --user daemon-reload; systemctl --user try-restart fulmend.service; systemctl --user enable --now fulmend.socket fulmend.service"},
		"mac": {onMac, []string{"/Library/LaunchDaemons/org.fulmen.daemon.plist"},
			"launchctl enable system/org.fulmen.daemon; launchctl bootstrap system /Library/LaunchDaemons/org.fulmen.daemon.plist", "launchctl kickstart system/org.fulmen.daemon",
			"launchctl bootout system/org.fulmen.daemon; launchctl enable system/org.fulmen.daemon; launchctl bootstrap system /Library/LaunchDaemons/org.fulmen.daemon.plist"},
		"an account on a mac": {func(t *testing.T) *machine { return user(t, "darwin") }, []string{"/home/ada/Library/LaunchAgents/org.fulmen.daemon.plist"},
			"launchctl enable gui/501/org.fulmen.daemon; launchctl bootstrap gui/501 /home/ada/Library/LaunchAgents/org.fulmen.daemon.plist", "launchctl kickstart gui/501/org.fulmen.daemon",
			"launchctl bootout gui/501/org.fulmen.daemon; launchctl enable gui/501/org.fulmen.daemon; launchctl bootstrap gui/501 /home/ada/Library/LaunchAgents/org.fulmen.daemon.plist"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := c.machine(t)
			commands := func(p api.InstallPlan) string {
				return strings.ReplaceAll(strings.ReplaceAll(strings.Join(p.Commands, "; "), m.root, ""), "/bin/launchctl", "launchctl")
			}
			plan, err := m.install(false)
			is.NoErr(err)
			is.Equal(commands(plan), c.first)
			is.Equal(len(m.left()), 0)
			is.True(!m.enabled)

			plan, err = m.install(true)
			is.NoErr(err)
			is.Equal(commands(plan), c.first)
			is.Equal(len(plan.Files), len(c.files))
			is.Equal(m.left(), c.files)
			is.True(m.enabled)
			program := filepath.Join(m.Programs, "fulmend")
			text, err := os.ReadFile(m.serviceFile())
			is.NoErr(err)
			is.True(strings.Contains(string(text), program))
			if m.OS == "darwin" {
				job, err := plist.Parse(text)
				is.NoErr(err)
				is.Equal(job.(map[string]any)["BundleProgram"], nil)
				sockets := job.(map[string]any)["Sockets"].(map[string]any)
				is.Equal(len(sockets), map[bool]int{true: 1, false: 2}[m.isUsers()]) // the port is the machine's
				if m.isUsers() {
					is.Equal(sockets[api.ActivationUnix].(map[string]any)["SockPathName"], filepath.Join(m.Folders.Runtime, api.SocketFile))
				}
			}

			plan, err = m.install(true)
			is.NoErr(err)
			is.Equal(commands(plan), c.again)
			for _, f := range plan.Files {
				is.True(f.IsCurrent)
			}

			m.Programs += "2" // another copy
			plan, err = m.install(true)
			is.NoErr(err)
			is.Equal(commands(plan), c.change)

			is.Equal(m.remove(true).Failed, nil)
			is.True(!m.enabled)
			is.Equal(len(m.left()), 0)
		})
	}
}

func TestInstallRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		machine *machine
		but     func(*machine)
		reason  api.Reason
		remedy  string
	}{
		"a folder of one's own":   {user(t, "linux"), func(m *machine) { m.IsAlone = true }, api.ReasonBadValue, "Unset it"},
		"not root":                {linux(t), func(m *machine) { m.UID = 501 }, api.ReasonAdminRequired, "sudo fulmen install --system"},
		"no systemd":              {linux(t), func(m *machine) { m.isBroken = true }, api.ReasonNotSupportedByPlatform, "run -quiet"},
		"not logged in":           {user(t, "linux"), func(m *machine) { m.isBroken = true }, api.ReasonNotSupportedByPlatform, "logged in"},
		"a package of the system": {linux(t), func(m *machine) { m.put("/usr/lib/systemd/system/fulmend.service") }, api.ReasonAlreadyRunning, "systemctl enable"},
		"everybody's":             {user(t, "linux"), func(m *machine) { m.put("/etc/systemd/system/fulmend.service") }, api.ReasonAlreadyRunning, "sudo fulmen uninstall"},
		"the app's":               {newMachine(t, "darwin", api.ModeSystem), func(*machine) {}, api.ReasonAlreadyRunning, "Login Items"},
		"the app's, an account":   {user(t, "darwin"), func(m *machine) { m.isApps = true }, api.ReasonAlreadyRunning, "Login Items"},
		"one by hand": {user(t, "linux"), func(m *machine) {
			if err := m.Folders.Create(); err != nil {
				t.Fatal(err)
			}
			lock, err := m.Folders.Lock()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lock.Release() })
		}, api.ReasonAlreadyRunning, "fulmen stop"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.but(c.machine)
			_, err := c.machine.install(true)
			is.True(errors.Is(err, c.reason))
			if !strings.Contains(api.AsError(err).Data.Remedy, c.remedy) {
				t.Error(api.AsError(err).Data.Remedy)
			}
			is.Equal(c.machine.did, nil) // nothing was changed
		})
	}
}

// systemctl itself is run, and what it says is passed on.
func TestInstallRunsSystemctl(t *testing.T) {
	is := is.New(t)
	m := user(t, "linux")
	m.Run = runCommand
	tools := t.TempDir()
	t.Setenv("PATH", tools+":/usr/bin:/bin")
	script := "#!/bin/sh\necho \"$*\" >>'" + tools + "/did'\ncase \"$*\" in *is-active*) exit 3;; *enable*) echo 'Unit is masked.' >&2; exit 1;; esac\n"
	is.NoErr(os.WriteFile(filepath.Join(tools, "systemctl"), []byte(script), 0o755))
	_, err := m.install(true)
	is.True(err != nil && strings.Contains(err.Error(), "Unit is masked."))
	did, err := os.ReadFile(filepath.Join(tools, "did"))
	is.NoErr(err)
	is.True(strings.HasSuffix(string(did), "--user daemon-reload\n--user try-restart fulmend.service\n--user enable --now fulmend.socket fulmend.service\n"))
}
