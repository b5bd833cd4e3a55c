package home

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A program of an app brings its libraries, which root loads with it.
func TestCheckProgram(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files of other accounts")
	}
	is := is.New(t)
	contents := filepath.Join(t.TempDir(), "Fulmen.app", "Contents")
	program := filepath.Join(contents, "MacOS", "fulmen-rank")
	library := filepath.Join(contents, "Resources", api.MLXFolder, "libmlx.dylib")
	for _, path := range []string{program, library} {
		is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
		is.NoErr(os.WriteFile(path, nil, 0o755))
	}
	root := Folders{Mode: api.ModeSystem}
	is.NoErr(root.CheckProgram(program))
	is.NoErr(root.CheckProgram(filepath.Join(contents, "MacOS", "missing"))) // what starts it says so
	is.NoErr(os.Chown(library, 1, 0))
	is.True(errors.Is(root.CheckProgram(program), api.ReasonInsecurePermissions))
	is.NoErr(Folders{Mode: api.ModeSystem, IsTrial: true}.CheckProgram(program))
	is.NoErr(Folders{Mode: api.ModeUser}.CheckProgram(program))
}

// What lies in the state folder is root's as well.
func TestCheckState(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files of other accounts")
	}
	is := is.New(t)
	f := under(filepath.Join(t.TempDir(), "home"), api.ModeSystem)
	is.NoErr(f.Create())
	undo := filepath.Join(f.State, api.UndoFile)
	is.NoErr(os.WriteFile(undo, []byte("{}"), 0o600))
	is.NoErr(f.Check())
	is.NoErr(os.Chown(undo, 1, 1))
	err := f.Check()
	is.True(errors.Is(err, api.ReasonInsecurePermissions))
	is.Equal(api.AsError(err).Data.Subject, undo)
}
