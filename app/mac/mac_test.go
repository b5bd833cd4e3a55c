package mac

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app"
)

func TestBundleOf(t *testing.T) {
	for executable, want := range map[string]string{
		"/Applications/Fulmen.app/Contents/MacOS/fulmen-app":                                  "/Applications/Fulmen.app",
		"/Volumes/Fulmen/Fulmen.app/Contents/MacOS/fulmen-app":                                "/Volumes/Fulmen/Fulmen.app",
		"/private/var/folders/x/T/AppTranslocation/1F/d/Fulmen.app/Contents/MacOS/fulmen-app": "/private/var/folders/x/T/AppTranslocation/1F/d/Fulmen.app",
		"/usr/local/bin/fulmen-app":                                                           "", "fulmen-app": "", "/Fulmen.app/fulmen-app": "", "/Fulmen/Contents/MacOS/fulmen-app": "",
	} {
		is := is.New(t)
		b := bundleOf(executable)
		is.Equal(b.Path, want)
		is.Equal(b.isInstalled(), strings.HasPrefix(executable, "/Applications/"))
	}
	is := is.New(t)
	is.Equal(bundle{"/Volumes/Fulmen/Fulmen.app"}.installed().tool(), "/Applications/Fulmen.app/Contents/MacOS/fulmen")
}

func TestSetup(t *testing.T) {
	here, away := bundle{"/Applications/Fulmen.app"}, bundle{"/Volumes/Fulmen/Fulmen.app"}
	for _, tt := range []struct {
		name string
		facts
		want app.Setup
	}{
		{"a developer's", facts{system: "26.2"}, app.SetupGood},
		{"downloaded", facts{bundle: away, system: "26.2"}, app.SetupOutsideApplications},
		{"new", facts{bundle: here, system: "26.2"}, app.SetupNotRegistered},
		{"lost", facts{bundle: here, system: "26.2", daemon: notFound, wasEnabled: true}, app.SetupNotRegistered},
		{"asked", facts{bundle: here, system: "26.2", daemon: requiresApproval}, app.SetupNeedsApproval},
		{"approved", facts{bundle: here, system: "26.2", daemon: enabled, wasEnabled: true}, app.SetupGood},
		{"withdrawn", facts{bundle: here, system: "26.2", daemon: requiresApproval, wasEnabled: true}, app.SetupWithdrawn},
		{"a package", facts{bundle: here, system: "26.2", hasPackage: true}, app.SetupGood},
		{"dragged, approved", facts{bundle: here, system: "26.2", daemon: enabled, isPersons: true}, app.SetupPersons},
		{"dragged over a package", facts{bundle: here, system: "26.2", hasPackage: true, isPersons: true}, app.SetupPersons},
		{"dragged, new", facts{bundle: here, system: "26.2", isPersons: true}, app.SetupNotRegistered},
		{"too old", facts{bundle: here, system: "15.6.1", daemon: enabled}, app.SetupSystemTooOld},
		{"just new enough", facts{bundle: here, system: "26.0", daemon: enabled}, app.SetupGood},
		{"much newer", facts{bundle: here, system: "100.1", daemon: enabled}, app.SetupGood},
		{"not known", facts{bundle: here, daemon: enabled}, app.SetupGood},
	} {
		t.Run(tt.name, func(t *testing.T) { is.New(t).Equal(tt.setup(), tt.want) })
	}
}

func TestOlder(t *testing.T) {
	is := is.New(t)
	is.True(older("25.9", "26.0"))
	is.True(older("26", "26.0.1"))
	is.True(!older("26", "26.0"))
	is.True(!older("27.0", "26.2"))
	is.True(older("x", "26"))
}

func TestSpelled(t *testing.T) {
	is.New(t).Equal(spelled("4K7M-9XQ2"), "4 K 7 M, 9 X Q 2")
}

func TestMayOpen(t *testing.T) {
	is := is.New(t)
	for _, address := range []string{"http://127.0.0.1:7731/#secret", "https://example.org/docs", "x-apple.systempreferences:com.apple.LoginItems-Settings.extension"} {
		is.True(mayOpen(address))
	}
	for _, address := range []string{"", "file:///etc/passwd", "http://example.org/", "http://127.0.0.1.example.org/", "fulmen:daemon.stop", "/Applications/Utilities/Terminal.app", "ssh://x"} {
		is.True(!mayOpen(address))
	}
}

// TestLinkScript has a shell read what the script gives it.
func TestLinkScript(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	tool, link := filepath.Join(folder, `it's a "tool" \ $HOME`), filepath.Join(folder, "bin", "fulmen")
	is.NoErr(exec.Command("/bin/sh", "-c", inScript(t, linkScript(tool, link))).Run())
	got, err := filepath.EvalSymlinks(filepath.Dir(link))
	is.NoErr(err)
	read, err := exec.Command("readlink", filepath.Join(got, "fulmen")).Output()
	is.NoErr(err)
	is.Equal(strings.TrimSpace(string(read)), tool)
}
