//go:build cgo && linux && darwinsim

package simmac_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
)

// announcedFolders are the announcements of a Mac's folders.
type announcedFolders struct {
	mu  sync.Mutex
	all []string
}

func (h *announcedFolders) changed(folder, path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, folder+" "+path)
}

func (h *announcedFolders) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.all = nil }()
	return h.all
}

func followFolders(t *testing.T) (*simfw.Machine, *darwin.Folders, *announcedFolders) {
	t.Helper()
	clean(t)
	m, h := simfw.New(), &announcedFolders{}
	f := darwin.Simulated{Machine: m}.Folders(h.changed)
	t.Cleanup(func() {
		is.New(t).NoErr(f.Close())
		m.Close()
	})
	return m, f, h
}

// An event is of the folder whose path it has, or of all that is followed there.
func TestFoldersThatChange(t *testing.T) {
	m, f, h := followFolders(t)
	is.New(t).NoErr(f.Follow("/Users/ada/hub"))
	for _, c := range []struct {
		path  string
		flags uint32
		want  string
	}{
		{"/Users/ada/hub/models--a/", 0, "/Users/ada/hub/models--a"},
		{"/Users/ada/hub/models--ä/blobs/", simfw.ItemIsDir, "/Users/ada/hub/models--ä/blobs"},
		{"/Users/ada/hub/", 0, "/Users/ada/hub"},
		{"/Users/ada/hub", 0, "/Users/ada/hub"},
		{"/users/ada/hub/models--a/", 0, ""}, // the volume ignores case
		{"/Users/ada/hubble/", 0, ""},
		{"/Users/ada/hub/models--a/", simfw.EventsLost, ""},
		{"/Users/ada/hub/models--a/", simfw.EventsDropped, ""},
		{"/Users/ada/hub/models--a/", simfw.EventsWrapped, ""},
		{"/Users/ada/hub", simfw.RootChanged, ""},
		{"/Users/ada/hub/disk", simfw.Mounted, ""},
		{"", 0, ""},
	} {
		t.Run(fmt.Sprint(c.path, c.flags), func(t *testing.T) {
			is := is.New(t)
			m.FolderChanged("/Users/ada/hub", c.path, c.flags)
			is.Equal(len(h.take()), 0) // it gathers
			m.DeliverFolders()
			is.Equal(h.take(), []string{"/Users/ada/hub " + c.want})
		})
	}
}

// What has gathered is there after a flush, each in its folder, and what is lost says so.
func TestFoldersAreFlushed(t *testing.T) {
	is := is.New(t)
	m, f, h := followFolders(t)
	is.NoErr(f.Follow("/a"))
	is.NoErr(f.Follow("/b"))
	f.Flush()
	m.FolderChanged("/a/x", "/a/x", 0)
	m.FolderChanged("/b/y", "/b/y", 0)
	m.FolderChanged("/c", "/c", 0)
	f.Flush()
	got := h.take()
	slices.Sort(got)
	is.Equal(got, []string{"/a /a/x", "/b /b/y"})
	for n := range 100 {
		m.FolderChanged("/a", fmt.Sprint("/a/", n), 0)
	}
	f.Flush()
	got = h.take()
	is.Equal(got[len(got)-1], "/a ")
}

// A folder that two follow is followed until both have ended; then nothing comes of it.
func TestFoldersThatAreLeft(t *testing.T) {
	is := is.New(t)
	m, f, h := followFolders(t)
	before := simfw.Live()
	is.NoErr(f.Follow("/a"))
	is.NoErr(f.Follow("/a"))
	f.Unfollow("/a")
	m.FolderChanged("/a", "/a/x", 0)
	m.DeliverFolders()
	is.Equal(len(h.take()), 1)
	m.FolderChanged("/a", "/a/x", 0) // which gathers when it ends
	f.Unfollow("/a")
	m.DeliverFolders()
	m.FolderChanged("/a", "/a/x", 0)
	m.DeliverFolders()
	is.Equal(len(h.take()), 0)
	f.Unfollow("/a") // nobody has
	is.Equal(simfw.Live(), before)
}

// Where the system does not follow, it is said, and nothing stays.
func TestFoldersThatAreRefused(t *testing.T) {
	is := is.New(t)
	m, f, _ := followFolders(t)
	before := simfw.Live()
	m.Arm(simfw.FaultEvents, 1)
	is.True(f.Follow("/a") != nil)
	is.Equal(simfw.Live(), before)
	is.NoErr(f.Follow("/a"))
}

// Many change and end at once: nothing comes once it has ended, which the sanitizers and
// the handle that is gone would notice.
func TestFoldersEndWhileTheyChange(t *testing.T) {
	is := is.New(t)
	m, f, _ := followFolders(t)
	var all sync.WaitGroup
	for n := range 4 {
		folder := fmt.Sprint("/", n)
		all.Go(func() {
			for range 200 {
				is.NoErr(f.Follow(folder))
				m.FolderChanged(folder, folder+"/x", 0)
				f.Flush()
				f.Unfollow(folder)
			}
		})
		all.Go(func() {
			for range 200 {
				m.FolderChanged(folder, folder+"/y", 0)
				m.DeliverFolders()
			}
		})
	}
	all.Wait()
}

// Whoever ends it waits for what is being said.
func TestFoldersEndAfterWhatIsSaid(t *testing.T) {
	is := is.New(t)
	clean(t)
	m := simfw.New()
	defer m.Close()
	begun, end := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	f := darwin.Simulated{Machine: m}.Folders(func(string, string) {
		close(begun)
		<-end
		ended.Store(true)
	})
	is.NoErr(f.Follow("/a"))
	m.FolderChanged("/a", "/a/x", 0)
	var delivering sync.WaitGroup
	delivering.Go(m.DeliverFolders)
	<-begun
	time.AfterFunc(20*time.Millisecond, func() { close(end) })
	f.Unfollow("/a")
	is.True(ended.Load())
	delivering.Wait()
}
