package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/steps"
	"fulmen/daemon/api"
)

const unitFolder = repository + "/assets/systemd"

// unitValue is the value of a key of a unit, which stands there once.
func unitValue(t *testing.T, unit, key string) string {
	t.Helper()
	return valueIn(t, filepath.Join(unitFolder, unit), key)
}

// valueIn is the value of a key of a file of such lines.
func valueIn(t *testing.T, path, key string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	is.New(t).NoErr(err)
	var found []string
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key+"="); ok {
			found = append(found, strings.TrimSpace(value))
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %s %d times", path, key, len(found))
	}
	return found[0]
}

// Units and code agree on sockets, folders and exit statuses.
func TestUnitsAreThoseOfTheCode(t *testing.T) {
	is := is.New(t)
	// /var/run is a link to /run wherever systemd runs.
	is.Equal("/var"+unitValue(t, "fulmend.socket", "ListenStream"), api.RuntimeFolder+"/"+api.SocketFile)
	is.Equal(unitValue(t, "fulmend.socket", "FileDescriptorName"), api.ActivationUnix)
	is.Equal(unitValue(t, "fulmend.socket", "SocketMode"), "0666")
	is.Equal(unitValue(t, "fulmend-api.socket", "ListenStream"), fmt.Sprintf("127.0.0.1:%d", api.APIPort))
	is.Equal(unitValue(t, "fulmend-api.socket", "FileDescriptorName"), api.ActivationTCP)
	for _, unit := range []string{"fulmend.socket", "fulmend-api.socket"} {
		is.Equal(unitValue(t, unit, "Service"), "fulmend.service")
		is.True(strings.Contains(unitValue(t, "fulmend.service", "Sockets"), unit))
	}
	for key, folder := range map[string]string{
		"ConfigurationDirectory": api.LinuxConfigFolder, "StateDirectory": api.LinuxStateFolder, "LogsDirectory": api.LinuxLogFolder, "RuntimeDirectory": api.RuntimeFolder,
	} {
		is.Equal(unitValue(t, "fulmend.service", key), filepath.Base(folder))
	}
	is.Equal(unitValue(t, "fulmend.service", "RuntimeDirectoryPreserve"), "yes")
	is.Equal(unitValue(t, "fulmend.service", "Type"), "notify") // fulmend tells: TestSupervisorIsTold
	is.Equal(unitValue(t, "fulmend.service", "RestartForceExitStatus"), fmt.Sprint(api.ExitRestart))
	is.True(strings.HasSuffix(unitValue(t, "fulmend.service", "ExecStart"), "/fulmend run -quiet"))
}

// systemd itself reads the units: unknown keys and values are found, and how much
// a broken daemon could do is bounded.
func TestSystemdUnderstandsTheUnits(t *testing.T) {
	is := is.New(t)
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here")
	}
	folder := t.TempDir()
	units, err := filepath.Glob(filepath.Join(unitFolder, "fulmend*"))
	is.NoErr(err)
	is.Equal(len(units), 3)
	ofUser, err := filepath.Glob(filepath.Join(unitFolder, "user", "fulmend*"))
	is.NoErr(err)
	is.Equal(len(ofUser), 2)
	is.NoErr(os.Mkdir(filepath.Join(folder, "user"), 0o755))
	var copies, copiesOfUser []string
	for _, unit := range append(units, ofUser...) {
		text, err := os.ReadFile(unit)
		is.NoErr(err)
		// The program is not installed here; whether one is there is looked at too.
		text = bytes.Replace(text, []byte("ExecStart=/opt/fulmen/build/bin/fulmend"), []byte("ExecStart=/bin/true"), 1)
		name, err := filepath.Rel(unitFolder, unit)
		is.NoErr(err)
		to := filepath.Join(folder, name)
		is.NoErr(os.WriteFile(to, text, 0o644))
		if filepath.Dir(name) == "user" {
			copiesOfUser = append(copiesOfUser, to)
		} else {
			copies = append(copies, to)
		}
	}
	analyzed := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, analyze, args...)
		cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+folder+":", "SYSTEMD_LOG_LEVEL=warning", "XDG_RUNTIME_DIR="+folder)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	out := analyzed(append([]string{"verify", "--man=no"}, copies...)...)
	out += analyzed(append([]string{"verify", "--man=no", "--user"}, copiesOfUser...)...)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "fulmen") {
			t.Error(line)
		}
	}
	if out, err := exec.Command(analyze, "security", "--help").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--offline")) {
		t.Skip("this systemd-analyze judges no unit that is not loaded")
	}
	// 100 is a service without any bounds; root that changes the network has to have some.
	analyzed("security", "--no-pager", "--offline=yes", "--threshold=50", filepath.Join(folder, "fulmend.service"))
}

