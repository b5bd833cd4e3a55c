//go:build cgo && linux && darwinsim

package inventory

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
)

// overDarwin is an inventory that follows by FSEvents, of which the machine's simulation
// knows what it is told.
func overDarwin(t *testing.T, p Places) (*Inventory, *simfw.Machine) {
	t.Helper()
	misuses, m := simfw.Misuses(), simfw.New()
	i := Open(p)
	is.New(t).NoErr(i.Close())
	i.follower = below{darwin.Simulated{Machine: m}.Folders(i.hints.noteBelow)}
	t.Cleanup(func() {
		is.New(t).NoErr(i.Close())
		m.Close()
		is.New(t).Equal(simfw.Misuses(), misuses)
	})
	return i, m
}

func namesOf(list api.ModelListResult) (all []string) {
	for _, m := range list.Models {
		all = append(all, m.Model)
	}
	slices.Sort(all)
	return all
}

// One stream follows a cache, however much is in it; what it says is read again, no more,
// and before the answer.
func TestOverDarwinWhatChangesIsSeen(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	repo := hubModel(t, cache, "models--org--a")
	hubModel(t, cache, "models--org--b")
	i, m := overDarwin(t, Places{Home: folder})
	before := simfw.Live()
	is.Equal(namesOf(i.List()), []string{"org/a", "org/b"})
	is.True(i.List().Folders[0].Followed)
	streams := simfw.Live() - before
	b := i.roots[0].units["models--org--b"]

	lacking := filepath.Join(repo, "snapshots", revision, "model.safetensors")
	is.NoErr(os.Remove(lacking))
	is.Equal(len(i.List().Models), 2)
	is.Equal(i.List().Models[0].FileCount, 2) // nothing says so
	m.FolderChanged(cache, filepath.Dir(lacking)+"/", 0)
	is.Equal(i.List().Models[0].FileCount, 1)

	hubModel(t, cache, "models--org--c")
	is.Equal(len(i.List().Models), 2)
	m.FolderChanged(cache, cache+"/", 0)
	is.Equal(namesOf(i.List()), []string{"org/a", "org/b", "org/c"})
	is.True(i.roots[0].units["models--org--b"] == b) // it was not read again
	is.Equal(simfw.Live()-before, streams)

	is.NoErr(os.RemoveAll(filepath.Join(cache, "models--org--b")))
	m.FolderChanged(cache, filepath.Join(cache, "models--org--a"), simfw.EventsDropped)
	is.Equal(namesOf(i.List()), []string{"org/a", "org/c"}) // all was read
}

// A volume that goes and comes is followed anew, and another one in its place too.
func TestOverDarwinRootsThatMove(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	hubModel(t, cache, "models--org--a")
	i, m := overDarwin(t, Places{Home: folder})
	before := simfw.Live()
	is.Equal(len(i.List().Models), 1)
	streams := simfw.Live() - before
	is.NoErr(os.Rename(cache, cache+"-away"))
	is.Equal(len(i.List().Folders), 0)
	is.Equal(simfw.Live(), before) // nothing is followed
	hubModel(t, cache, "models--org--b")
	is.Equal(namesOf(i.List()), []string{"org/b"})

	is.NoErr(os.Rename(cache, cache+"-too"))
	is.NoErr(os.Rename(cache+"-away", cache))
	is.Equal(namesOf(i.List()), []string{"org/a"})
	is.Equal(simfw.Live()-before, streams)
	hubModel(t, cache, "models--org--c")
	m.FolderChanged(cache, cache, 0)
	is.Equal(namesOf(i.List()), []string{"org/a", "org/c"})
}

// A link that comes to lead elsewhere is followed there, and no more where it led.
func TestOverDarwinRootsThatAreLinks(t *testing.T) {
	is := is.New(t)
	disk, other := t.TempDir(), t.TempDir()
	hubModel(t, disk, "models--org--a")
	hubModel(t, other, "models--org--b")
	cache := filepath.Join(t.TempDir(), "hub")
	is.NoErr(os.Symlink(disk, cache))
	i, m := overDarwin(t, Places{Home: t.TempDir(), HubCache: cache})
	before := simfw.Live()
	is.Equal(namesOf(i.List()), []string{"org/a"})
	streams := simfw.Live() - before
	is.NoErr(os.Remove(cache))
	is.NoErr(os.Symlink(other, cache))
	is.Equal(namesOf(i.List()), []string{"org/b"})
	is.Equal(simfw.Live()-before, streams)
	hubModel(t, other, "models--org--c")
	m.FolderChanged(other, other, 0)
	is.Equal(namesOf(i.List()), []string{"org/b", "org/c"})
}

// Where the system does not follow, all is read for each answer, and said to be.
func TestOverDarwinNotFollowed(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	hubModel(t, cache, "models--org--a")
	i, m := overDarwin(t, Places{Home: folder})
	m.Arm(simfw.FaultEvents, 1000)
	is.True(!i.List().Folders[0].Followed)
	hubModel(t, cache, "models--org--b")
	is.Equal(len(i.List().Models), 2)
	m.Arm(simfw.FaultEvents, 0)
	is.True(i.List().Folders[0].Followed) // it is tried again
}
