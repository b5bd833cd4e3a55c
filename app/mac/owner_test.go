package mac

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestIsPersons is when the app asks to be made the system's.
func TestIsPersons(t *testing.T) {
	const app = "/Applications/Fulmen.app"
	roots := func(mode fs.FileMode) owned { return owned{0, mode} }
	for _, tt := range []struct {
		name  string
		path  string
		other map[string]owned // what is not root's with 0755
		gone  string
		want  bool
	}{
		{"of the package", app, nil, "", false},
		{"dragged", app, map[string]owned{"": {501, 0o755}}, "", true},
		{"its folder of programs", app, map[string]owned{"/Contents/MacOS": {501, 0o755}}, "", true},
		{"the daemon's program", app, map[string]owned{"/Contents/MacOS/fulmend": {501, 0o755}}, "", true},
		{"the shim", app, map[string]owned{"/Contents/MacOS/fulmen-shim": {501, 0o755}}, "", true},
		{"the worker", app, map[string]owned{"/Contents/MacOS/fulmen-rank": {502, 0o755}}, "", true},
		{"the group may write", app, map[string]owned{"/Contents": roots(fs.ModeDir | 0o775)}, "", true},
		{"all may write", app, map[string]owned{"": roots(fs.ModeDir | 0o757)}, "", true},
		{"a program of root's own", app, map[string]owned{"/Contents/MacOS/fulmend": roots(fs.ModeSetuid | 0o700)}, "", false},
		{"without the worker", app, nil, "/Contents/MacOS/fulmen-rank", false},
		{"not there", app, nil, "", false},
		{"where it was downloaded", "/Volumes/Fulmen/Fulmen.app", map[string]owned{"": {501, 0o755}}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			examine := func(path string) (owned, error) {
				rest := strings.TrimPrefix(path, tt.path)
				if tt.name == "not there" || tt.gone != "" && rest == tt.gone {
					return owned{}, fs.ErrNotExist
				}
				if o, ok := tt.other[rest]; ok {
					return o, nil
				}
				return roots(0o755), nil
			}
			is.New(t).Equal(bundle{tt.path}.isPersons(examine), tt.want)
		})
	}
}

func TestOwnCommand(t *testing.T) {
	is := is.New(t)
	b := bundle{"/Applications/Fulmen.app"}
	is.Equal(b.byHand(), "sudo /usr/sbin/chown -R root:wheel '/Applications/Fulmen.app' && sudo /bin/chmod -R go-w '/Applications/Fulmen.app'")
	is.Equal(b.ownScript(), `do shell script "/usr/sbin/chown -R root:wheel '/Applications/Fulmen.app' && /bin/chmod -R go-w '/Applications/Fulmen.app'"`+
		` with prompt "Fulmen's daemon runs as root: nobody else may be able to change Fulmen.app." with administrator privileges`)
}

// TestOwnCommandQuotes has a shell run the command on a bundle whose name is full
// of what shells and AppleScript take for their own; a stand-in records what it is
// given instead of chown and chmod.
func TestOwnCommandQuotes(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	b := bundle{filepath.Join(folder, "it's \"a\" \\ $HOME `id`; touch x & .app")}
	command := inScript(t, b.ownScript())
	for _, tool := range []string{"/usr/sbin/chown", "/bin/chmod"} {
		command = strings.ReplaceAll(command, tool, "record")
	}
	shell := exec.Command("/bin/sh", "-c", `record() { printf '%s\n' "$@" >> got; }; `+command)
	shell.Dir = folder
	is.NoErr(shell.Run())
	got, err := os.ReadFile(filepath.Join(folder, "got"))
	is.NoErr(err)
	is.Equal(string(got), "-R\nroot:wheel\n"+b.Path+"\n-R\ngo-w\n"+b.Path+"\n")
	left, err := os.ReadDir(folder)
	is.NoErr(err)
	is.Equal(len(left), 1) // nothing else was run
}

func TestOwnerOf(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "program")
	is.NoErr(os.WriteFile(path, nil, 0o600))
	is.NoErr(os.Chmod(path, 0o722))
	o, err := ownerOf(path)
	is.NoErr(err)
	is.Equal(int(o.uid), os.Getuid())
	is.Equal(o.mode.Perm(), fs.FileMode(0o722))
	_, err = ownerOf(path + "s")
	is.True(err != nil)
}

// inScript is the command that a script gives to a shell.
func inScript(t *testing.T, script string) string {
	t.Helper()
	_, rest, began := strings.Cut(script, `do shell script "`)
	command, _, ended := strings.Cut(rest, `" with prompt`)
	if !began || !ended {
		t.Fatalf("no command in %s", script)
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(command)
}
