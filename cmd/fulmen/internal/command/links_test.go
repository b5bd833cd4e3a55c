package command

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestLinkRef(t *testing.T) {
	const studio, book = api.NodeID("j79r4zr55xd4ph64"), api.NodeID("nbkp2dvz7d7hy1ys")
	nodes := []api.NodeView{{Node: studio, ShortName: "mac-studio"}, {Node: book, ShortName: "book"}}
	id := api.LinkRef(string(studio) + ":1~" + string(book) + ":2")
	for _, c := range []struct {
		name string
		want api.LinkRef
	}{
		{"mac-studio:1", "mac-studio:1"}, // the daemon finds it
		{" mac-studio:1 ", "mac-studio:1"},
		{"mac-studio:1 ~ book:2", id},
		{"book:2~mac-studio:1", id}, // in either order
		{string(id), id},
		{studio.Display() + ":1 ~ book:2", id},
		{"mac-studio:1 ~ nobody:2", "mac-studio:1 ~ nobody:2"},
		{"mac-studio ~ book:2", "mac-studio ~ book:2"},
		{"mac-studio:1 ~ mac-studio:1", "mac-studio:1 ~ mac-studio:1"},
		{"", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(linkRef(c.name, nodes), c.want)
		})
	}
}

func FuzzLinkRef(f *testing.F) {
	f.Add("a:1 ~ b:2")
	f.Fuzz(func(t *testing.T, name string) {
		linkRef(name, []api.NodeView{{Node: "j79r4zr55xd4ph64", ShortName: "a"}}) // does not panic
	})
}
