package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/bundletest"
	"fulmen/cmd/internal/bundle/inspect"
	"fulmen/cmd/internal/bundle/steps"
	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files anew")

const repository = "../../.."

func golden(t *testing.T, name, got string) {
	t.Helper()
	is := is.New(t)
	path := filepath.Join("testdata", name)
	if *update {
		is.NoErr(os.MkdirAll("testdata", 0o755))
		is.NoErr(os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	if got != string(want) {
		t.Errorf("%s is not as it was (-update writes it anew):\n%s", path, got)
	}
}

// someone is a maker on a Mac with everything, which prints into out.
func someone(t *testing.T, out *bytes.Buffer, env map[string]string) *maker {
	t.Helper()
	root, err := filepath.Abs(repository)
	is.New(t).NoErr(err)
	yes := func(string) bool { return true }
	return &maker{
		paths: steps.Paths{Root: root, Version: "1.2.3"}, dry: true, repository: "ada/fulmen", now: time.Unix(1790000000, 0), out: out,
		machine: steps.Machine{OS: "darwin", Getenv: func(name string) string { return env[name] }, Has: yes, There: yes},
		exec:    func(steps.Step) error { t.Error("a dry run has run something"); return nil },
	}
}

// What a release does, command by command: signed by somebody, and by nobody.
func TestRelease(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"release.txt": {
			steps.SignIdentity: "Developer ID Application: Ada (ABCDE12345)", steps.InstallerIdentity: "Developer ID Installer: Ada (ABCDE12345)",
			steps.NotaryKey: "/keys/key.p8", steps.NotaryKeyID: "KEY1", steps.NotaryIssuer: "issuer-1",
		},
		"release-unsigned.txt": {},
		"release-profile.txt":  {steps.SignIdentity: "-", steps.NotaryProfile: "fulmen"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var out bytes.Buffer
			m := someone(t, &out, env)
			is.NoErr(m.do([]string{"release"}))
			is.True(!strings.Contains(out.String(), "issuer-1")) // what is secret is in no log
			golden(t, name, strings.ReplaceAll(out.String(), m.paths.Root, "ROOT"))
		})
	}
}

// On a machine with nothing all that is lacking is said at once.
func TestWhatIsLacking(t *testing.T) {
	is := is.New(t)
	no := func(string) bool { return false }
	var reported bytes.Buffer
	for _, os := range []string{"darwin", "linux"} {
		for _, command := range []string{"app", "sign", "notarize", "dmg", "pkg"} {
			var out bytes.Buffer
			m := someone(t, &out, nil)
			m.dry, m.machine = false, steps.Machine{OS: os, Getenv: func(string) string { return "" }, Has: no, There: no}
			err := m.do([]string{command})
			is.True(err != nil)
			reported.WriteString("# make " + command + " on " + os + "\n" + out.String() + err.Error() + "\n\n")
		}
	}
	var out bytes.Buffer
	m := someone(t, &out, map[string]string{steps.SignIdentity: "Apple Development: Ada (ABCDE12345)"})
	m.dry = false
	is.True(m.do([]string{"sign"}) != nil) // no certificate for others' Macs
	golden(t, "lacks.txt", reported.String()+"# make sign with another certificate\n"+out.String())
}

func TestWrongCommandLines(t *testing.T) {
	is := is.New(t)
	for _, args := range [][]string{nil, {"bundle"}, {"app", "x"}, {"check"}, {"check", "a", "b"}, {"-x"}} {
		var out, diag bytes.Buffer
		is.Equal(run(args, &out, &diag), 2)
		is.True(diag.Len() > 0)
	}
	var out, diag bytes.Buffer
	is.Equal(run([]string{"check", t.TempDir()}, &out, &diag), 1) // no bundle at all
}

func TestCheck(t *testing.T) {
	is := is.New(t)
	bundle := bundletest.Bundle(t, repository, nil)
	var out, diag bytes.Buffer
	is.Equal(run([]string{"check", bundle}, &out, &diag), 0)
	is.Equal(out.String(), bundle+" has no errors\n")
}

// The package puts the app and the daemon's job on a Mac, each where launchd and
// people look for it.
func TestPackageRoot(t *testing.T) {
	is := is.New(t)
	bundle := bundletest.Bundle(t, repository, nil)
	var out bytes.Buffer
	m := someone(t, &out, nil)
	root := t.TempDir()
	is.NoErr(os.CopyFS(filepath.Join(root, "assets/pkg"), os.DirFS(filepath.Join(m.paths.Root, "assets/pkg"))))
	m.paths.Root = root
	is.NoErr(os.MkdirAll(filepath.Dir(m.paths.Bundle()), 0o755))
	is.NoErr(os.Rename(bundle, m.paths.Bundle()))
	to := steps.PackageRoot(m.paths)
	is.NoErr(m.lay(to))
	is.Equal(inspect.Faults(filepath.Join(to, "Applications/Fulmen.app")), nil) // copied whole: the signature holds
	text, err := os.ReadFile(filepath.Join(to, "Library/LaunchDaemons/org.fulmen.daemon.plist"))
	is.NoErr(err)
	is.Equal(inspect.Job(text, "Program", "/Applications/Fulmen.app/Contents/MacOS/fulmend"), nil)
	distribution, err := os.ReadFile(filepath.Join(m.paths.Work(), "distribution.xml"))
	is.NoErr(err)
	is.True(strings.Contains(string(distribution), `version="1.2.3"`))
	is.True(strings.Contains(string(distribution), `<os-version min="26.0"/>`))
}

func TestCask(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	m := someone(t, &out, nil)
	recipe, err := m.cask(strings.Repeat("0a", 32))
	is.NoErr(err)
	golden(t, "fulmen.rb", string(recipe))
	is.True(!strings.Contains(string(recipe), api.UndoFile+`"`)) // it outlives everything
	is.True(!strings.Contains(string(recipe), `"`+api.MacStateFolder+`",`+"\n        "))
	m.repository = "nobody"
	_, err = m.cask("")
	is.True(strings.Contains(err.Error(), "owner/name"))
}

// The checksums are as sha256sum reads them.
func TestSums(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	m := someone(t, &out, nil)
	m.paths.Root = t.TempDir()
	is.NoErr(os.MkdirAll(m.paths.Release(), 0o755))
	is.NoErr(os.WriteFile(m.paths.DiskImage(), []byte("abc"), 0o644))
	is.NoErr(m.sums())
	text, err := os.ReadFile(m.paths.Sums())
	is.NoErr(err)
	is.Equal(string(text), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  Fulmen-1.2.3.dmg\n")
}
