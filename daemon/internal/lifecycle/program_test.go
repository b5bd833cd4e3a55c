package lifecycle

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// install puts a program in its place as an installer does: beside it, then renamed.
func install(t *testing.T, path, content string) {
	t.Helper()
	is := is.New(t)
	is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
	is.NoErr(os.WriteFile(path+".new", []byte(content), 0o755))
	is.NoErr(os.Rename(path+".new", path))
}

func TestProgram(t *testing.T) {
	for name, where := range map[string]string{"a folder of programs": "bin/fulmend", "an app": "Fulmen.app/Contents/MacOS/fulmend"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for quiet
			is := is.New(t)
			folder := t.TempDir()
			path := filepath.Join(folder, where)
			install(t, path, "one")
			states := make(chan ProgramState, 16)
			p, err := WatchProgram(path, func(s ProgramState) { states <- s })
			is.NoErr(err)
			defer p.Close()
			is.Equal(p.State(), ProgramSame)
			await := func(want ProgramState) {
				t.Helper()
				select {
				case got := <-states:
					is.Equal(got, want)
				case <-time.After(time.Minute):
					t.Fatalf("%s was not noticed", want)
				}
			}
			install(t, path, "two")
			await(ProgramReplaced)
			top := filepath.Join(folder, filepath.Dir(where))
			if filepath.Base(top) == "MacOS" {
				top = filepath.Join(folder, "Fulmen.app")
				is.NoErr(os.Rename(top, filepath.Join(folder, "Trash")))
				await(ProgramGone)
				install(t, path, "three") // another folder of the same name
				await(ProgramReplaced)
			}
			is.NoErr(os.Remove(path))
			await(ProgramGone)
		})
	}
}

func TestNoProgram(t *testing.T) {
	_, err := WatchProgram(filepath.Join(t.TempDir(), "nothing"), func(ProgramState) {})
	is.New(t).True(err != nil)
}
