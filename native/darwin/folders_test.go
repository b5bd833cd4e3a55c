package darwin

import (
	"errors"
	"slices"
	"testing"

	"github.com/matryer/is"
)

// fakeStreams are streams of folders that a test speaks for.
type fakeStreams struct {
	open    map[string]func(path string, more bool)
	flushed []string
	refused error
}

type fakeStream struct {
	of     *fakeStreams
	folder string
}

func (s fakeStream) flush() { s.of.flushed = append(s.of.flushed, s.folder) }
func (s fakeStream) leave() { delete(s.of.open, s.folder) }

// A folder has one stream, however often it is followed, until nobody follows it. What the
// stream says is of a path below it, or of all of it.
func TestFolders(t *testing.T) {
	is := is.New(t)
	streams := &fakeStreams{open: map[string]func(string, bool){}}
	var announced []string
	f := NewFolders(func(folder, path string) { announced = append(announced, folder+" "+path) })
	f.open = func(folder string, announce func(string, bool)) (stream, error) {
		if streams.refused != nil || streams.open[folder] != nil {
			return nil, errors.Join(streams.refused, errors.New("twice"))
		}
		streams.open[folder] = announce
		return fakeStream{streams, folder}, nil
	}
	streams.refused = errors.New("no")
	is.True(errors.Is(f.Follow("/a"), streams.refused))
	streams.refused = nil
	for _, folder := range []string{"/a", "/a", "/b", "/"} {
		is.NoErr(f.Follow(folder))
	}
	for _, e := range []struct {
		folder, path string
		more         bool
	}{{"/a", "/a/x/", false}, {"/a", "/a/", false}, {"/a", "/ab", false}, {"/a", "/A/x", false}, {"/b", "/b/x", true}, {"/", "/a", false}, {"/", "/", false}} {
		streams.open[e.folder](e.path, e.more)
	}
	is.Equal(announced, []string{"/a /a/x", "/a /a", "/a ", "/a ", "/b ", "/ /a", "/ /"})
	f.Flush()
	slices.Sort(streams.flushed)
	is.Equal(streams.flushed, []string{"/", "/a", "/b"})
	f.Unfollow("/a")
	is.True(streams.open["/a"] != nil)
	f.Unfollow("/a")
	is.True(streams.open["/a"] == nil)
	f.Unfollow("/a") // nobody follows it
	is.NoErr(f.Follow("/a"))
	is.NoErr(f.Close())
	is.Equal(len(streams.open), 0)
}