// The entry for Linux desktops opens the links that the app understands, with the
// program and picture of an installation as docs/install.md has it.
func TestDesktopEntry(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(repository, "assets/desktop", api.BundleID+".desktop")
	is.Equal(valueIn(t, path, "MimeType"), "x-scheme-handler/"+api.LinkScheme+";")
	const installed = "/opt/fulmen/"
	program, args, _ := strings.Cut(valueIn(t, path, "Exec"), " ")
	is.Equal(program, valueIn(t, path, "TryExec"))
	is.Equal(args, "%u") // one link
	is.Equal(filepath.Dir(program), filepath.Dir(strings.Fields(unitValue(t, "fulmend.service", "ExecStart"))[0]))
	picture, isInstalled := strings.CutPrefix(valueIn(t, path, "Icon"), installed)
	is.True(isInstalled)
	_, err := os.Stat(filepath.Join(repository, picture))
	is.NoErr(err)
	page, err := os.ReadFile(filepath.Join(repository, "docs/install.md"))
	is.NoErr(err)
	is.True(bytes.Contains(page, []byte("assets/desktop/"+filepath.Base(path))))
	validate, err := exec.LookPath("desktop-file-validate")
	if err != nil {
		t.Skip("no desktop-file-validate here: apt-get install desktop-file-utils")
	}
	out, err := exec.Command(validate, path).CombinedOutput()
	is.Equal(string(out), "")
	is.NoErr(err)
}

// The script of the package is one that macOS's shell reads.
func TestPackageScripts(t *testing.T) {
	is := is.New(t)
	scripts, err := filepath.Glob(filepath.Join(repository, "assets/pkg/scripts/*"))
	is.NoErr(err)
	is.Equal(len(scripts), 1)
	for _, script := range scripts {
		out, err := exec.Command("/bin/sh", "-n", script).CombinedOutput()
		is.Equal(string(out), "")
		is.NoErr(err)
		info, err := os.Stat(script)
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o755)) // the Installer passes over what cannot be run
		text, err := os.ReadFile(script)
		is.NoErr(err)
		is.True(strings.Contains(string(text), "label="+api.DaemonLabel+"\n"))
		is.True(strings.Contains(string(text), "/Applications/"+api.BundleName+"/Contents/MacOS/fulmen "))
	}
}

// The page about installation names what the code and the installers leave behind.
func TestInstallPageNamesEverything(t *testing.T) {
	is := is.New(t)
	page, err := os.ReadFile(filepath.Join(repository, "docs/install.md"))
	is.NoErr(err)
	for _, name := range []string{
		"/Applications/" + api.BundleName, "/Library/LaunchDaemons/" + api.DaemonLabel + ".plist", api.MacStateFolder, api.MacLogFolder, "/Library/Logs/fulmend.err",
		api.RuntimeFolder, api.LaunchdSocket, api.LinuxConfigFolder, api.LinuxStateFolder, api.LinuxLogFolder, steps.PackageID,
		"/usr/local/bin/fulmen", "fulmend.service", "fulmend.socket", "fulmend-api.socket", "/opt/fulmen/build/bin/fulmen",
		steps.SignIdentity, steps.InstallerIdentity, steps.NotaryProfile, fmt.Sprint(api.APIPort), fmt.Sprint(api.PeerPort),
	} {
		if !bytes.Contains(page, []byte(name)) {
			t.Errorf("docs/install.md does not name %s", name)
		}
	}
}
